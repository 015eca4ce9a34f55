/* SPDX-License-Identifier: MIT */
/*
 * handler_test.c - whose signal, and what each kind of tick leaves in the ring: handler.c, tick.c
 * and record.c together, on contexts made by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "preload/base/stats.h"
#include "preload/sig/handler.h"
#include "preload/sig/ring.h"
#include "preload/sig/slice.h"
#include "tests/unit/sig/synthetic.h"

enum { RING_SIZE = 256 * 1024, RECORD = 64 / 8, EXIT_FP = 0, EXIT_PC = 8, ENTRY_FP = 16 };

static struct synthetic s;
static struct thread blocks[3];
static struct thread *thread;
static _Atomic(struct thread *) by_fd[8];
static _Atomic(struct ring *) pool[2];
static atomic_int wake_word;
static int foreign_signals;
static uint64_t context_words[0xb00 / 8];
static struct exit_layout layout;
static unsigned long long before[STAT_COUNT];

static void on_foreign(int signo, siginfo_t *info, void *context)
{
	(void)signo, (void)info, (void)context;
	foreign_signals++;
	errno = 1;
}

static int setup(void **unused)
{
	(void)unused;
	synthetic_init(&s);
	memset(blocks, 0, sizeof(blocks));
	thread_table.has_entries = false;
	memset(context_words, 0, sizeof(context_words));
	thread = &blocks[1];
	thread->tid = (pid_t)syscall(SYS_gettid);
	atomic_store(&thread->state, THREAD_LIVE);
	atomic_store(&thread->stack_start, (uintptr_t)s.stack);
	atomic_store(&thread->stack_end, (uintptr_t)(s.stack + STACK_WORDS));
	thread_table = (struct thread_table){ .blocks = blocks, .capacity = 3 };
	atomic_store(&thread_table.count, 3);
	for (int i = 0; i < 2; i++) {
		struct ring *ring = calloc(1, sizeof(*ring) + RING_SIZE);

		assert_non_null(ring);
		ring->size = RING_SIZE;
		atomic_store(&pool[i], ring);
	}
	atomic_store(&by_fd[5], thread);
	handler_setup = (struct handler_setup){
		.thread_by_fd = by_fd,
		.fd_count = ARRAY_SIZE(by_fd),
		.ring_pool = pool,
		.ring_pool_size = ARRAY_SIZE(pool),
		.wake_word = &wake_word,
		.foreign = on_foreign,
		.copy_slices = true,
	};
	layout = (struct exit_layout){ .exit_fp = EXIT_FP,
				       .exit_pc = EXIT_PC,
				       .entry_fp = ENTRY_FP };
	layout.exit_fp_is_trampoline = true;
	atomic_store(&layout.offset, -1);
	atomic_store(&layout.candidate, -1);
	atomic_store(&layout.hopeless, false);
	ranges_publish(s.ranges);
	foreign_signals = 0;
	for (int i = 0; i < STAT_COUNT; i++)
		before[i] = stat_get((enum stat_id)i);
	return 0;
}

static int teardown(void **unused)
{
	(void)unused;
	ranges_publish(NULL);
	free(atomic_load(&thread->ring));
	for (int i = 0; i < 2; i++)
		free(atomic_load(&pool[i]));
	return 0;
}

static unsigned long long counted(enum stat_id which)
{
	return stat_get(which) - before[which];
}

static siginfo_t timer_info(struct thread *block)
{
	siginfo_t info;

	memset(&info, 0, sizeof(info));
	info.si_code = SI_TIMER;
	info.si_value.sival_ptr = block;
	return info;
}

static const struct sample *tick_with(const ucontext_t *context)
{
	siginfo_t info = timer_info(thread);

	handler_on_signal(SIGPROF, &info, (void *)context);
	return atomic_load(&thread->ring) != NULL ? ring_peek(atomic_load(&thread->ring)) : NULL;
}

static const struct sample *tick_at(uintptr_t pc)
{
	ucontext_t context = synthetic_context(&s, pc);

	return tick_with(&context);
}

static void next_sample(void)
{
	struct ring *ring = atomic_load(&thread->ring);

	ring_release(ring, ring_peek(ring));
}

static void enter(uintptr_t sp, uint32_t flags)
{
	struct entry entry = {
		.sp = sp,
		.context = (uintptr_t)context_words,
		.layout = &layout,
		.instance = 70 + thread->depth,
		.flags = flags,
	};

	thread_enter(thread, &entry);
}

static void assert_pcs(const struct sample *sample, size_t count, const uintptr_t *pcs)
{
	assert_non_null(sample);
	assert_int_equal(sample->pc_count, count);
	for (size_t i = 0; i < count; i++)
		assert_true(sample_pcs(sample)[i] == pcs[i]);
}

#define PC(name) synthetic_pc(&s, CODE_##name)
#define ASSERT_PCS(sample, ...)                                                      \
	assert_pcs(sample, sizeof((uintptr_t[]){ __VA_ARGS__ }) / sizeof(uintptr_t), \
		   (const uintptr_t[]){ __VA_ARGS__ })

/* Whose signal */

static void sent(int code, void *value, int fd)
{
	ucontext_t context = synthetic_context(&s, PC(LEAF));
	siginfo_t info;

	memset(&info, 0, sizeof(info));
	info.si_code = code;
	if (code == SI_TIMER || code == SI_QUEUE)
		info.si_value.sival_ptr = value;
	else
		info.si_fd = fd;
	handler_on_signal(SIGPROF, &info, &context);
}

static void ours_are_known_by_what_they_carry(void **unused)
{
	(void)unused;
	sent(SI_TIMER, thread, 0);
	sent(SI_QUEUE, thread, 0);
	sent(POLL_IN, NULL, 5);
	sent(POLL_HUP, NULL, 5);
	assert_int_equal(counted(STAT_SIGNALS), 4);
	assert_int_equal(counted(STAT_SAMPLES), 4);
	assert_int_equal(foreign_signals, 0);
}

static void everything_else_is_the_hosts(void **unused)
{
	(void)unused;
	sent(SI_USER, NULL, 0);
	sent(SI_TKILL, NULL, 0);
	sent(SI_KERNEL, NULL, 5); /* setitimer */
	sent(SI_TIMER, NULL, 0);
	sent(SI_TIMER, (char *)thread + 8, 0);
	sent(SI_TIMER, (void *)((uintptr_t)blocks + sizeof(blocks)), 0);
	sent(SI_TIMER, (void *)((uintptr_t)blocks - sizeof(blocks[0])), 0);
	sent(SI_QUEUE, &foreign_signals, 0);
	sent(POLL_IN, NULL, 4);
	sent(POLL_IN, NULL, -1);
	sent(POLL_IN, NULL, 8);
	assert_int_equal(foreign_signals, 11);
	assert_int_equal(counted(STAT_SIGNALS), 0);
}

static void another_threads_block_is_not_used(void **unused)
{
	(void)unused;
	blocks[0].tid = 1;
	atomic_store(&blocks[0].state, THREAD_LIVE);
	sent(SI_TIMER, &blocks[0], 0);
	atomic_store(&thread->state, THREAD_ENDED);
	sent(SI_TIMER, thread, 0);
	assert_int_equal(counted(STAT_LOST_NO_THREAD), 2);
	assert_int_equal(counted(STAT_SAMPLES), 0);
	assert_int_equal(foreign_signals, 0);
}

static void errno_stays(void **unused)
{
	(void)unused;
	errno = 123;
	sent(SI_TIMER, thread, 0);
	assert_int_equal(errno, 123);
	sent(SI_USER, NULL, 0);
	assert_int_equal(errno, 123);
}

static void nested_is_counted(void **unused)
{
	(void)unused;
	thread->busy = 1;
	sent(SI_TIMER, thread, 0);
	assert_int_equal(counted(STAT_LOST_NESTED), 1);
	assert_int_equal(counted(STAT_SAMPLES), 0);
}

static void stopped_takes_nothing(void **unused)
{
	(void)unused;
	atomic_store(&handler_setup.stopped, true);
	sent(SI_TIMER, thread, 0);
	assert_int_equal(counted(STAT_SIGNALS), 0);
	assert_null(atomic_load(&thread->ring));
}

static void overruns_are_weight(void **unused)
{
	ucontext_t context = synthetic_context(&s, PC(LEAF));
	siginfo_t info = timer_info(thread);

	(void)unused;
	info.si_overrun = 3;
	handler_on_signal(SIGPROF, &info, &context);
	assert_int_equal(ring_peek(atomic_load(&thread->ring))->weight, 4);
	assert_int_equal(counted(STAT_OVERRUNS), 3);
}

static void generation_is_shown_only_while_it_runs(void **unused)
{
	const struct sample *sample;

	(void)unused;
	synthetic_guest(&s);
	sample = tick_at(PC(LEAF));
	assert_int_equal(sample->generation, 9);
	assert_int_equal(atomic_load(&thread->generation), 0);
	assert_int_equal(thread->busy, 0);
}

/* Rings */

static void ring_comes_from_the_pool(void **unused)
{
	int woken = atomic_load(&wake_word);

	(void)unused;
	tick_at(PC(LEAF));
	assert_non_null(atomic_load(&thread->ring));
	assert_null(atomic_load(&pool[0]));
	assert_non_null(atomic_load(&pool[1]));
	assert_true(atomic_load(&wake_word) > woken);
}

static void empty_pool_is_counted(void **unused)
{
	struct ring *rings[2] = { atomic_exchange(&pool[0], NULL),
				  atomic_exchange(&pool[1], NULL) };

	(void)unused;
	tick_at(PC(LEAF));
	assert_int_equal(counted(STAT_LOST_NO_RING), 1);
	atomic_store(&pool[0], rings[0]);
	atomic_store(&pool[1], rings[1]);
}

static void full_ring_is_counted_and_wakes(void **unused)
{
	int woken;

	(void)unused;
	synthetic_guest(&s);
	for (int i = 0; i < 5000 && counted(STAT_LOST_RING_FULL) == 0; i++)
		tick_at(PC(LEAF));
	assert_int_equal(counted(STAT_LOST_RING_FULL), 1);
	assert_true(counted(STAT_SAMPLES) > 2500);
	woken = atomic_load(&wake_word);
	tick_at(PC(LEAF));
	assert_int_equal(counted(STAT_SAMPLES) + counted(STAT_LOST_RING_FULL),
			 counted(STAT_SIGNALS));
	assert_true(atomic_load(&wake_word) > woken);
}

/* Kinds of ticks */

static void thread_without_guest_is_left_alone(void **unused)
{
	(void)unused;
	s.stack[s.top] = PC(INNER);
	thread->handler_runs = 1; /* not one that looks for a guest by itself */
	assert_null(tick_at(0x1234));
	assert_int_equal(counted(STAT_HOST_ONLY), 1);
	assert_null(atomic_load(&thread->ring));
}

static void guest_is_a_chain(void **unused)
{
	const struct sample *sample;

	(void)unused;
	enter((uintptr_t)&s.stack[STACK_WORDS - 32], 0);
	synthetic_guest(&s);
	sample = tick_at(PC(LEAF));
	ASSERT_PCS(sample, PC(LEAF), PC(INNER), PC(OUTER), PC(TRAMPOLINE));
	assert_int_equal(sample->kind, SAMPLE_GUEST);
	assert_int_equal(sample->flags, 0);
	assert_int_equal(sample->instance, 70);
	assert_int_equal(sample->weight, 1);
	assert_int_equal(sample->slice_size, 0);
	assert_int_equal(sample->size, sizeof(*sample) + 4 * 8);
	assert_null(sample_registers(sample));
	/* After the call, what is left of it on the stack is not looked at. */
	next_sample();
	thread_leave(thread, 0);
	assert_null(tick_at(0x5600));
	assert_int_equal(counted(STAT_HOST_ONLY), 1);
}

static void guest_without_entry_says_so(void **unused)
{
	(void)unused;
	synthetic_guest(&s);
	assert_int_equal(tick_at(PC(LEAF))->flags, SAMPLE_NO_ENTRY);
	assert_true(thread->had_guest);
}

static void broken_chain_keeps_the_leaf(void **unused)
{
	const uintptr_t hostile[] = { 0, 1, 0x8000000000000000u, UINTPTR_MAX - 7,
				      (uintptr_t)s.stack };

	(void)unused;
	for (size_t i = 0; i < ARRAY_SIZE(hostile); i++) {
		s.fp = hostile[i];
		ASSERT_PCS(tick_at(PC(LEAF)), PC(LEAF));
		assert_int_equal(ring_peek(atomic_load(&thread->ring))->flags,
				 SAMPLE_TRUNCATED | SAMPLE_NO_ENTRY);
		next_sample();
	}
}

static void endless_chain_is_cut(void **unused)
{
	(void)unused;
	for (int i = 0; i < SAMPLE_MAX_PCS + 50; i++)
		synthetic_call(&s, PC(INNER), 0);
	assert_int_equal(tick_at(PC(LEAF))->pc_count, SAMPLE_MAX_PCS);
	assert_true(ring_peek(atomic_load(&thread->ring))->flags & SAMPLE_TRUNCATED);
}

static void stale_entry_is_ignored(void **unused)
{
	(void)unused;
	enter((uintptr_t)&s.stack[STACK_WORDS - 32], 0);
	synthetic_guest(&s);
	enter(synthetic_sp(&s) - 800, 0); /* left by longjmp: the thread is above it again */
	assert_int_equal(tick_at(PC(LEAF))->instance, 70);
}

static void fiber_is_walked_by_probing(void **unused)
{
	(void)unused;
	/* The synthetic stack is now the fiber's; the thread's own is elsewhere. */
	atomic_store(&thread->stack_start, 0x10000);
	atomic_store(&thread->stack_end, 0x20000);
	enter(0x18000, ENTRY_FIBER);
	synthetic_guest(&s);
	ASSERT_PCS(tick_at(PC(LEAF)), PC(LEAF), PC(INNER), PC(OUTER), PC(TRAMPOLINE));
	assert_int_equal(ring_peek(atomic_load(&thread->ring))->flags, SAMPLE_FIBER);
}

static void code_without_frame_pointers_is_sliced(void **unused)
{
	const struct sample *sample;
	uintptr_t sp;

	(void)unused;
	s.ranges->range[0].has_frame_pointers = 0;
	synthetic_guest(&s);
	sp = synthetic_sp(&s);
	sample = tick_at(PC(LEAF));
	assert_int_equal(sample->kind, SAMPLE_HOST);
	assert_int_equal(sample->pc_count, 0);
	assert_true(sample_registers(sample)[16] == PC(LEAF));
	assert_true(sample->slice_address == sp && sample->slice_size >= SLICE_MARGIN);
	/* A leaf straight from the host leaves no guest word, but is a guest. */
	next_sample();
	s.top = 100;
	memset(s.stack, 0, sizeof(s.stack));
	sample = tick_at(PC(LEAF));
	assert_non_null(sample);
	assert_int_equal(sample->slice_size, SLICE_MARGIN);
}

/* The exit trampoline's frame, and the host's function below it with LOCALS words. */
static void call_out(uintptr_t entry_fp, size_t locals)
{
	synthetic_call(&s, PC(INNER), 2);
	context_words[RECORD + EXIT_FP / 8] = s.fp;
	context_words[RECORD + EXIT_PC / 8] = PC(INNER);
	context_words[RECORD + ENTRY_FP / 8] = entry_fp;
	synthetic_call(&s, 0x5678, locals);
}

static uintptr_t guest_below(void)
{
	uintptr_t entry_fp;

	synthetic_call(&s, 0x1234, 4);
	entry_fp = s.fp;
	synthetic_call(&s, PC(TRAMPOLINE), 2);
	synthetic_call(&s, PC(OUTER), 2);
	return entry_fp;
}

static void host_with_exit_record(void **unused)
{
	const struct sample *sample;
	uintptr_t frame, sp;

	(void)unused;
	enter((uintptr_t)&s.stack[STACK_WORDS - 32], 0);
	atomic_store(&layout.offset, RECORD * 8);
	call_out(guest_below(), 100);
	frame = context_words[RECORD + EXIT_FP / 8];
	sp = synthetic_sp(&s);
	sample = tick_at(0x5600);
	ASSERT_PCS(sample, PC(INNER), PC(OUTER), PC(TRAMPOLINE));
	assert_int_equal(sample->kind, SAMPLE_HOST);
	assert_int_equal(sample->flags, SAMPLE_EXIT_RECORD);
	assert_true(sample->slice_address == sp);
	assert_int_equal(sample->slice_size, frame + 64 - sp);
	assert_memory_equal(sample_slice(sample), (void *)sp, sample->slice_size);
	/* DWARF order: rbp is 6, rsp 7, rip 16. */
	assert_true(sample_registers(sample)[6] == s.fp);
	assert_true(sample_registers(sample)[7] == sp);
	assert_true(sample_registers(sample)[16] == 0x5600);
	assert_true(sample_registers(sample)[0] == 1000 + REG_RAX);
	assert_true(sample_registers(sample)[5] == 1000 + REG_RDI);
	assert_int_equal(sample->size, sizeof(*sample) + (3 + 17) * 8 + sample->slice_size);
	/* GUESTPROF_STACKS=guest */
	next_sample();
	handler_setup.copy_slices = false;
	sample = tick_at(0x5600);
	ASSERT_PCS(sample, PC(INNER), PC(OUTER), PC(TRAMPOLINE));
	assert_int_equal(sample->slice_size, 0);
	assert_int_equal(sample->flags, SAMPLE_EXIT_RECORD);
}

static void deep_host_frames_cut_the_slice(void **unused)
{
	const struct sample *sample;

	(void)unused;
	/* 4,096 words of stack are 32 KiB: use another, larger one. */
	static uint64_t large[3 * SAMPLE_MAX_SLICE / 8];
	ucontext_t context;

	atomic_store(&thread->stack_start, (uintptr_t)large);
	atomic_store(&thread->stack_end, (uintptr_t)large + sizeof(large));
	enter((uintptr_t)large + sizeof(large) - 64, 0);
	atomic_store(&layout.offset, RECORD * 8);
	large[11000] = (uintptr_t)&large[11010]; /* exit trampoline's frame */
	large[11001] = PC(INNER);
	large[11010] = (uintptr_t)&large[11020];
	large[11011] = PC(TRAMPOLINE);
	large[11021] = 0x1234;
	context_words[RECORD + EXIT_FP / 8] = (uintptr_t)&large[11000];
	context_words[RECORD + EXIT_PC / 8] = PC(INNER);
	context_words[RECORD + ENTRY_FP / 8] = (uintptr_t)&large[11020];
	context = synthetic_context(&s, 0x5600);
	context.uc_mcontext.gregs[REG_RSP] = (greg_t)(uintptr_t)&large[10];
	sample = tick_with(&context);
	ASSERT_PCS(sample, PC(INNER), PC(TRAMPOLINE));
	assert_int_equal(sample->slice_size, SAMPLE_MAX_SLICE);
	assert_int_equal(sample->flags, SAMPLE_EXIT_RECORD | SAMPLE_TRUNCATED);
}

static void record_that_ends_elsewhere_is_refused(void **unused)
{
	(void)unused;
	enter((uintptr_t)&s.stack[STACK_WORDS - 32], 0);
	atomic_store(&layout.offset, RECORD * 8);
	call_out(guest_below() + 16, 10);
	assert_null(tick_at(0x5600));
	assert_int_equal(counted(STAT_HOST_ONLY), 1);
}

static void host_before_the_guest_counts_only(void **unused)
{
	(void)unused;
	enter((uintptr_t)&s.stack[STACK_WORDS - 32], 0);
	atomic_store(&layout.offset, RECORD * 8);
	s.stack[s.top] = PC(INNER); /* a dead frame's word must not be found */
	assert_null(tick_at(0x5600));
	assert_int_equal(counted(STAT_HOST_ONLY), 1);
}

static void nested_activations_are_separated(void **unused)
{
	const struct sample *sample;

	(void)unused;
	enter((uintptr_t)&s.stack[STACK_WORDS - 32], 0);
	atomic_store(&layout.offset, RECORD * 8);
	call_out(guest_below(), 10);
	enter(synthetic_sp(&s), 0);
	/* The inner call has not reached its guest: only the outer one is there. */
	synthetic_call(&s, 0x1111, 10);
	sample = tick_at(0x5600);
	ASSERT_PCS(sample, PC(INNER), PC(OUTER), PC(TRAMPOLINE));
	assert_int_equal(sample->flags, SAMPLE_EXIT_RECORD);
	assert_int_equal(sample->instance, 71);
	next_sample();
	/* In the inner guest. */
	synthetic_guest(&s);
	sample = tick_at(PC(LEAF));
	ASSERT_PCS(sample, PC(LEAF), PC(INNER), PC(OUTER), PC(TRAMPOLINE), 0, PC(INNER), PC(OUTER),
		   PC(TRAMPOLINE));
	assert_int_equal(sample->flags, 0);
}

static void unknown_outer_activation_is_said(void **unused)
{
	(void)unused;
	enter((uintptr_t)&s.stack[STACK_WORDS - 32], 0);
	guest_below();
	synthetic_call(&s, 0x5678, 10);
	enter(synthetic_sp(&s), 0);
	synthetic_guest(&s);
	ASSERT_PCS(tick_at(PC(LEAF)), PC(LEAF), PC(INNER), PC(OUTER), PC(TRAMPOLINE));
	assert_int_equal(ring_peek(atomic_load(&thread->ring))->flags, SAMPLE_TRUNCATED);
}

static void layout_is_learned_from_guest_ticks(void **unused)
{
	(void)unused;
	enter((uintptr_t)&s.stack[STACK_WORDS - 32], 0);
	context_words[RECORD + ENTRY_FP / 8] = guest_below();
	synthetic_call(&s, PC(INNER), 2);
	tick_at(PC(LEAF));
	assert_int_equal(atomic_load(&layout.offset), -1);
	tick_at(PC(LEAF));
	assert_int_equal(atomic_load(&layout.offset), RECORD * 8);
}

static void layout_is_learned_from_host_ticks_too(void **unused)
{
	(void)unused;
	enter((uintptr_t)&s.stack[STACK_WORDS - 32], 0);
	call_out(guest_below(), 50);
	/* The same words elsewhere, but for the entry's frame. */
	context_words[40] = context_words[RECORD];
	context_words[41] = context_words[RECORD + 1];
	context_words[42] = context_words[RECORD + 2] + 16;
	tick_at(0x5600);
	assert_int_equal(atomic_load(&layout.offset), -1);
	tick_at(0x5600);
	assert_int_equal(atomic_load(&layout.offset), RECORD * 8);
	next_sample();
	next_sample();
	ASSERT_PCS(tick_at(0x5600), PC(INNER), PC(OUTER), PC(TRAMPOLINE));
}

static void hopeless_layout_is_left_alone(void **unused)
{
	(void)unused;
	enter((uintptr_t)&s.stack[STACK_WORDS - 32], 0);
	call_out(guest_below(), 50);
	atomic_store(&layout.hopeless, true);
	for (int i = 0; i < 3; i++)
		assert_int_equal(tick_at(0x5600)->pc_count, 0);
	assert_int_equal(atomic_load(&layout.offset), -1);
}

static void host_before_learning_is_sliced(void **unused)
{
	const struct sample *sample;
	uintptr_t sp;

	(void)unused;
	enter((uintptr_t)&s.stack[STACK_WORDS - 32], 0);
	call_out(guest_below(), 50);
	sp = synthetic_sp(&s);
	sample = tick_at(0x5600);
	assert_non_null(sample);
	assert_int_equal(sample->kind, SAMPLE_HOST);
	assert_int_equal(sample->flags, 0);
	assert_int_equal(sample->pc_count, 0);
	assert_true(sample->slice_address == sp);
	/* Up to the wrapper: margin cut by the stack's end at most. */
	assert_true(sample->slice_size > 50 * 8);
	assert_memory_equal(sample_slice(sample), (void *)sp, sample->slice_size);
}

static void host_without_entry_is_sliced_after_a_guest(void **unused)
{
	(void)unused;
	guest_below();
	synthetic_call(&s, 0x5678, 50);
	thread->handler_runs = 1; /* not one that looks for a guest by itself */
	assert_null(tick_at(0x5600));
	thread->had_guest = true;
	assert_int_equal(tick_at(0x5600)->flags, SAMPLE_NO_ENTRY);
	next_sample();
	memset(s.stack, 0, sizeof(s.stack));
	assert_null(tick_at(0x5600));
	assert_int_equal(counted(STAT_HOST_ONLY), 2);
}

/* A guest that is always in a host call is found all the same, if entries cannot tell. */
static void guest_never_met_is_looked_for(void **unused)
{
	(void)unused;
	guest_below();
	synthetic_call(&s, 0x5678, 50);
	thread_table.has_entries = true;
	for (int i = 0; i < 40; i++)
		assert_null(tick_at(0x5600));
	thread_table.has_entries = false;
	for (int i = 0; i < 16 && !thread->had_guest; i++)
		if (tick_at(0x5600) != NULL)
			next_sample();
	assert_true(thread->had_guest);
	assert_non_null(tick_at(0x5600));
	next_sample();
	/* it was a thread that compiles, before the first call into a guest */
	thread_table.has_entries = true;
	assert_null(tick_at(0x5600));
	assert_false(thread->had_guest);
	thread_table.has_entries = false;
	/* no word of a guest's: nothing to show, whatever is looked at */
	memset(s.stack, 0, sizeof(s.stack));
	for (int i = 0; i < 40; i++)
		assert_null(tick_at(0x5600));
	assert_false(thread->had_guest);
}

static void trap_handler_shows_the_trapped_guest(void **unused)
{
	static uint64_t alternate[1024] __attribute__((aligned(4096)));
	const struct sample *sample;
	ucontext_t context;

	(void)unused;
	enter((uintptr_t)&s.stack[STACK_WORDS - 32], 0);
	synthetic_guest(&s);
	memset(alternate, 0, sizeof(alternate));
	alternate[700 - 6] = s.fp;
	alternate[700 - 1] = synthetic_sp(&s);
	alternate[700] = PC(LEAF);
	alternate[700 + 2] = 0x33;
	context = synthetic_context(&s, 0x5600);
	context.uc_stack = (stack_t){ .ss_sp = alternate, .ss_size = sizeof(alternate) };
	context.uc_mcontext.gregs[REG_RSP] = (greg_t)(uintptr_t)&alternate[100];
	sample = tick_with(&context);
	ASSERT_PCS(sample, PC(LEAF), PC(INNER), PC(OUTER), PC(TRAMPOLINE));
	assert_int_equal(sample->kind, SAMPLE_GUEST);
	assert_int_equal(sample->flags, SAMPLE_TRAP);
	next_sample();
	alternate[700] = 0x1234;
	assert_null(tick_with(&context));
	assert_int_equal(counted(STAT_HOST_ONLY), 1);
}

static void hostile_host_contexts_are_survived(void **unused)
{
	const uintptr_t hostile[] = {
		0, 1, 8, 0x1000, 0x7ffffffff000u, 0x8000000000000000u, UINTPTR_MAX - 7, UINTPTR_MAX,
	};

	(void)unused;
	atomic_store(&layout.offset, RECORD * 8);
	enter((uintptr_t)&s.stack[STACK_WORDS - 32], ENTRY_FIBER);
	for (size_t i = 0; i < ARRAY_SIZE(hostile); i++) {
		for (size_t k = 0; k < ARRAY_SIZE(hostile); k++) {
			ucontext_t context = synthetic_context(&s, hostile[k]);

			context.uc_mcontext.gregs[REG_RSP] = (greg_t)hostile[i];
			context.uc_mcontext.gregs[REG_RBP] = (greg_t)hostile[k];
			for (size_t m = 0; m < 3; m++)
				context_words[RECORD + m] = hostile[(i + k * m) % 8];
			tick_with(&context);
			atomic_store(&layout.offset, k % 2 != 0 ? RECORD * 8 : -1);
		}
	}
	assert_int_equal(counted(STAT_SIGNALS), 64);
	assert_int_equal(counted(STAT_SIGNALS), counted(STAT_SAMPLES) + counted(STAT_HOST_ONLY) +
							counted(STAT_LOST_STACK));
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		CASE(ours_are_known_by_what_they_carry),
		CASE(everything_else_is_the_hosts),
		CASE(another_threads_block_is_not_used),
		CASE(errno_stays),
		CASE(nested_is_counted),
		CASE(stopped_takes_nothing),
		CASE(overruns_are_weight),
		CASE(generation_is_shown_only_while_it_runs),
		CASE(ring_comes_from_the_pool),
		CASE(empty_pool_is_counted),
		CASE(full_ring_is_counted_and_wakes),
		CASE(thread_without_guest_is_left_alone),
		CASE(guest_is_a_chain),
		CASE(guest_without_entry_says_so),
		CASE(broken_chain_keeps_the_leaf),
		CASE(endless_chain_is_cut),
		CASE(stale_entry_is_ignored),
		CASE(fiber_is_walked_by_probing),
		CASE(code_without_frame_pointers_is_sliced),
		CASE(host_with_exit_record),
		CASE(deep_host_frames_cut_the_slice),
		CASE(record_that_ends_elsewhere_is_refused),
		CASE(host_before_the_guest_counts_only),
		CASE(nested_activations_are_separated),
		CASE(unknown_outer_activation_is_said),
		CASE(layout_is_learned_from_guest_ticks),
		CASE(layout_is_learned_from_host_ticks_too),
		CASE(hopeless_layout_is_left_alone),
		CASE(host_before_learning_is_sliced),
		CASE(host_without_entry_is_sliced_after_a_guest),
		CASE(guest_never_met_is_looked_for),
		CASE(trap_handler_shows_the_trapped_guest),
		CASE(hostile_host_contexts_are_survived),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
