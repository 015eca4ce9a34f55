// SPDX-License-Identifier: MIT
// torture.cc - a host that does at once what unwinders, loaders and samplers fight over.
//
// GUEST PLUGIN SECONDS [gaps]: threads run guests, load and drop modules, throw through several
// frames, open and close a library that throws, and allocate. A thread that has not got on for
// STALL_SECONDS ends the program with status 1, and it says since when. With gaps, what each kind
// of thread did, and the longest time in which one of them did not get on, is printed at the end.
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

constexpr double STALL_SECONDS = 3; // nine threads share two cores

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

using clock_type = std::chrono::steady_clock;

double seconds_since(clock_type::time_point start)
{
	return std::chrono::duration<double>(clock_type::now() - start).count();
}

const clock_type::time_point started = clock_type::now();

// How far a thread is: it writes, the watch reads.
class progress
{
      public:
	void operator++(int)
	{
		const double now = seconds_since(started), gap = now - last;

		last = now;
		count++;
		if (gap > longest)
			longest = gap;
	}
	std::atomic<uint64_t> count{ 0 };
	std::atomic<double> last{ 0 }, longest{ 0 }; // in seconds since the start; seconds
};

void guests(progress &done)
{
	wasmtime_module_t *module = module_new();

	for (; !is_over; done++)
		run_guest(module, 20);
	wasmtime_module_delete(module);
}

void modules(progress &done)
{
	for (; !is_over; done++) {
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

void throws(progress &done)
{
	for (; !is_over; done++)
		try {
			throw_below(10);
		} catch (const std::runtime_error &) {
		}
}

void libraries(progress &done)
{
	for (; !is_over; done++) {
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

void allocations(progress &done)
{
	for (; !is_over; done++)
		for (size_t size = 16; size < 1 << 16; size *= 2) {
			void *block = std::malloc(size);

			std::memset(block, 1, size);
			std::free(block);
		}
}

struct job {
	const char *name;
	void (*body)(progress &done);
	progress done;
};

void watch(std::vector<job> &jobs, double seconds)
{
	while (seconds_since(started) < seconds) {
		std::this_thread::sleep_for(std::chrono::milliseconds(200));
		for (job &each : jobs) {
			const double last = each.done.last;

			if (seconds_since(started) - last < STALL_SECONDS)
				continue;
			std::fprintf(stderr, "torture: %s stands still since %.1f s\n", each.name,
				     last);
			_exit(1);
		}
	}
}

void print_gaps(const std::vector<job> &jobs)
{
	for (const job &each : jobs)
		std::printf("gap %s %.3f s, %llu times\n", each.name, each.done.longest.load(),
			    static_cast<unsigned long long>(each.done.count));
}

} // namespace

int main(int count, char **words)
{
	must(count == 4 || count == 5, "GUEST PLUGIN SECONDS [gaps]");
	std::FILE *file = std::fopen(words[1], "rb");
	must(file != nullptr, "guest");
	for (int byte; (byte = std::getc(file)) != EOF;)
		guest.push_back(static_cast<char>(byte));
	std::fclose(file);
	plugin = words[2];
	engine = wasm_engine_new();

	static const struct {
		const char *name;
		void (*body)(progress &done);
	} kinds[] = {
		{ "guests", guests },		{ "guests", guests },
		{ "modules", modules },		{ "throws", throws },
		{ "throws", throws },		{ "libraries", libraries },
		{ "libraries", libraries },	{ "allocations", allocations },
		{ "allocations", allocations },
	};
	std::vector<job> jobs(sizeof(kinds) / sizeof(*kinds));
	std::vector<std::thread> threads;
	for (size_t i = 0; i < jobs.size(); i++) {
		jobs[i].name = kinds[i].name;
		jobs[i].done.last = seconds_since(started);
		threads.emplace_back(kinds[i].body, std::ref(jobs[i].done));
	}
	watch(jobs, std::atof(words[3]));
	is_over = true;
	for (std::thread &thread : threads)
		thread.join();
	wasm_engine_delete(engine);
	if (count == 5)
		print_gaps(jobs);
	std::printf("torture: no stall\n");
	return 0;
}
