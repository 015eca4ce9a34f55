/* SPDX-License-Identifier: MIT */
/*
 * unwind.c - the room's door: what is known of code is brought up to date, then the stack is
 * climbed.
 *
 * Threads: ours only. The lock is free but for a fork, which waits with it until neither libunwind
 * nor the loader is in use by us.
 */
#include "preload/unwind/unwind.h"

#include <limits.h>
#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include "preload/unwind/cfi.h"
#include "preload/unwind/cfirow.h"
#include "preload/unwind/climb.h"
#include "preload/unwind/code.h"
#include "preload/unwind/fde.h"
#include "preload/unwind/images.h"
#include "preload/unwind/objects.h"
#include "preload/unwind/remote.h"

enum { FORK_WAIT_NS = 100 * 1000 * 1000, YIELD_NS = 50 * 1000, MAX_YIELDS = 4000 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool locked_for_fork; /* written by the thread that forks, under the lock */
static atomic_int forks_waiting;

static struct {
	enum unwinder chosen;
	bool is_started, has_given_up;
	uint64_t missing; /* in the last walk */
} self;

static void flush(void)
{
	remote_flush();
	cfi_flush();
	code_flush();
	images_flushed();
	objects_flushed();
}

static enum unwind_end climb_now(struct climb *climb)
{
	bool objects_changed = objects_refresh();
	enum unwind_end end;

	if (objects_changed || images_stale(climb->input->generation))
		flush();
	end = climb_all(climb);
	if (objects_confirm())
		flush();
	return end;
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
	self.is_started = true;
	pthread_mutex_unlock(&lock);
	return result;
}

void unwind_choose(enum unwinder unwinder)
{
	self.chosen = unwinder;
}

uint64_t unwind_missing(void)
{
	uint64_t missing = self.missing;

	self.missing = 0;
	return missing;
}

enum unwind_end unwind(const struct unwind_input *input, struct unwind_frame *frames, size_t max,
		       size_t *count)
{
	struct climb climb = {
		.input = input,
		.unwinder = self.chosen,
		.frames = frames,
		.max = max,
	};
	enum unwind_end end = UNWIND_UNAVAILABLE;

	let_forks_pass();
	pthread_mutex_lock(&lock);
	if (self.is_started && !self.has_given_up)
		end = climb_now(&climb);
	pthread_mutex_unlock(&lock);
	self.missing = climb.missing;
	*count = climb.count;
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
	if (consistent) {
		flush();
	} else {
		self.has_given_up = true;
		remote_give_up();
	}
}

/* The loader has no name for the program. */
static const char *program_path(void)
{
	static char path[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);

	path[length > 0 ? length : 0] = '\0';
	return path;
}

bool unwind_find_object(uint64_t pc, struct unwind_object *out)
{
	const struct object *object;

	pthread_mutex_lock(&lock);
	if (objects_refresh())
		flush();
	object = objects_find(pc);
	pthread_mutex_unlock(&lock);
	if (object == NULL)
		return false;
	*out = (struct unwind_object){
		.path = object->name[0] != '\0' ? object->name : program_path(),
		.base = object->place.base,
		.low = object->place.low,
		.is_gone = object->gone,
	};
	return true;
}

uint64_t unwind_function_start(uint64_t pc)
{
	struct fde_place place;
	uint64_t start = 0;
	uintptr_t fde;

	pthread_mutex_lock(&lock);
	if (objects_refresh())
		flush();
	if (fde_find(pc, UINT64_MAX - 1, &place, &fde))
		start = cfirow_start(pc, &place, fde);
	pthread_mutex_unlock(&lock);
	return start;
}

const char *unwind_object_name(uint64_t pc, uintptr_t *load_base)
{
	struct unwind_object object;

	if (!unwind_find_object(pc, &object))
		return NULL;
	*load_base = object.base;
	return object.path;
}
