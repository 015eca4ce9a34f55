/* SPDX-License-Identifier: MIT */
/* ending.c - signals as a descriptor. Threads: to be called before others are made. */
#include "preload/cmd/ending.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>

int ending_open(void)
{
	sigset_t set;
	int fd;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return fd >= 0 ? fd : -errno;
}

bool ending_came(int fd, int milliseconds)
{
	struct pollfd end = { .fd = fd, .events = POLLIN };

	return poll(&end, 1, milliseconds) > 0;
}
