/* SPDX-License-Identifier: MIT */
/* progress.c - a bar on the terminal, ten times a second. Threads: what draws is one of its own. */
#include "preload/cmd/progress.h"

#include "preload/base/clock.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { BAR = 30, BLOCK = 6 };

static const uint64_t SECOND_NS = 1000 * 1000 * 1000, FRAME_NS = 100 * 1000 * 1000;

static struct {
	pthread_mutex_t lock; /* guards all below, and held while somebody else writes */
	pthread_cond_t wake;  /* of the thread, before its time: the work is over */
	pthread_t thread;
	const char *what;
	uint64_t total, done, start_ns;
	bool is_on, is_shown;
} self = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* Part of the whole, or a block that goes to and fro. */
static void fill_bar(char *bar, uint64_t passed_ns)
{
	int at = (int)(passed_ns / FRAME_NS % (2 * (BAR - BLOCK)));

	memset(bar, ' ', BAR);
	bar[BAR] = '\0';
	if (self.total != 0)
		memset(bar, '#', (size_t)(BAR * self.done / self.total));
	else
		memset(bar + (at <= BAR - BLOCK ? at : 2 * (BAR - BLOCK) - at), '#', BLOCK);
}

static void show(uint64_t passed_ns)
{
	char bar[BAR + 1], steps[64] = "";

	fill_bar(bar, passed_ns);
	if (self.total != 0)
		snprintf(steps, sizeof(steps), " %" PRIu64 " of %" PRIu64 ",", self.done,
			 self.total);
	fprintf(stderr, "\r%s [%s]%s %" PRIu64 " s ", self.what, bar, steps, passed_ns / SECOND_NS);
	fflush(stderr);
	self.is_shown = true;
}

static void *draw(void *unused)
{
	uint64_t next_ns;

	(void)unused;
	pthread_mutex_lock(&self.lock);
	next_ns = self.start_ns + SECOND_NS;
	while (self.is_on) {
		struct timespec until = { .tv_sec = (time_t)(next_ns / SECOND_NS),
					  .tv_nsec = (long)(next_ns % SECOND_NS) };
		uint64_t now_ns;

		pthread_cond_timedwait(&self.wake, &self.lock, &until);
		now_ns = clock_ns(CLOCK_MONOTONIC);
		if (!self.is_on || now_ns < next_ns)
			continue;
		show(now_ns - self.start_ns);
		next_ns = now_ns + FRAME_NS;
	}
	pthread_mutex_unlock(&self.lock);
	return NULL;
}

void progress_begin(const char *what, uint64_t total)
{
	pthread_condattr_t monotonic;

	if (isatty(STDERR_FILENO) != 1 || self.is_on)
		return;
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&self.wake, &monotonic);
	pthread_condattr_destroy(&monotonic);
	self.what = what;
	self.total = total;
	self.done = 0;
	self.start_ns = clock_ns(CLOCK_MONOTONIC);
	/* before the thread is there to see it */
	self.is_on = true;
	if (pthread_create(&self.thread, NULL, draw, NULL) == 0)
		return;
	self.is_on = false;
	pthread_cond_destroy(&self.wake);
}

void progress_step(void)
{
	pthread_mutex_lock(&self.lock);
	if (self.done < self.total)
		self.done++;
	pthread_mutex_unlock(&self.lock);
}

/* Back to the line's start, and erase it (ECMA-48, EL). The lock is held. */
static void hide(void)
{
	if (self.is_shown)
		fputs("\r\033[K", stderr);
	self.is_shown = false;
}

void progress_pause(void)
{
	pthread_mutex_lock(&self.lock);
	hide();
}

void progress_resume(void)
{
	pthread_mutex_unlock(&self.lock);
}

void progress_end(void)
{
	if (!self.is_on)
		return;
	pthread_mutex_lock(&self.lock);
	self.is_on = false;
	hide();
	pthread_cond_signal(&self.wake);
	pthread_mutex_unlock(&self.lock);
	pthread_join(self.thread, NULL);
	pthread_cond_destroy(&self.wake);
}
