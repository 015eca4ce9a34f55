/* SPDX-License-Identifier: MIT */
/* session.c - starts and stops the sampler, and with it recordings. Threads: as session.h says. */
#include "preload/session.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "preload/base/clock.h"
#include "preload/base/log.h"
#include "preload/base/state.h"
#include "preload/load/hostcalls.h"
#include "preload/load/parked.h"
#include "preload/output.h"
#include "preload/sampler/sampler.h"
#include "preload/sampler/waiting.h"
#include "preload/sig/handler.h"
#include "preload/spending.h"
#include "preload/wake.h"
#include "preload/worker.h"

static struct {
	pthread_mutex_t lock; /* guards all: the first guest comes on a host's thread */
	struct session now;
	uint64_t until_ns; /* CLOCK_MONOTONIC; 0: no end */
	atomic_bool has_ended;
} self = { .lock = PTHREAD_MUTEX_INITIALIZER };

void session_configure(const struct config *config)
{
	self.now = (struct session){
		.is_wanted = config->start,
		.hz = config->hz,
		.stacks = config->stacks,
		.since_unix_ns = clock_ns(CLOCK_REALTIME),
		.by = "the environment",
	};
}

/* What the handler reads, before it can run: rings are made by it too. */
static void set_up_handler(void)
{
	handler_setup.copy_slices = self.now.stacks != STACKS_GUEST;
	handler_setup.whole_stacks = self.now.stacks == STACKS_FULL;
	handler_setup.wake_word = wake_word();
}

/* Under the lock. */
static int begin(void)
{
	const struct config *config = config_current();
	uint32_t hz = self.now.hz;
	int error;

	set_up_handler();
	output_begin(hz, self.now.stacks);
	spending_start(hz);
	error = sampler_start(hz, config->memory / 2);
	if (error != 0)
		return error;
	if (config->wall)
		waiting_start(hz < WAITING_MAX_HZ ? hz : WAITING_MAX_HZ,
			      self.now.stacks == STACKS_FULL);
	self.now.runs = true;
	if (self.now.duration_ns != 0)
		self.until_ns = clock_ns(CLOCK_MONOTONIC) + self.now.duration_ns;
	atomic_store(&state.sampling, true);
	worker_sample();
	return 0;
}

void session_first_guest(void)
{
	int error;

	pthread_mutex_lock(&self.lock);
	self.now.has_guest = true;
	/* Also when nothing is sampled yet: who is in which guest by then is known. */
	error = self.now.is_wanted ? begin() : sampler_prepare();
	if (error == 0)
		atomic_store(&state.sampling, true);
	pthread_mutex_unlock(&self.lock);
	worker_start();
	if (error != 0)
		log_line(LOG_ERROR, "no samples will be taken: %s", strerror(-error));
}

/* Calls are counted, and waits of asynchronous ones timed, whether or not anybody wants to know. */
static void forget_until_now(void)
{
	if (hostcalls_are_exact())
		hostcalls_forget();
	parked_skip();
}

int session_start(const struct session *wish)
{
	int error = 0;

	pthread_mutex_lock(&self.lock);
	if (atomic_load(&self.has_ended)) {
		error = -ESHUTDOWN;
	} else if (self.now.is_wanted) {
		error = -EALREADY;
	} else {
		self.now.hz = wish->hz;
		self.now.stacks = wish->stacks;
		self.now.duration_ns = wish->duration_ns;
		self.now.since_unix_ns = clock_ns(CLOCK_REALTIME);
		snprintf(self.now.by, sizeof(self.now.by), "%s", wish->by);
		self.until_ns = 0;
		self.now.is_wanted = true;
		if (self.now.has_guest) {
			forget_until_now();
			error = begin();
		}
		self.now.is_wanted = error == 0;
	}
	pthread_mutex_unlock(&self.lock);
	return error;
}

int session_stop(void)
{
	bool was_wanted, ran;

	pthread_mutex_lock(&self.lock);
	was_wanted = self.now.is_wanted;
	ran = self.now.runs;
	self.now.is_wanted = self.now.runs = false;
	self.until_ns = 0;
	if (ran)
		sampler_stop();
	pthread_mutex_unlock(&self.lock);
	if (ran)
		worker_rest();
	return was_wanted ? 0 : -EALREADY;
}

void session_work(uint64_t now_ns)
{
	if (now_ns >= session_next_ns())
		session_stop();
}

uint64_t session_next_ns(void)
{
	uint64_t until_ns;

	pthread_mutex_lock(&self.lock);
	until_ns = self.until_ns;
	pthread_mutex_unlock(&self.lock);
	return until_ns != 0 ? until_ns : UINT64_MAX;
}

struct session session_now(void)
{
	struct session now;

	pthread_mutex_lock(&self.lock);
	now = self.now;
	pthread_mutex_unlock(&self.lock);
	return now;
}

/* Our thread may hold the lock, and start once more: it stops again before its end. */
void session_end(void)
{
	atomic_store(&self.has_ended, true);
	if (atomic_load(&state.sampling))
		sampler_stop();
}

void session_fork_child(void)
{
	pthread_mutex_init(&self.lock, NULL);
	atomic_store(&self.has_ended, false);
}
