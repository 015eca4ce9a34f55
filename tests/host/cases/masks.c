/* SPDX-License-Identifier: MIT */
/*
 * masks.c - threads that block all signals and then look for them: by sigpending(), sigtimedwait(),
 * a signalfd; `urgent`: that block SIGURG alone. Arguments: the guest, the way of blocking, what.
 * Prints what was seen.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "guest.h"

enum { WINDOWS = 12, BLOCKED_MS = 60, OPEN_MS = 60, SHORT_WINDOWS = 2000 };

static sigset_t all;
static int seen_pending, seen_waiting, seen_readable;
static const char *way;

static void set_mask(int how, const sigset_t *set, sigset_t *old)
{
	if (strcmp(way, "sigprocmask") == 0)
		guest_expect(sigprocmask(how, set, old) == 0, "sigprocmask");
	else
		guest_expect(pthread_sigmask(how, set, old) == 0, "pthread_sigmask");
}

static void look(int fd)
{
	const struct timespec no_time = { 0 };
	struct signalfd_siginfo info;
	sigset_t pending;

	sigemptyset(&pending);
	sigpending(&pending);
	for (int signo = 1; signo < 32; signo++)
		seen_pending += sigismember(&pending, signo) == 1;
	seen_readable += read(fd, &info, sizeof(info)) > 0;
	seen_waiting += sigtimedwait(&all, NULL, &no_time) > 0;
}

/* Blocks, burns, looks, and opens again. */
static void *windows(void *unused)
{
	int fd = signalfd(-1, &all, SFD_NONBLOCK | SFD_CLOEXEC);
	sigset_t before;

	guest_burn(OPEN_MS);
	for (int i = 0; i < WINDOWS; i++) {
		set_mask(i % 2 == 0 ? SIG_BLOCK : SIG_SETMASK, &all, &before);
		guest_burn(BLOCKED_MS);
		look(fd);
		if (i % 3 == 0)
			set_mask(SIG_UNBLOCK, &all, NULL);
		else
			set_mask(SIG_SETMASK, &before, NULL);
		guest_burn(OPEN_MS);
	}
	close(fd);
	return unused;
}

/* As libraries do around a few calls. The clock must not lose its place each time. */
static void *short_windows(void *unused)
{
	uint64_t end;
	sigset_t before;

	for (int i = 0; i < SHORT_WINDOWS; i++) {
		set_mask(SIG_SETMASK, &all, &before);
		guest_traps("run", 1);
		set_mask(SIG_SETMASK, &before, NULL);
		guest_traps("run", 9);
	}
	end = guest_cpu_ms() + 600;
	while (guest_cpu_ms() < end) {
		set_mask(SIG_SETMASK, &all, &before);
		set_mask(SIG_SETMASK, &before, NULL);
		guest_traps("run", 9);
	}
	return unused;
}

static void *born_blocked(void *unused)
{
	int fd = signalfd(-1, &all, SFD_NONBLOCK | SFD_CLOEXEC);

	guest_burn(200);
	look(fd);
	close(fd);
	return unused;
}

/* As PostgreSQL does, which wakes its processes by it. */
static void *waits_for_urgent(void *unused)
{
	int fd;

	sigemptyset(&all);
	sigaddset(&all, SIGURG);
	guest_burn(100);
	set_mask(SIG_BLOCK, &all, NULL);
	fd = signalfd(-1, &all, SFD_NONBLOCK | SFD_CLOEXEC);
	guest_burn(600);
	look(fd);
	close(fd);
	return unused;
}

static void run(void *(*body)(void *))
{
	pthread_t thread;

	guest_expect(pthread_create(&thread, NULL, body, NULL) == 0, "no thread");
	pthread_join(thread, NULL);
}

int main(int argc, char **argv)
{
	sigset_t before;

	guest_expect(argc == 4, "usage: masks GUEST WAY WHAT");
	way = argv[2];
	sigfillset(&all);
	guest_load(argv[1]);
	guest_burn(20);
	if (strcmp(argv[3], "windows") == 0) {
		run(windows);
		windows(NULL);
	} else if (strcmp(argv[3], "short") == 0) {
		run(short_windows);
	} else if (strcmp(argv[3], "urgent") == 0) {
		run(waits_for_urgent);
	} else {
		set_mask(SIG_SETMASK, &all, &before);
		run(born_blocked);
		set_mask(SIG_SETMASK, &before, NULL);
	}
	printf("pending %d, waited for %d, readable %d\n", seen_pending, seen_waiting,
	       seen_readable);
	return 0;
}
