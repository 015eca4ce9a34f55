/* SPDX-License-Identifier: MIT */
/*
 * short_lives.c - threads that live for some milliseconds and end in every way, one after the
 * other, each with a guest. Arguments: the guest, how many.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "guest.h"

static __thread char touched_late[4096];

static void *live(void *number)
{
	intptr_t i = (intptr_t)number;

	guest_burn(5);
	touched_late[i % 4096]++;
	if (i % 3 == 1)
		pthread_exit(number);
	if (i % 3 == 2)
		pthread_testcancel();
	return number;
}

int main(int argc, char **argv)
{
	int ended = 0;

	guest_expect(argc == 3, "usage: short_lives GUEST COUNT");
	guest_load(argv[1]);
	guest_burn(20);
	for (intptr_t i = 0; i < atoi(argv[2]); i += 2) {
		pthread_t pair[2];

		for (int j = 0; j < 2; j++)
			guest_expect(pthread_create(&pair[j], NULL, live, (void *)(i + j)) == 0,
				     "a thread");
		if (i % 3 == 2)
			pthread_cancel(pair[0]);
		for (int j = 0; j < 2; j++)
			ended += pthread_join(pair[j], NULL) == 0;
	}
	printf("%d threads ended\n", ended);
	return 0;
}
