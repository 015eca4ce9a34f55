/* SPDX-License-Identifier: MIT */
/*
 * unwind.c - walks a slice from the leaf to the outermost frame.
 *
 * libunwind steps where there are tables, bridge.h where there are none; every frame is checked
 * before it is believed. Threads: ours only. The lock is free but for a fork, which waits with it
 * until neither libunwind nor the loader is in use by us.
 */
#include "preload/unwind/unwind.h"

#include <limits.h>
#include <pthread.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "preload/unwind/bridge.h"
#include "preload/unwind/code.h"
#include "preload/unwind/images.h"
#include "preload/unwind/objects.h"
#include "preload/unwind/registers_x86_64.h"
#include "preload/unwind/remote.h"

enum { FORK_WAIT_NS = 100 * 1000 * 1000, YIELD_NS = 50 * 1000, MAX_YIELDS = 4000 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool locked_for_fork; /* written by the thread that forks, under the lock */
static atomic_int forks_waiting;

/* A walk under way. The registers are those of the frame that was added last. */
struct walk {
	const struct unwind_input *input;
	struct unwind_frame *frames;
	size_t max, count;
	size_t doubtful; /* a frame whose return address follows no call; SIZE_MAX: none */
	uint64_t registers[UNWIND_REGISTERS];
	bool interrupted; /* that frame's pc was interrupted, not left by a call */
	bool sigreturn;	  /* that frame is the way back from a signal handler */
	bool has_cursor;  /* libunwind stands at that frame */
	enum unwind_end end;
};

static bool finish(struct walk *walk, enum unwind_end end)
{
	walk->end = end;
	return false;
}

/* Adds the frame that the registers describe. False when the walk is over. */
static bool add_frame(struct walk *walk)
{
	uint64_t pc = walk->registers[REGISTER_PC];

	if (walk->count == walk->max)
		return finish(walk, UNWIND_TOO_DEEP);
	walk->frames[walk->count++] = (struct unwind_frame){ .pc = pc };
	if (walk->input->stop != NULL && walk->input->stop(walk->input->context, pc))
		return finish(walk, UNWIND_STOPPED);
	return true;
}

/* The registers that calls preserve, as far as libunwind can tell them. */
static void take_registers(struct walk *walk)
{
	static const uint8_t preserved[] = { REGISTER_RBX, REGISTER_FRAME, REGISTER_R12, 13,
					     14,	   REGISTER_R15 };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(preserved); i++) {
		uint64_t *value = &walk->registers[preserved[i]];

		if (!remote_register(preserved[i], value))
			*value = 0;
	}
}

/*
 * Whether PC can be what called, or what was interrupted. One address without a call before it is
 * let through: the function at the bottom of a hand-made stack was never called. It must be the
 * last.
 */
static bool believe(struct walk *walk, uint64_t pc)
{
	bool interrupted = walk->sigreturn;

	walk->sigreturn = false;
	if (interrupted)
		return code_is_known(pc, walk->input->generation);
	if (code_follows_call(pc, walk->input->generation))
		return true;
	if (!code_is_known(pc, walk->input->generation) || walk->doubtful != SIZE_MAX)
		return false;
	walk->sigreturn = code_is_sigreturn(pc);
	if (!walk->sigreturn)
		walk->doubtful = walk->count;
	return true;
}

/* The walk went on to the caller, whose PC and STACK pointer these are. */
static bool arrive(struct walk *walk, uint64_t pc, uint64_t stack)
{
	bool from_signal = walk->sigreturn;

	if (walk->doubtful != SIZE_MAX)
		return finish(walk, UNWIND_BROKEN);
	/* a handler may run on a stack of its own, above or below */
	if (stack <= walk->registers[REGISTER_STACK] && !from_signal)
		return finish(walk, UNWIND_BROKEN);
	walk->frames[walk->count - 1].cfa = stack;
	if (pc == 0)
		return finish(walk, UNWIND_COMPLETE);
	if (!believe(walk, pc))
		return finish(walk, UNWIND_BROKEN);
	walk->interrupted = from_signal;
	walk->registers[REGISTER_PC] = pc;
	walk->registers[REGISTER_STACK] = stack;
	return add_frame(walk);
}

/* Over the frame without libunwind; END is the answer when that fails. */
static bool bridge(struct walk *walk, enum unwind_end end)
{
	uint64_t registers[UNWIND_REGISTERS];

	if (walk->has_cursor)
		take_registers(walk);
	walk->has_cursor = false;
	memcpy(registers, walk->registers, sizeof(registers));
	if (!bridge_step(walk->input, registers, walk->interrupted))
		return finish(walk, end);
	walk->registers[REGISTER_FRAME] = registers[REGISTER_FRAME];
	return arrive(walk, registers[REGISTER_PC], registers[REGISTER_STACK]);
}

static bool step_on(struct walk *walk)
{
	uint64_t pc, stack;

	if (!remote_register(REGISTER_PC, &pc) || !remote_register(REGISTER_STACK, &stack))
		return finish(walk, UNWIND_BROKEN);
	return arrive(walk, pc, stack);
}

/* It may have left the slice for the stack on which a signal was taken, or a fiber resumed. */
static bool stands_in_slice(const struct walk *walk)
{
	const struct unwind_input *input = walk->input;

	return walk->registers[REGISTER_STACK] - input->slice_address <= input->slice_size;
}

/* From the frame added last to its caller. False when the walk is over. */
static bool walk_on(struct walk *walk)
{
	uint64_t pc = walk->registers[REGISTER_PC];

	if (!walk->has_cursor) {
		if (!remote_begin(walk->registers, walk->interrupted ? pc : pc - 1))
			return bridge(walk, UNWIND_BROKEN);
		walk->has_cursor = true;
	}
	switch (remote_step()) {
	case REMOTE_STEPPED:
		return step_on(walk);
	case REMOTE_OUTERMOST:
		walk->doubtful = SIZE_MAX;
		return finish(walk, UNWIND_COMPLETE);
	case REMOTE_SLICE_END:
		return finish(walk, UNWIND_SLICE_END);
	case REMOTE_NO_TABLE:
		return bridge(walk, UNWIND_NO_TABLE);
	case REMOTE_BROKEN:
		break;
	}
	return bridge(walk, stands_in_slice(walk) ? UNWIND_BROKEN : UNWIND_SLICE_END);
}

/*
 * Adds the leaf, and its caller where a return is next: Cranelift's tables know no epilogues, so
 * that they would skip it there.
 */
static bool start(struct walk *walk)
{
	uint64_t registers[UNWIND_REGISTERS];

	if (!add_frame(walk))
		return false;
	memcpy(registers, walk->registers, sizeof(registers));
	if (!code_is_image(registers[REGISTER_PC], walk->input->generation) ||
	    !bridge_at_return(walk->input, registers))
		return true;
	return arrive(walk, registers[REGISTER_PC], registers[REGISTER_STACK]);
}

static void flush(void)
{
	remote_flush();
	code_flush();
	images_flushed();
	objects_flushed();
}

static enum unwind_end walk_all(struct walk *walk)
{
	bool objects_changed = objects_refresh();

	if (objects_changed || images_stale(walk->input->generation))
		flush();
	remote_prepare(walk->input);
	if (start(walk)) {
		while (walk_on(walk))
			;
	}
	if (walk->doubtful != SIZE_MAX && walk->doubtful < walk->count)
		walk->count = walk->doubtful;
	if (objects_confirm())
		flush();
	return walk->end;
}

/* A mutex is not fair: without this a fork could wait for all samples of a drain. */
static void let_forks_pass(void)
{
	const struct timespec pause = { .tv_nsec = YIELD_NS };
	int i;

	for (i = 0; i < MAX_YIELDS && atomic_load(&forks_waiting) > 0; i++)
		nanosleep(&pause, NULL);
}

int unwind_start(void)
{
	int result;

	pthread_mutex_lock(&lock);
	result = remote_start();
	pthread_mutex_unlock(&lock);
	return result;
}

enum unwind_end unwind(const struct unwind_input *input, struct unwind_frame *frames, size_t max,
		       size_t *count)
{
	struct walk walk = {
		.input = input,
		.frames = frames,
		.max = max,
		.doubtful = SIZE_MAX,
		.interrupted = true,
	};
	enum unwind_end end = UNWIND_UNAVAILABLE;

	*count = 0;
	memcpy(walk.registers, input->registers, sizeof(walk.registers));
	let_forks_pass();
	pthread_mutex_lock(&lock);
	if (remote_is_open())
		end = walk_all(&walk);
	pthread_mutex_unlock(&lock);
	*count = walk.count;
	return end;
}

int unwind_add_image(uint32_t id, uintptr_t text, size_t text_size, const uint8_t *eh_frame,
		     size_t eh_frame_size, uintptr_t eh_frame_address, uint64_t born)
{
	struct fdetable_source source = {
		.bytes = eh_frame,
		.size = eh_frame_size,
		.address = eh_frame_address,
		.text = text,
		.text_size = text_size,
	};
	int result;

	pthread_mutex_lock(&lock);
	result = images_add(id, &source, born);
	pthread_mutex_unlock(&lock);
	return result;
}

void unwind_retire_image(uint32_t id, uint64_t died)
{
	pthread_mutex_lock(&lock);
	images_retire(id, died);
	pthread_mutex_unlock(&lock);
}

void unwind_forget_images(uint64_t oldest_generation)
{
	pthread_mutex_lock(&lock);
	images_forget(oldest_generation);
	pthread_mutex_unlock(&lock);
}

void unwind_before_fork(void)
{
	struct timespec deadline;

	clock_gettime(CLOCK_REALTIME, &deadline);
	deadline.tv_nsec += FORK_WAIT_NS;
	if (deadline.tv_nsec >= 1000000000) {
		deadline.tv_nsec -= 1000000000;
		deadline.tv_sec++;
	}
	atomic_fetch_add(&forks_waiting, 1);
	if (pthread_mutex_timedlock(&lock, &deadline) == 0)
		locked_for_fork = true;
	atomic_fetch_sub(&forks_waiting, 1);
}

void unwind_after_fork_in_parent(void)
{
	if (!locked_for_fork)
		return;
	locked_for_fork = false;
	pthread_mutex_unlock(&lock);
}

void unwind_after_fork(void)
{
	bool consistent = locked_for_fork || pthread_mutex_trylock(&lock) == 0;

	locked_for_fork = false;
	atomic_store(&forks_waiting, 0);
	pthread_mutex_init(&lock, NULL);
	/* else the parent's thread was in the middle of it, and is not here to finish */
	if (consistent)
		flush();
	else
		remote_give_up();
}

const char *unwind_object_name(uint64_t pc, uintptr_t *load_base)
{
	static char program[PATH_MAX];
	const struct object *object;
	ssize_t length;

	pthread_mutex_lock(&lock);
	if (objects_refresh())
		flush();
	object = objects_find(pc);
	pthread_mutex_unlock(&lock);
	if (object == NULL)
		return NULL;
	*load_base = object->place.base;
	if (object->name[0] != '\0')
		return object->name;
	/* the loader has no name for the program */
	length = readlink("/proc/self/exe", program, sizeof(program) - 1);
	program[length > 0 ? length : 0] = '\0';
	return program;
}
