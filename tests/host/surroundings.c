/* SPDX-License-Identifier: MIT */
/* surroundings.c - prints what a profiler must leave alone: descriptors, signals, mask. */
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host.h"

static void print_descriptors(void)
{
	DIR *directory = opendir("/proc/self/fd");
	struct dirent *entry;
	bool open[256] = { 0 };

	while (directory != NULL && (entry = readdir(directory)) != NULL) {
		long fd = strtol(entry->d_name, NULL, 10);

		if (entry->d_name[0] != '.' && fd != dirfd(directory) && fd < 256)
			open[fd] = true;
	}
	if (directory != NULL)
		closedir(directory);
	printf("descriptors:");
	for (int fd = 0; fd < 256; fd++)
		if (open[fd])
			printf(" %d", fd);
	printf("\n");
}

static void print_signals(void)
{
	sigset_t blocked;

	sigemptyset(&blocked);
	sigprocmask(SIG_BLOCK, NULL, &blocked);
	printf("signals:");
	for (int signal_number = 1; signal_number < 65; signal_number++) {
		struct sigaction action;

		if (sigaction(signal_number, NULL, &action) != 0)
			continue;
		if (action.sa_handler == SIG_IGN)
			printf(" %d ignored", signal_number);
		else if (action.sa_handler != SIG_DFL)
			printf(" %d handled (flags %x)", signal_number, (unsigned)action.sa_flags);
		if (sigismember(&blocked, signal_number) == 1)
			printf(" %d blocked", signal_number);
	}
	printf("\n");
}

void surroundings_print(void)
{
	print_descriptors();
	print_signals();
}
