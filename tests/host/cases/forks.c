/* SPDX-License-Identifier: MIT */
/*
 * forks.c - a host that forks while it is sampled. Arguments: the guest, what the children do, how
 * many, MiB to touch first. Prints the longest fork in ms, and how the children ended.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "guest.h"

static void *burn_on(void *unused)
{
	guest_burn(60000);
	return unused;
}

static void be_child(const char *what)
{
	pid_t grandchild;

	if (strcmp(what, "leave") == 0)
		_exit(0);
	if (strcmp(what, "silent") == 0) /* no guest, but an ordinary end */
		exit(0);
	guest_burn(300);
	if (strcmp(what, "exit") == 0)
		exit(0);
	if (strcmp(what, "_exit") == 0)
		_exit(0);
	grandchild = fork();
	if (grandchild == 0) {
		guest_burn(300);
		exit(0);
	}
	guest_expect(waitpid(grandchild, NULL, 0) == grandchild, "wait");
	exit(0);
}

int main(int argc, char **argv)
{
	uint64_t longest = 0;
	int failed = 0;
	size_t size;
	pthread_t thread;

	guest_expect(argc == 5, "usage: forks GUEST WHAT COUNT MIB");
	guest_load(argv[1]);
	size = (size_t)atoi(argv[4]) << 20;
	if (size > 0) {
		char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
				    -1, 0);

		guest_expect(memory != MAP_FAILED, "memory");
		madvise(memory, size, MADV_NOHUGEPAGE);
		memset(memory, 1, size);
	}
	pthread_create(&thread, NULL, burn_on, NULL);
	guest_burn(100);
	for (int i = 0; i < atoi(argv[3]); i++) {
		uint64_t start = guest_now_ms();
		pid_t child = fork();
		int status = -1;

		if (child == 0)
			be_child(argv[2]);
		if (guest_now_ms() - start > longest)
			longest = guest_now_ms() - start;
		waitpid(child, &status, 0);
		failed += status != 0;
		guest_burn(5);
	}
	printf("failed %d\n", failed);
	fprintf(stderr, "longest %llu ms\n", (unsigned long long)longest);
	return 0;
}
