/* SPDX-License-Identifier: MIT */
/*
 * errnos.c - an import that fails again and again and looks at errno, or reads the clock through
 * the vDSO. Arguments: the guest, `open` or `clock`, CPU ms.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "guest.h"

static unsigned long calls, wrong;

static void opens(void)
{
	for (int i = 0; i < 1000; i++) {
		errno = 0;
		calls++;
		wrong += open("/nonexistent/guestprof", O_RDONLY) != -1 || errno != ENOENT;
		/* An error that stays, while nothing is called. */
		errno = 77;
		for (volatile int spin = 0; spin < 200; spin++)
			continue;
		wrong += errno != 77;
	}
}

static void clocks(void)
{
	struct timespec now;

	for (int i = 0; i < 1000; i++) {
		calls++;
		wrong += clock_gettime(CLOCK_MONOTONIC, &now) != 0;
	}
}

int main(int argc, char **argv)
{
	guest_expect(argc == 4, "usage: errnos GUEST open|clock CPU_MS");
	guest_import(strcmp(argv[2], "open") == 0 ? opens : clocks);
	guest_load(argv[1]);
	guest_burn((unsigned int)atoi(argv[3]));
	printf("%lu wrong, %s\n", wrong, calls > 0 ? "some calls" : "no calls");
	return 0;
}
