/* SPDX-License-Identifier: MIT */
/*
 * traps.c - a guest that traps in every way, under a host's own chain of fault handlers. Arguments:
 * the guest, rounds. The host faults on its own too: its handler must see the address.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "guest.h"

static const char *const ways[] = { "unreachable", "bounds", "divide", "stack" };
static struct sigaction engines;
static sigjmp_buf back;
static char *volatile nowhere;
static volatile bool is_ours;
static int own_faults, wrong_addresses;

/* In front of the engine's handler, which it calls for what is not this program's. */
static void on_fault(int signo, siginfo_t *info, void *context)
{
	if (is_ours) {
		own_faults++;
		wrong_addresses += info->si_addr != (void *)nowhere;
		siglongjmp(back, 1);
	}
	if ((engines.sa_flags & SA_SIGINFO) != 0 && engines.sa_sigaction != NULL)
		engines.sa_sigaction(signo, info, context);
	else
		signal(signo, SIG_DFL);
}

static void fault(void)
{
	is_ours = true;
	if (sigsetjmp(back, 1) == 0)
		*nowhere = 1;
	is_ours = false;
}

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_sigaction = on_fault,
				    .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER };
	int rounds, trapped = 0;

	guest_expect(argc == 3, "usage: traps GUEST ROUNDS");
	rounds = atoi(argv[2]);
	guest_load(argv[1]);
	guest_burn(20);
	nowhere = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	sigaction(SIGSEGV, &action, &engines);
	for (int i = 0; i < rounds; i++) {
		for (size_t w = 0; w < sizeof(ways) / sizeof(ways[0]); w++)
			trapped += w == 3 && i % 50 != 0 ? 1 : guest_traps(ways[w], i);
		fault();
		guest_traps("run", 2);
	}
	printf("traps %d, own faults %d, wrong addresses %d\n", trapped, own_faults,
	       wrong_addresses);
	guest_burn(300);
	return 0;
}
