/* SPDX-License-Identifier: MIT */
/*
 * errand.c - a queue of jobs with one runner.
 *
 *   WAITING --our thread--> RUNNING --> DONE
 *      \---the sender's patience ends---> GIVEN UP
 *
 * Whoever moves a job out of WAITING owns what follows; the sender frees it.
 */
#include "preload/errand.h"

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "preload/base/clock.h"
#include "preload/base/state.h"

enum job_state { JOB_WAITING, JOB_RUNNING, JOB_DONE, JOB_GIVEN_UP };

struct job {
	struct job *next;
	void (*do_it)(void *argument);
	void *argument;
	atomic_int state;
};

static struct {
	pthread_mutex_t lock; /* guards queue, and moves out of WAITING */
	struct job *queue;    /* newest first */
	bool is_closed;
} self = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void wait_while(atomic_int *word, int value, uint64_t limit_ns)
{
	struct timespec limit = {
		.tv_sec = (time_t)(limit_ns / 1000000000u),
		.tv_nsec = (long)(limit_ns % 1000000000u),
	};

	syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, &limit, NULL, 0);
}

/* Takes JOB out of the queue. False when our thread has it already. */
static bool give_up(struct job *job)
{
	struct job **link = &self.queue;
	bool was_waiting;

	pthread_mutex_lock(&self.lock);
	was_waiting = atomic_load(&job->state) == JOB_WAITING;
	if (was_waiting) {
		while (*link != job)
			link = &(*link)->next;
		*link = job->next;
		atomic_store(&job->state, JOB_GIVEN_UP);
	}
	pthread_mutex_unlock(&self.lock);
	return was_waiting;
}

/* Until JOB is done, or given up at END_NS. */
static void wait_for(struct job *job, uint64_t end_ns)
{
	for (;;) {
		int seen = atomic_load_explicit(&job->state, memory_order_acquire);
		uint64_t now = clock_ns(CLOCK_MONOTONIC);

		if (seen == JOB_DONE || seen == JOB_GIVEN_UP)
			return;
		if (seen == JOB_WAITING && now >= end_ns && give_up(job))
			return;
		wait_while(&job->state, seen, now < end_ns ? end_ns - now : 1000000000u);
	}
}

/* False when nobody will come for it. */
static bool enqueue(struct job *job)
{
	bool is_closed;

	pthread_mutex_lock(&self.lock);
	is_closed = self.is_closed;
	if (!is_closed) {
		job->next = self.queue;
		self.queue = job;
	}
	pthread_mutex_unlock(&self.lock);
	return !is_closed;
}

int errand_send(void (*do_it)(void *argument), void *argument, uint64_t limit_ns)
{
	struct job *job = calloc(1, sizeof(*job));
	int result;

	if (job == NULL)
		return -ENOMEM;
	job->do_it = do_it;
	job->argument = argument;
	if (!enqueue(job)) {
		free(job);
		return -ESHUTDOWN;
	}
	if (state.wake != NULL)
		state.wake();
	wait_for(job, clock_ns(CLOCK_MONOTONIC) + limit_ns);
	result = atomic_load(&job->state) == JOB_DONE ? 0 : -ETIMEDOUT;
	free(job);
	return result;
}

/* The oldest job, marked as running. */
static struct job *next_job(void)
{
	struct job **link = &self.queue, *job;

	pthread_mutex_lock(&self.lock);
	while (*link != NULL && (*link)->next != NULL)
		link = &(*link)->next;
	job = *link;
	*link = NULL;
	if (job != NULL)
		atomic_store(&job->state, JOB_RUNNING);
	pthread_mutex_unlock(&self.lock);
	return job;
}

void errand_work(void)
{
	struct job *job;

	while ((job = next_job()) != NULL) {
		atomic_int *word = &job->state;

		job->do_it(job->argument);
		/* release: pairs with wait_for(); the job may be freed right after, its address is
		 * enough */
		atomic_store_explicit(word, JOB_DONE, memory_order_release);
		syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
	}
}

void errand_close(void)
{
	struct job *job, *next;

	pthread_mutex_lock(&self.lock);
	self.is_closed = true;
	for (job = self.queue; job != NULL; job = next) {
		next = job->next; /* its sender frees it as soon as it sees the state */
		atomic_store_explicit(&job->state, JOB_GIVEN_UP, memory_order_release);
		syscall(SYS_futex, &job->state, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
	}
	self.queue = NULL;
	pthread_mutex_unlock(&self.lock);
}

void errand_fork_child(void)
{
	self.is_closed = false;
	pthread_mutex_init(&self.lock, NULL);
	self.queue = NULL;
}
