/* SPDX-License-Identifier: MIT */
/*
 * peer.c - a preload that samples as others do: a SIGPROF handler that unwinds, 1,000 times a
 * second of the process's CPU time.
 *
 * Built twice: by libunwind's unw_backtrace() (USE_LIBUNWIND, linked with it), and by the
 * _Unwind_Backtrace() of libgcc. It records nothing; scripts/bench shows how soon a host that loads
 * libraries and throws stands still with it.
 */
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/time.h>

#ifdef USE_LIBUNWIND
/* libunwind.h: fills BUFFER with return addresses of the calling thread. */
int unw_backtrace(void **buffer, int size);
#else
#include <unwind.h>
#endif

enum { DEPTH = 64, PERIOD_US = 1000 };

static volatile uintptr_t last;

#ifdef USE_LIBUNWIND
static void unwind(void)
{
	void *frames[DEPTH];
	int count = unw_backtrace(frames, DEPTH);

	last = count > 0 ? (uintptr_t)frames[count - 1] : 0;
}
#else
static _Unwind_Reason_Code note(struct _Unwind_Context *context, void *depth)
{
	last = _Unwind_GetIP(context);
	return ++*(int *)depth == DEPTH ? _URC_END_OF_STACK : _URC_NO_REASON;
}

static void unwind(void)
{
	int depth = 0;

	_Unwind_Backtrace(note, &depth);
}
#endif

static void on_signal(int signo, siginfo_t *info, void *context)
{
	(void)signo, (void)info, (void)context;
	unwind();
}

__attribute__((constructor)) static void start(void)
{
	struct sigaction action = { .sa_sigaction = on_signal,
				    .sa_flags = SA_SIGINFO | SA_RESTART };
	struct itimerval timer = {
		.it_interval = { .tv_usec = PERIOD_US },
		.it_value = { .tv_usec = PERIOD_US },
	};

	unwind(); /* what is set up at the first use is set up here */
	sigaction(SIGPROF, &action, NULL);
	setitimer(ITIMER_PROF, &timer, NULL);
}
