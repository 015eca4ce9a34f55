// SPDX-License-Identifier: MIT
// torture.cc - a host that does at once what unwinders, loaders and samplers fight over.
//
// GUEST PLUGIN SECONDS: threads run guests, load and drop modules, throw through several frames,
// open and close a library that throws, and allocate. Every second each must have got on; a thread
// that has not for STALL_SECONDS ends the program with status 1.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <stdexcept>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

#include <wasmtime.h>

namespace
{

constexpr int STALL_SECONDS = 3; // nine threads share two cores

std::atomic<bool> is_over{ false };
std::vector<char> guest;
const char *plugin;
wasm_engine_t *engine;

void must(bool condition, const char *what)
{
	if (condition)
		return;
	std::fprintf(stderr, "torture: %s failed\n", what);
	_exit(1);
}

wasmtime_module_t *module_new()
{
	wasmtime_module_t *module = nullptr;

	must(wasmtime_module_new(engine, reinterpret_cast<const uint8_t *>(guest.data()),
				 guest.size(), &module) == nullptr,
	     "module");
	return module;
}

void run_guest(const wasmtime_module_t *module, int32_t argument)
{
	wasmtime_store_t *store = wasmtime_store_new(engine, nullptr, nullptr);
	wasmtime_context_t *context = wasmtime_store_context(store);
	wasmtime_instance_t instance;
	wasmtime_extern_t item;
	wasm_trap_t *trap = nullptr;
	wasmtime_val_t args[1];

	must(wasmtime_instance_new(context, module, nullptr, 0, &instance, &trap) == nullptr &&
		     !trap,
	     "instance");
	must(wasmtime_instance_export_get(context, &instance, "run", 3, &item), "export");
	args[0].kind = WASMTIME_I32;
	args[0].of.i32 = argument;
	must(wasmtime_func_call(context, &item.of.func, args, 1, nullptr, 0, &trap) == nullptr &&
		     !trap,
	     "call");
	wasmtime_store_delete(store);
}

void guests(std::atomic<uint64_t> &progress)
{
	wasmtime_module_t *module = module_new();

	for (; !is_over; progress++)
		run_guest(module, 20);
	wasmtime_module_delete(module);
}

void modules(std::atomic<uint64_t> &progress)
{
	for (; !is_over; progress++) {
		wasmtime_module_t *module = module_new();

		run_guest(module, 1);
		wasmtime_module_delete(module);
	}
}

__attribute__((noinline)) int throw_below(int depth)
{
	if (depth == 0)
		throw std::runtime_error("torture");
	return throw_below(depth - 1) + 1;
}

void throws(std::atomic<uint64_t> &progress)
{
	for (; !is_over; progress++)
		try {
			throw_below(10);
		} catch (const std::runtime_error &) {
		}
}

void libraries(std::atomic<uint64_t> &progress)
{
	for (; !is_over; progress++) {
		void *handle = dlopen(plugin, RTLD_NOW | RTLD_LOCAL);

		must(handle != nullptr, "dlopen");
		auto *function = reinterpret_cast<int (*)(int)>(dlsym(handle, "plugin_throw"));
		must(function != nullptr, "dlsym");
		try {
			function(5);
		} catch (const std::runtime_error &) {
		}
		dlclose(handle);
	}
}

void allocations(std::atomic<uint64_t> &progress)
{
	for (; !is_over; progress++)
		for (size_t size = 16; size < 1 << 16; size *= 2) {
			void *block = std::malloc(size);

			std::memset(block, 1, size);
			std::free(block);
		}
}

struct job {
	const char *name;
	void (*body)(std::atomic<uint64_t> &progress);
	std::atomic<uint64_t> progress{ 0 };
	uint64_t seen = 0;
	int idle_seconds = 0;
};

void watch(std::vector<job> &jobs, int seconds)
{
	for (int second = 0; second < seconds; second++) {
		std::this_thread::sleep_for(std::chrono::seconds(1));
		for (job &each : jobs) {
			each.idle_seconds = each.progress == each.seen ? each.idle_seconds + 1 : 0;
			each.seen = each.progress;
			if (each.idle_seconds < STALL_SECONDS)
				continue;
			std::fprintf(stderr, "torture: %s stands still after %d s\n", each.name,
				     second);
			_exit(1);
		}
	}
}

} // namespace

int main(int count, char **words)
{
	must(count == 4, "GUEST PLUGIN SECONDS");
	std::FILE *file = std::fopen(words[1], "rb");
	must(file != nullptr, "guest");
	for (int byte; (byte = std::getc(file)) != EOF;)
		guest.push_back(static_cast<char>(byte));
	std::fclose(file);
	plugin = words[2];
	engine = wasm_engine_new();

	std::vector<job> jobs(9);
	void (*const bodies[9])(std::atomic<uint64_t> &) = { guests,	guests,	     modules,
							     throws,	throws,	     libraries,
							     libraries, allocations, allocations };
	const char *const names[9] = { "guests",    "guests",	   "modules",
				       "throws",    "throws",	   "libraries",
				       "libraries", "allocations", "allocations" };
	std::vector<std::thread> threads;
	for (size_t i = 0; i < jobs.size(); i++) {
		jobs[i].name = names[i];
		jobs[i].body = bodies[i];
		threads.emplace_back(jobs[i].body, std::ref(jobs[i].progress));
	}
	watch(jobs, std::atoi(words[3]));
	is_over = true;
	for (std::thread &thread : threads)
		thread.join();
	wasm_engine_delete(engine);
	std::printf("torture: no stall\n");
	return 0;
}
