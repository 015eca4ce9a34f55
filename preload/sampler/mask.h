/* SPDX-License-Identifier: MIT */
/*
 * mask.h - a thread that blocks the signal of its clock has no clock meanwhile.
 *
 * A tick that waits would be seen by the host: by sigpending(), by a signalfd, and by a sigwait()
 * for that signal, which would get ours in the place of what it waits for.
 */
#ifndef PRELOAD_SAMPLER_MASK_H
#define PRELOAD_SAMPLER_MASK_H

#include "preload/sig/thread.h"

/*
 * The calling thread is about to block the signal, or to become another program: its clock stands
 * still when this returns, and no tick is on its way. Async-signal-safe; keeps errno. Waits for our
 * thread where the clock is perf_event's, once in a thread's life: 0.1 s at most.
 */
void mask_pause(void);

/* It no longer blocks the signal. The same rules; waits for nobody. */
void mask_resume(void);

/* After mask_pause() for another reason: resumes unless MASK, the thread's own, holds the signal.
 */
void mask_resume_unless(const sigset_t *mask);

/* Our thread, under the sampler's lock: closes what THREAD waits for in mask_pause(). */
void mask_serve(struct thread *thread);

/* In the child of a fork: THREAD's timers were the parent's. */
void mask_forget(struct thread *thread);

#endif /* PRELOAD_SAMPLER_MASK_H */
