/* SPDX-License-Identifier: MIT */
/*
 * signal.h - which signal the clocks send, and the host's own action for it.
 *
 * The host keeps what it would have without us: signals that are not our clocks' go to its action,
 * and what it asks or sets through libc is answered from our note of it. The handler is never
 * removed: a signal may still be on its way, and the default would end the process.
 */
#ifndef PRELOAD_SAMPLER_SIGNAL_H
#define PRELOAD_SAMPLER_SIGNAL_H

#include <signal.h>

#include "symtab/base.h"

/*
 * Installs handler_on_signal: for SIGPROF when it has its default action, else for another signal
 * below 32 that has, else for one that is ignored, else for SIGPROF in front of the host's handler.
 * Says in one line when it is not the first. Returns the signal's number, or negative errno.
 *
 * IS_FAST, for ticks of perf_event: SIGURG before all others, in the place of one that was taken
 * for a slow clock too. An exec keeps what is pending, and where the host makes that system call
 * itself nobody stops the clock before: by default SIGPROF and the others end the new program (7 of
 * 40 died at 4,000 Hz, 1 of 40 at 1,000), and SIGURG does nothing (0 of 40). Timers need no such
 * care: the kernel takes back their ticks. Hosts that use SIGURG themselves (Go's runtime by its
 * handler, PostgreSQL by blocking it for a signalfd) keep it: as with any other, and by
 * signal_leave_urgent().
 */
int signal_take(bool is_fast);

/*
 * The host waits for SIGURG by blocking it, and does not block SIGPROF: the clocks move to another
 * signal, and never come back. Any thread; not in a handler.
 */
void signal_leave_urgent(void);

/* The signal of now, which moves when the host begins to handle it; 0: none was taken yet. */
int signal_number(void);

/*
 * For the wrappers of sigaction and its relatives. When the host begins to handle the clocks'
 * signal they move to one that is free (signal_number(); our thread is woken, to arm them anew);
 * our handler stays in front of the host's, for ticks that are on their way. False: not our signal,
 * call the real one. True: done as the host asked; *OLD (may be NULL) is what it set before, ACT
 * (may be NULL) is noted.
 */
bool signal_host_action(int signo, const struct sigaction *act, struct sigaction *old);

/* A signal was taken, our handler is there for it, and the host's action for it is the default. */
bool signal_is_ours_alone(void);

/* Our handler runs on the alternate stack: a Go runtime is in the process, most likely. */
bool signal_is_on_alternate_stack(void);

/*
 * Now and then, on our thread: a host that sets handlers by system call (Go does) may have replaced
 * ours, which moves the clocks too; and a Go runtime that came later needs its handlers on the
 * alternate stack.
 */
void signal_check(void);

/*
 * An exec keeps what is ignored and resets what is handled: the signal is given back when the host
 * ignores it, and taken again when the exec failed. Async-signal-safe, also in a vfork child.
 */
void signal_before_exec(void);
void signal_after_failed_exec(void);

#endif /* PRELOAD_SAMPLER_SIGNAL_H */
