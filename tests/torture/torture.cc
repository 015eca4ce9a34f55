// SPDX-License-Identifier: MIT
// torture.cc - a host that does at once what unwinders, loaders and samplers fight over.
//
// GUEST PLUGIN SECONDS [gaps [all]]: threads run guests, also nested, trapping and on fibers, load
// and drop modules, throw through several frames, open and close a library that throws, allocate,
// live for some 5 ms, fork and start programs, send each other signals, and add up what must come
// out the same each time. A thread that has not got on for STALL_SECONDS ends the program with
// status 1, and it says since when. With gaps, what each kind of thread did, and the longest time
// in which one of them did not get on, is printed at the end. Only with all is it all of this: else
// there are guests, modules, throws, libraries and allocations.
//
// The time that a thread waits for a CPU is none in which it stands still: that is the machine's.
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <stdexcept>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include <wasmtime.h>

#include "progress.h"

namespace
{

constexpr double STALL_SECONDS = 20; // shorter ones are printed, and judged by who runs this

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

wasmtime_module_t *module_new(const char *bytes, size_t size)
{
	wasmtime_module_t *module = nullptr;

	must(wasmtime_module_new(engine, reinterpret_cast<const uint8_t *>(bytes), size, &module) ==
		     nullptr,
	     "module");
	return module;
}

wasmtime_module_t *module_new()
{
	return module_new(guest.data(), guest.size());
}

wasmtime_module_t *module_of_text(const char *text)
{
	wasm_byte_vec_t wasm;

	must(wasmtime_wat2wasm(text, std::strlen(text), &wasm) == nullptr, "text");
	wasmtime_module_t *module = module_new(wasm.data, wasm.size);
	wasm_byte_vec_delete(&wasm);
	return module;
}

// An instance in a store of its own.
class instance_of
{
      public:
	explicit instance_of(const wasmtime_module_t *module,
			     wasmtime_func_callback_t import = nullptr)
	    : store(wasmtime_store_new(engine, nullptr, nullptr)),
	      context(wasmtime_store_context(store))
	{
		wasmtime_instance_t instance;
		wasmtime_extern_t given, item;
		wasm_trap_t *trap = nullptr;

		if (import != nullptr) {
			wasm_functype_t *type = wasm_functype_new_1_0(wasm_valtype_new_i32());
			given.kind = WASMTIME_EXTERN_FUNC;
			wasmtime_func_new(context, type, import, nullptr, nullptr, &given.of.func);
			wasm_functype_delete(type);
		}
		must(wasmtime_instance_new(context, module, &given, import != nullptr, &instance,
					   &trap) == nullptr &&
			     !trap,
		     "instance");
		must(wasmtime_instance_export_get(context, &instance, "run", 3, &item), "export");
		run = item.of.func;
	}
	~instance_of()
	{
		wasmtime_store_delete(store);
	}
	instance_of(const instance_of &) = delete;
	instance_of &operator=(const instance_of &) = delete;

	// True when it trapped.
	bool call(int32_t argument)
	{
		const wasmtime_val_t args[1] = { i32(argument) };
		wasm_trap_t *trap = nullptr;

		must(wasmtime_func_call(context, &run, args, 1, nullptr, 0, &trap) == nullptr,
		     "call");
		if (trap == nullptr)
			return false;
		wasm_trap_delete(trap);
		return true;
	}
	// On a fiber. The number of polls.
	int call_on_fiber(int32_t argument)
	{
		const wasmtime_val_t args[1] = { i32(argument) };
		wasm_trap_t *trap = nullptr;
		wasmtime_error_t *error = nullptr;
		int polls = 1;
		wasmtime_call_future_t *future =
			wasmtime_func_call_async(context, &run, args, 1, nullptr, 0, &trap, &error);

		while (!wasmtime_call_future_poll(future))
			polls++;
		wasmtime_call_future_delete(future);
		must(trap == nullptr && error == nullptr, "call on a fiber");
		return polls;
	}
	static wasmtime_val_t i32(int32_t value)
	{
		wasmtime_val_t val;

		val.kind = WASMTIME_I32;
		val.of.i32 = value;
		return val;
	}

	wasmtime_store_t *store;
	wasmtime_context_t *context;

      private:
	wasmtime_func_t run;
};

void run_guest(const wasmtime_module_t *module, int32_t argument)
{
	must(!instance_of(module).call(argument), "a call that traps");
}

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

// host -> guest -> host -> guest
wasm_trap_t *call_back(void *, wasmtime_caller_t *caller, const wasmtime_val_t *args, size_t,
		       wasmtime_val_t *, size_t)
{
	wasmtime_extern_t item;
	wasm_trap_t *trap = nullptr;

	must(wasmtime_caller_export_get(caller, "inner", 5, &item), "inner export");
	must(wasmtime_func_call(wasmtime_caller_context(caller), &item.of.func, args, 1, nullptr, 0,
				&trap) == nullptr,
	     "inner call");
	return trap;
}

void nestings(progress &done)
{
	wasmtime_module_t *module = module_of_text(
		"(module $nested (import \"env\" \"back\" (func $back (param i32)))"
		"  (func $inner (export \"inner\") (param $n i32)"
		"    (loop $more (br_if $more (local.tee $n (i32.sub (local.get $n) (i32.const "
		"1))))))"
		"  (func $outer (export \"run\") (param $n i32) (call $back (local.get $n))))");

	for (; !is_over; done++) {
		instance_of instance(module, call_back);

		for (int i = 1; i < 50; i++)
			must(!instance.call(i * 100), "a nested call that traps");
	}
	wasmtime_module_delete(module);
}

void traps(progress &done)
{
	wasmtime_module_t *module = module_of_text(
		"(module $traps (memory 1)"
		"  (func $divides (param $n i32) (result i32) (i32.div_s (i32.const 1) (local.get "
		"$n)))"
		"  (func $reads (param $n i32) (result i32) (i32.load (i32.const 70000)))"
		"  (func $stops (param $n i32) (result i32) unreachable)"
		"  (func (export \"run\") (param $n i32)"
		"    (if (i32.eqz (local.get $n)) (then (drop (call $divides (local.get $n)))))"
		"    (if (i32.eq (local.get $n) (i32.const 1)) (then (drop (call $reads (local.get "
		"$n)))))"
		"    (drop (call $stops (local.get $n)))))");

	for (; !is_over; done++) {
		instance_of instance(module);

		for (int i = 0; i < 30; i++)
			must(instance.call(i % 3), "a call that does not trap");
	}
	wasmtime_module_delete(module);
}

void fibers(progress &done)
{
	wasmtime_module_t *module = module_new();

	for (; !is_over; done++) {
		instance_of instance(module);

		for (int i = 1; i < 10; i++)
			must(instance.call_on_fiber(i) >= 1, "a fiber");
	}
	wasmtime_module_delete(module);
}

// Threads that live for some 5 ms and run a guest.
void births(progress &done)
{
	wasmtime_module_t *module = module_new();

	for (; !is_over; done++)
		std::thread([module, &done] {
			const auto born = clock_type::now();

			while (seconds_since(born) < 0.005)
				run_guest(module, 5);
			done.helper_ends();
		}).join();
	wasmtime_module_delete(module);
}

// Children that exec a program, or leave at once.
void programs(progress &done)
{
	for (int i = 0; !is_over; i++, done++) {
		const pid_t child = fork();
		siginfo_t ended;
		int status = 0;

		must(child >= 0, "fork");
		if (child == 0) {
			if (i % 2 == 0)
				execl("/bin/true", "true", static_cast<char *>(nullptr));
			_exit(i % 2);
		}
		while (waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT) < 0)
			must(errno == EINTR, "waitid");
		done.child_ended(child);
		must(waitpid(child, &status, 0) == child, "waitpid");
		must(WIFEXITED(status) && WEXITSTATUS(status) == i % 2, "a child's end");
		std::this_thread::sleep_for(std::chrono::milliseconds(20)); // not nothing else
	}
}

std::atomic<uint64_t> signals_seen{ 0 };

void on_signal(int)
{
	const int kept = errno;

	signals_seen++;
	errno = kept;
}

// The host's own signals, sent to whoever takes them.
void signals(progress &done)
{
	struct sigaction action = {};

	action.sa_handler = on_signal;
	action.sa_flags = SA_RESTART;
	must(sigaction(SIGUSR1, &action, nullptr) == 0, "sigaction");
	for (uint64_t sent = 0; !is_over; done++) {
		must(kill(getpid(), SIGUSR1) == 0, "kill");
		std::this_thread::sleep_for(std::chrono::milliseconds(1)); // a thousand a second
		must(++sent < 100 || signals_seen > 0, "own signals");
	}
}

// In registers that a handler must leave alone.
double add_up()
{
	double sum = 0;

	for (int i = 1; i <= 100000; i++)
		sum += 1.0 / i * (i % 3 - 1.0);
	return sum;
}

void sums(progress &done)
{
	static const double first = add_up();

	for (; !is_over; done++)
		must(add_up() == first, "a sum");
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
			if (each.done.stands_still() < STALL_SECONDS)
				continue;
			std::fprintf(stderr, "torture: %s stands still since %.1f s\n", each.name,
				     each.done.last.load());
			_exit(1);
		}
	}
}

void print_gaps(const std::vector<job> &jobs)
{
	double short_lives = 0;

	for (const job &each : jobs)
		std::printf("gap %s %.3f s, %llu times\n", each.name, each.done.longest.load(),
			    static_cast<unsigned long long>(each.done.count));
	for (const job &each : jobs)
		short_lives += static_cast<double>(each.done.others_used_ns) / 1e9;
	std::printf("short lives %.3f s of CPU time\n", short_lives);
}

} // namespace

int main(int count, char **words)
{
	must(count >= 4 && count <= 6, "GUEST PLUGIN SECONDS [gaps [all]]");
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
		{ "guests", guests },
		{ "guests", guests },
		{ "modules", modules },
		{ "throws", throws },
		{ "throws", throws },
		{ "libraries", libraries },
		{ "libraries", libraries },
		{ "allocations", allocations },
		{ "allocations", allocations },
		{ "nestings", nestings },
		{ "traps", traps },
		{ "fibers", fibers },
		{ "births", births },
		{ "programs", programs },
		{ "signals", signals },
		{ "sums", sums },
	};
	constexpr size_t first = 9, all = sizeof(kinds) / sizeof(*kinds);
	std::vector<job> jobs(count == 6 ? all : first);
	std::vector<std::thread> threads;
	for (size_t i = 0; i < jobs.size(); i++) {
		jobs[i].name = kinds[i].name;
		jobs[i].done.last = seconds_since(started);
		threads.emplace_back([body = kinds[i].body, &done = jobs[i].done] {
			done.begin();
			body(done);
		});
	}
	watch(jobs, std::atof(words[3]));
	is_over = true;
	for (std::thread &thread : threads)
		thread.join();
	wasm_engine_delete(engine);
	if (count >= 5)
		print_gaps(jobs);
	std::printf("torture: no stall\n");
	return 0;
}
