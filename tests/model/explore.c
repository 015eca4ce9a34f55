/* SPDX-License-Identifier: MIT */
/*
 * explore.c - a depth-first search over schedules, by running the program again for each.
 *
 * What belongs to the search lives outside of the memory that is put back for each run (memory.h).
 */
#include "tests/model/explore.h"

#include "tests/model/memory.h"

#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

enum {
	MOST_STEPS = 2000,
	MOST_PLACES = 512,
	MOST_SITES = 256,
	STACK_SIZE = 128 << 10,
	STATES = 1 << 20,
};

struct fiber {
	ucontext_t first;
	jmp_buf context;
	bool is_started, is_done;
	const uint8_t *stack; /* its lowest byte in use */
	struct site *site;    /* of the step to come, and its place */
	const volatile void *place;
	int kind;
	const volatile void *last_read;
	uint64_t last_writes; /* to that, when it was read */
};

/*
 * Where in the code a step is. Steps whose places no two threads contend for need no order: they
 * are taken at once. Which these are is learnt; a search that learns otherwise begins again.
 */
struct site {
	const char *what, *file;
	int line;
	bool is_shared;
};

struct place {
	const volatile void *address;
	uint64_t writes;
	bool is_locked;
	uint32_t readers, writers; /* threads */
	bool sites[MOST_SITES];	   /* that came here */
};

struct trace_step {
	int thread;
	const struct site *site; /* NULL: its beginning */
};

struct search {
	const struct explore_program *program;
	struct fiber fibers[EXPLORE_MOST_THREADS];
	int fiber_count, running; /* running: -1 in begin and end */
	jmp_buf scheduler;
	ucontext_t template, unused;
	struct site sites[MOST_SITES];
	size_t site_count;
	bool has_learnt;
	struct place places[MOST_PLACES];
	size_t place_count;
	struct trace_step trace[MOST_STEPS];
	int step_count;
	/* The schedule: which of the enabled threads ran, and how many there were. */
	uint8_t chosen[MOST_STEPS], enabled[MOST_STEPS];
	int choices, prefix;
	uint64_t runs, states;
	/* Open addressing; 0: free. */
	uint64_t seen[STATES] __attribute__((aligned(4096)));
	uint8_t stacks[EXPLORE_MOST_THREADS][STACK_SIZE] __attribute__((aligned(64)));
};

static struct search *search;
/* ---- what was found ---------------------------------------------------------------------------
 */

static void show_trace(void)
{
	printf("%s: the order that leads there:\n", search->program->name);
	for (int i = 0; i < search->step_count; i++) {
		const struct trace_step *step = &search->trace[i];

		printf("  %-12s ", search->program->threads[step->thread].name);
		if (step->site != NULL)
			printf("%s (%s:%d)\n", step->site->what, step->site->file,
			       step->site->line);
		else
			printf("begins\n");
	}
}

void explore_fail(const char *words)
{
	printf("broken: %s\n", words);
	show_trace();
	fflush(stdout);
	_exit(1);
}

void explore_expect(bool holds, const char *words)
{
	if (!holds)
		explore_fail(words);
}

/* ---- one step ---------------------------------------------------------------------------------
 */

static struct place *place_at(const volatile void *address)
{
	for (size_t i = 0; i < search->place_count; i++) {
		if (search->places[i].address == address)
			return &search->places[i];
	}
	if (search->place_count == MOST_PLACES)
		explore_fail("too many places for the search");
	search->places[search->place_count] = (struct place){ .address = address };
	return &search->places[search->place_count++];
}

static struct site *site_at(const char *what, const char *file, int line)
{
	for (size_t i = 0; i < search->site_count; i++) {
		struct site *site = &search->sites[i];

		if (site->line == line && site->what == what && site->file == file)
			return site;
	}
	if (search->site_count == MOST_SITES)
		explore_fail("too many sites for the search");
	search->sites[search->site_count] =
		(struct site){ .what = what, .file = file, .line = line };
	return &search->sites[search->site_count++];
}

/* Notes who uses PLACE, and whether two threads contend for it. */
static void note_use(struct place *place, const struct fiber *fiber)
{
	uint32_t me = 1u << search->running;

	place->sites[fiber->site - search->sites] = true;
	if (fiber->kind == EXPLORE_READ)
		place->readers |= me;
	else
		place->writers |= me;
	if (place->writers == 0 || ((place->readers | place->writers) & ~me) == 0)
		return;
	for (size_t i = 0; i < search->site_count; i++) {
		if (place->sites[i] && !search->sites[i].is_shared)
			search->sites[i].is_shared = search->has_learnt = true;
	}
}

static void note_step(struct fiber *fiber)
{
	struct place *place;

	if (search->step_count == MOST_STEPS)
		explore_fail("too many steps for the search");
	search->trace[search->step_count++] =
		(struct trace_step){ .thread = search->running, .site = fiber->site };
	if (fiber->kind == EXPLORE_WAIT)
		return;
	place = place_at(fiber->place);
	note_use(place, fiber);
	if (fiber->kind == EXPLORE_READ) {
		fiber->last_read = fiber->place;
		fiber->last_writes = place->writes;
		return;
	}
	place->writes++;
	if (fiber->kind == EXPLORE_UNLOCK && !place->is_locked)
		explore_fail("a lock is released that nobody holds");
	if (fiber->kind != EXPLORE_WRITE)
		place->is_locked = fiber->kind == EXPLORE_LOCK;
}

void explore_step(const volatile void *place, const char *what, enum explore_kind kind,
		  const char *file, int line)
{
	struct fiber *fiber;

	if (search == NULL || search->running < 0)
		return;
	fiber = &search->fibers[search->running];
	fiber->site = site_at(what, file, line);
	fiber->place = place;
	fiber->kind = kind;
	fiber->stack = __builtin_frame_address(0);
	/* Not swapcontext(): it asks the kernel for the signal mask, millions of times. */
	if ((fiber->site->is_shared || kind == EXPLORE_WAIT) && _setjmp(fiber->context) == 0)
		_longjmp(search->scheduler, 1);
	note_step(fiber);
}

void explore_free(void *block, const char *file, int line)
{
	if (block == NULL)
		return;
	explore_step(block, "free", EXPLORE_WRITE, file, line);
	memory_free(block);
}

/* ---- one run ----------------------------------------------------------------------------------
 */

static void run_body(void)
{
	struct fiber *fiber = &search->fibers[search->running];

	search->program->threads[search->running].body();
	fiber->is_done = true;
	_longjmp(search->scheduler, 1);
}

static bool has_to_wait(const struct fiber *fiber)
{
	if (!fiber->is_started)
		return false;
	if (fiber->kind == EXPLORE_LOCK)
		return place_at(fiber->place)->is_locked;
	return fiber->kind == EXPLORE_WAIT &&
	       place_at(fiber->last_read)->writes == fiber->last_writes;
}

static bool is_enabled(int thread)
{
	const struct fiber *fiber = &search->fibers[thread];
	int below = search->program->threads[thread].interrupts - 1;

	if (fiber->is_done || has_to_wait(fiber))
		return false;
	if (below >= 0 && !fiber->is_started &&
	    (!search->fibers[below].is_started || search->fibers[below].is_done))
		return false; /* nothing to interrupt */
	for (int i = 0; i < search->fiber_count; i++) {
		if (search->program->threads[i].interrupts - 1 == thread &&
		    search->fibers[i].is_started && !search->fibers[i].is_done)
			return false; /* its handler runs */
	}
	return true;
}

/* Threads that are not handlers must end; a handler need not come. */
static bool all_done(void)
{
	for (int i = 0; i < search->fiber_count; i++) {
		if (search->program->threads[i].interrupts == 0 && !search->fibers[i].is_done)
			return false;
	}
	return true;
}

/* Runs THREAD up to its next step. */
static void resume(int thread)
{
	struct fiber *fiber = &search->fibers[thread];
	bool is_first = !fiber->is_started;

	fiber->is_started = true;
	search->running = thread;
	if (_setjmp(search->scheduler) == 0) {
		if (is_first)
			swapcontext(&search->unused, &fiber->first);
		_longjmp(fiber->context, 1);
	}
	search->running = -1;
}

static void run_step(int thread)
{
	struct fiber *fiber = &search->fibers[thread];

	if (!fiber->is_started)
		search->trace[search->step_count++] = (struct trace_step){ .thread = thread };
	resume(thread);
}

/* ---- states -----------------------------------------------------------------------------------
 */

static uint64_t mix_fiber(uint64_t hash, int number)
{
	const struct fiber *fiber = &search->fibers[number];

	hash = memory_mix(hash, (uint64_t)(fiber->is_started + 2 * fiber->is_done));
	if (!fiber->is_started || fiber->is_done)
		return hash;
	hash = memory_mix_bytes(hash, fiber->context, sizeof(fiber->context[0].__jmpbuf));
	hash = memory_mix_bytes(hash, fiber->stack,
				(size_t)(search->stacks[number] + STACK_SIZE - fiber->stack));
	hash = memory_mix(hash, (uintptr_t)fiber->place);
	hash = memory_mix(hash, (uint64_t)(fiber->site - search->sites));
	return memory_mix(hash, has_to_wait(fiber));
}

/* All that decides what can happen from here on: the program's memory, and what is about to run. */
static uint64_t state_now(void)
{
	uint64_t hash = memory_hash();

	for (int i = 0; i < search->fiber_count; i++)
		hash = mix_fiber(hash, i);
	for (size_t i = 0; i < search->place_count; i++) {
		if (search->places[i].is_locked)
			hash += memory_mix((uintptr_t)search->places[i].address, 1);
	}
	return hash + (hash == 0);
}

/* Whether the state of now was met before; else it is noted. */
static bool is_known(void)
{
	uint64_t key = state_now();
	size_t at;

	for (at = key % STATES; search->seen[at] != 0; at = (at + 1) % STATES) {
		if (search->seen[at] == key)
			return true;
	}
	if (++search->states > STATES / 2)
		explore_fail("too many states for the search");
	search->seen[at] = key;
	return false;
}

static void begin_run(void)
{
	memory_begin_again();
	search->place_count = 0;
	search->step_count = search->choices = 0;
	search->running = -1;
	for (int i = 0; i < search->fiber_count; i++) {
		struct fiber *fiber = &search->fibers[i];

		memset(fiber, 0, sizeof(*fiber));
		fiber->first = search->template;
		fiber->first.uc_stack.ss_sp = search->stacks[i];
		fiber->first.uc_stack.ss_size = STACK_SIZE;
		makecontext(&fiber->first, run_body, 0);
	}
}

/* One run after the schedule's prefix; new choices take the first. */
static void run_once(void)
{
	begin_run();
	while (!all_done() && !search->has_learnt) {
		int choice = search->choices, enabled = 0, thread = -1;

		if (choice == MOST_STEPS)
			explore_fail("too many steps for the search");
		if (choice >= search->prefix) {
			if (is_known())
				return;
			search->chosen[choice] = 0;
		}
		for (int i = 0; i < search->fiber_count; i++) {
			if (is_enabled(i) && enabled++ == search->chosen[choice])
				thread = i;
		}
		if (thread < 0)
			explore_fail("nobody can go on");
		search->enabled[choice] = (uint8_t)enabled;
		search->choices++;
		run_step(thread);
	}
	if (!search->has_learnt)
		search->program->end();
}

/* The next schedule: the last choice that has another. False when there is none. */
static bool next_schedule(void)
{
	int choice = search->choices - 1;

	while (choice >= 0 && search->chosen[choice] + 1 >= search->enabled[choice])
		choice--;
	if (choice < 0)
		return false;
	search->chosen[choice]++;
	search->prefix = choice + 1;
	return true;
}

/* All schedules, as far as steps are known to need an order. False when one more was found. */
static bool is_complete(void)
{
	madvise(search->seen, sizeof(search->seen), MADV_DONTNEED); /* all zero again */
	search->states = 0;
	search->prefix = 0;
	search->has_learnt = false;
	do {
		if (++search->runs > EXPLORE_MOST_RUNS)
			explore_fail("the search is not complete");
		run_once();
	} while (!search->has_learnt && next_schedule());
	return !search->has_learnt;
}

static void set_up(void)
{
	search = mmap(NULL, sizeof(*search), PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (search == MAP_FAILED)
		exit(2);
	search->running = -1;
	getcontext(&search->template);
	memory_set_up();
}

void explore(const struct explore_program *program)
{
	if (search == NULL)
		set_up();
	search->program = program;
	search->fiber_count = 0;
	while (search->fiber_count < EXPLORE_MOST_THREADS &&
	       program->threads[search->fiber_count].body != NULL)
		search->fiber_count++;
	search->runs = 0;
	search->site_count = 0;
	search->running = -1;
	memory_begin();
	program->begin();
	memory_keep();
	while (!is_complete())
		;
	memory_end();
	printf("%s: %lu states, %lu runs\n", program->name, (unsigned long)search->states,
	       (unsigned long)search->runs);
	fflush(stdout);
}
