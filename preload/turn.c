/* SPDX-License-Identifier: MIT */
/* turn.c - two locks: one while our thread is made, one while it works. Threads: any. */
#include "preload/turn.h"

#include <pthread.h>
#include <time.h>

enum { FORK_WAIT_NS = 200000000, SECOND_NS = 1000000000 };

static struct {
	pthread_mutex_t starting; /* guards is_started; taken before `turn` */
	bool is_started;
	pthread_mutex_t turn; /* held by our thread but while it sleeps */
} self = { .starting = PTHREAD_MUTEX_INITIALIZER, .turn = PTHREAD_MUTEX_INITIALIZER };

/* Whether the forking thread made our thread stand still. */
static __thread __attribute__((tls_model("initial-exec"))) bool holds_turn;

int turn_start(int (*create)(void))
{
	int error = 0;

	pthread_mutex_lock(&self.starting);
	if (!self.is_started) {
		error = create();
		self.is_started = error == 0;
	}
	pthread_mutex_unlock(&self.starting);
	return error;
}

/* Without the lock: asked at exit, on a thread that may have been stopped with it held. */
bool turn_has_thread(void)
{
	return self.is_started;
}

void turn_begin(void)
{
	pthread_mutex_lock(&self.turn);
}

void turn_end(void)
{
	pthread_mutex_unlock(&self.turn);
}

bool turn_fork_prepare(void)
{
	struct timespec until;

	/* Nobody starts our thread meanwhile: the parent's half must undo just what this one did.
	 */
	pthread_mutex_lock(&self.starting);
	if (!self.is_started)
		return true;
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += FORK_WAIT_NS;
	until.tv_sec += until.tv_nsec / SECOND_NS;
	until.tv_nsec %= SECOND_NS;
	holds_turn = pthread_mutex_timedlock(&self.turn, &until) == 0;
	return holds_turn;
}

void turn_fork_parent(void)
{
	if (holds_turn)
		pthread_mutex_unlock(&self.turn);
	holds_turn = false;
	pthread_mutex_unlock(&self.starting);
}

void turn_fork_child(void)
{
	pthread_mutex_init(&self.starting, NULL);
	pthread_mutex_init(&self.turn, NULL);
	holds_turn = false;
	self.is_started = false;
}
