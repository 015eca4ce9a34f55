/* SPDX-License-Identifier: MIT */
/* askers.c - threads that take the next number until there is none. Threads: any. */
#include "preload/cmd/fleet/askers.h"

#include "preload/base/clock.h"

#include <pthread.h>
#include <stdatomic.h>

struct round {
	atomic_size_t next;
	size_t count;
	uint64_t end_ns;
	void (*ask)(void *context, size_t number);
	void *context;
};

static void *ask_on(void *argument)
{
	struct round *round = argument;

	while (clock_ns(CLOCK_MONOTONIC) < round->end_ns) {
		size_t number = atomic_fetch_add(&round->next, 1);

		if (number >= round->count)
			break;
		round->ask(round->context, number);
	}
	return NULL;
}

void askers_run(size_t count, uint64_t patience_ns, void (*ask)(void *context, size_t number),
		void *context)
{
	struct round round = {
		.count = count,
		.end_ns = clock_ns(CLOCK_MONOTONIC) + patience_ns,
		.ask = ask,
		.context = context,
	};
	pthread_t others[ASKERS_MAX - 1];
	size_t wanted = count < ASKERS_MAX ? count : ASKERS_MAX, made = 0;

	while (made + 1 < wanted && pthread_create(&others[made], NULL, ask_on, &round) == 0)
		made++;
	ask_on(&round);
	for (size_t i = 0; i < made; i++)
		pthread_join(others[i], NULL);
}
