/* SPDX-License-Identifier: MIT */
/*
 * walkers_host.c - what others take for one sample of a real guest's stack: unwinders called in a
 * signal handler, and the engine's own guest profiler at a check of its epochs.
 *
 * usage: walkers_host FRAMES MODULES SAMPLES. MODULES are loaded in all, their unwind tables
 * registered as the engine does it. Prints a line for each: what, and the median in nanoseconds by
 * the TSC. libunwind is opened and not linked: it would put its own _Unwind_Backtrace() before that
 * of libgcc.
 */
#define UNW_LOCAL_ONLY
#include <dlfcn.h>
#include <libunwind.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/time.h>
#include <unwind.h>
#include <x86intrin.h>

#include "tests/bench/engine_host.h"

enum { MAX_SAMPLES = 100000, MAX_PCS = 4096, TURNS = 3000000, PERIOD_US = 500 };

/* down(n) calls itself n times, then turns in a loop: n + 2 frames of the guest's. */
static const char text[] =
	"(module (func $spin (param $k i32)"
	"    (loop $more (br_if $more (local.tee $k (i32.sub (local.get $k) (i32.const 1))))))"
	"  (func $down (export \"down\") (param $n i32) (param $k i32)"
	"    (if (i32.eqz (local.get $n)) (then (call $spin (local.get $k)))"
	"      (else (call $down (i32.sub (local.get $n) (i32.const 1)) (local.get $k))))))";

static struct {
	wasm_engine_t *engine;
	wasmtime_store_t *store;
	wasmtime_context_t *context;
	wasmtime_module_t *module;
	wasmtime_func_t down;
	wasmtime_guestprofiler_t *profiler;
	int frames;
	double ns_per_tick;
} host;

/* The handler's. */
static void (*volatile walk)(void);
static uint64_t ticks[MAX_SAMPLES];
static volatile size_t tick_count, wanted;
static void *pcs[MAX_PCS];
static volatile int depth_seen;

/* ---- who walks ------------------------------------------------------------------------------ */

static struct {
	int (*backtrace)(void **buffer, int size);
	int (*init)(unw_cursor_t *cursor, unw_context_t *context, int flags);
	int (*step)(unw_cursor_t *cursor);
	int (*get_reg)(unw_cursor_t *cursor, unw_regnum_t number, unw_word_t *value);
} libunwind;
static unw_context_t *interrupted; /* the handler's */

static _Unwind_Reason_Code note(struct _Unwind_Context *context, void *depth)
{
	int *count = depth;

	if (*count == MAX_PCS)
		return _URC_END_OF_STACK;
	pcs[(*count)++] = (void *)_Unwind_GetIP(context);
	return _URC_NO_REASON;
}

static void walk_libgcc(void)
{
	int depth = 0;

	_Unwind_Backtrace(note, &depth);
	depth_seen = depth;
}

static void walk_libunwind(void)
{
	depth_seen = libunwind.backtrace(pcs, MAX_PCS);
}

/* From the registers at the signal, step by step. */
static void walk_steps(void)
{
	unw_cursor_t cursor;
	unw_word_t pc;
	int depth = 0;

	if (libunwind.init(&cursor, interrupted, UNW_INIT_SIGNAL_FRAME) != 0)
		return;
	do {
		if (libunwind.get_reg(&cursor, UNW_REG_IP, &pc) != 0)
			break;
		pcs[depth++] = (void *)pc;
	} while (depth < MAX_PCS && libunwind.step(&cursor) > 0);
	depth_seen = depth;
}

/* False where it is not installed. */
static bool open_libunwind(void)
{
	void *library = dlopen("libunwind.so.8", RTLD_NOW | RTLD_LOCAL);

	if (library == NULL)
		return false;
	libunwind.backtrace = (__typeof__(libunwind.backtrace))dlsym(library, "unw_backtrace");
	libunwind.init = (__typeof__(libunwind.init))dlsym(library, "_ULx86_64_init_local2");
	libunwind.step = (__typeof__(libunwind.step))dlsym(library, "_ULx86_64_step");
	libunwind.get_reg = (__typeof__(libunwind.get_reg))dlsym(library, "_ULx86_64_get_reg");
	return libunwind.backtrace != NULL && libunwind.init != NULL && libunwind.step != NULL &&
	       libunwind.get_reg != NULL;
}

static void on_signal(int signo, siginfo_t *info, void *context)
{
	uint64_t begin;

	(void)signo, (void)info;
	interrupted = context;
	if (walk == NULL || tick_count >= wanted)
		return;
	begin = __rdtsc();
	walk();
	if (depth_seen >= host.frames)
		ticks[tick_count++] = __rdtsc() - begin;
}

static wasmtime_error_t *on_epoch(const wasmtime_context_t *context, void *unused, uint64_t *delta,
				  wasmtime_update_deadline_kind_t *kind)
{
	uint64_t begin = __rdtsc();

	(void)context, (void)unused;
	if (host.profiler != NULL && tick_count < wanted) {
		wasmtime_guestprofiler_sample(host.profiler, host.store, 0);
		ticks[tick_count++] = __rdtsc() - begin;
	}
	*delta = 1;
	*kind = WASMTIME_UPDATE_DEADLINE_CONTINUE;
	return NULL;
}

static void tick_epoch(int signo)
{
	(void)signo;
	wasmtime_engine_increment_epoch(host.engine); /* documented as signal-safe */
}

/* ---- the guest ------------------------------------------------------------------------------ */

static void load(int modules)
{
	wasm_config_t *config = wasm_config_new();
	wasmtime_instance_t instance;
	wasmtime_extern_t item;
	wasm_trap_t *trap = NULL;
	wasm_byte_vec_t wasm, image;

	wasmtime_config_epoch_interruption_set(config, true);
	host.engine = wasm_engine_new_with_config(config);
	check(wasmtime_wat2wasm(text, strlen(text), &wasm), "text");
	check(wasmtime_module_new(host.engine, (uint8_t *)wasm.data, wasm.size, &host.module),
	      "compile");
	check(wasmtime_module_serialize(host.module, &image), "serialize");
	for (int i = 1; i < modules; i++) {
		wasmtime_module_t *other; /* stays */

		check(wasmtime_module_deserialize(host.engine, (uint8_t *)image.data, image.size,
						  &other),
		      "load");
	}
	host.store = wasmtime_store_new(host.engine, NULL, NULL);
	host.context = wasmtime_store_context(host.store);
	wasmtime_store_epoch_deadline_callback(host.store, on_epoch, NULL, NULL);
	check(wasmtime_instance_new(host.context, host.module, NULL, 0, &instance, &trap), "start");
	if (trap != NULL ||
	    !wasmtime_instance_export_get(host.context, &instance, "down", 4, &item))
		exit(1);
	host.down = item.of.func;
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Runs the guest until there are SAMPLES, and prints their median. */
static void measure(const char *what, size_t samples)
{
	wasmtime_val_t arguments[2] = { { .kind = WASMTIME_I32, .of.i32 = host.frames - 2 },
					{ .kind = WASMTIME_I32, .of.i32 = TURNS } };
	double limit_us = monotonic_us() + 20e6;

	tick_count = 0;
	wanted = samples;
	while (tick_count < samples && monotonic_us() < limit_us) {
		wasm_trap_t *trap = NULL;

		wasmtime_context_set_epoch_deadline(host.context, 1);
		check(wasmtime_func_call(host.context, &host.down, arguments, 2, NULL, 0, &trap),
		      "call");
	}
	if (tick_count == 0)
		return;
	qsort(ticks, tick_count, sizeof(*ticks), compare);
	printf("%s %.0f\n", what, (double)ticks[tick_count / 2] * host.ns_per_tick);
}

static void measure_engine(size_t samples)
{
	wasm_name_t name;
	wasmtime_guestprofiler_modules_t modules = { .name = &name, .mod = host.module };
	struct sigaction action = { .sa_handler = tick_epoch, .sa_flags = SA_RESTART };

	wasm_name_new_from_string(&name, "bench");
	host.profiler = wasmtime_guestprofiler_new(host.engine, &name, 1000000, &modules, 1);
	sigaction(SIGALRM, &action, NULL);
	measure("engine", samples);
	wasmtime_guestprofiler_delete(host.profiler);
	host.profiler = NULL;
}

static void calibrate(void)
{
	double begin_us = monotonic_us();
	uint64_t begin = __rdtsc();

	while (monotonic_us() - begin_us < 50000)
		;
	host.ns_per_tick = (monotonic_us() - begin_us) * 1e3 / (double)(__rdtsc() - begin);
}

int main(int argc, char **argv)
{
	size_t samples = argc == 4 ? strtoul(argv[3], NULL, 10) : 0;
	struct sigaction action = { .sa_sigaction = on_signal,
				    .sa_flags = SA_SIGINFO | SA_RESTART };
	struct itimerval timer = { { .tv_usec = PERIOD_US }, { .tv_usec = PERIOD_US } };

	if (samples == 0 || samples > MAX_SAMPLES)
		return 2;
	host.frames = atoi(argv[1]);
	load(atoi(argv[2]));
	calibrate();
	walk_libgcc(); /* what is set up at the first use */
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &timer, NULL);
	walk = walk_libgcc;
	measure("libgcc", samples);
	if (open_libunwind()) {
		walk = NULL;
		walk_libunwind();
		walk = walk_libunwind;
		measure("unw_backtrace", samples);
		walk = walk_steps;
		measure("unw_step", samples);
	}
	walk = NULL;
	measure_engine(samples);
	return 0;
}
