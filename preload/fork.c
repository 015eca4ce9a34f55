/* SPDX-License-Identifier: MIT */
/*
 * fork.c - pthread_atfork: our locks are taken, our thread stands still, our signal is blocked.
 *
 * Blocking the signal around fork() spares a large process whose clone() would be interrupted for
 * ever by a fast clock. In the child there is one thread, and not ours.
 */
#include "preload/fork.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "preload/base/state.h"
#include "preload/exec.h"
#include "preload/hook/hook.h"
#include "preload/lifecycle.h"
#include "preload/load/load.h"
#include "preload/sampler/sampler.h"
#include "preload/turn.h"
#include "preload/unwind/unwind.h"
#include "preload/worker.h"

/* The forking thread's; another thread that forks at the same time has its own. */
static __thread __attribute__((tls_model("initial-exec"))) struct {
	sigset_t mask;
	bool is_masked, worker_stands;
} here;

/* Past our own wrapper: the clock need not stand still, and a tick may wait. */
static void set_mask(int how, const sigset_t *set, sigset_t *old)
{
	syscall(SYS_rt_sigprocmask, how, set, old, _NSIG / 8);
}

static void before(void)
{
	int saved_errno = errno;
	sigset_t ours;

	here.is_masked = atomic_load(&state.sampling);
	if (here.is_masked) {
		sigemptyset(&ours);
		sigaddset(&ours, sampler_info().signal);
		/* Alone it would look as if this thread waited for it (signal_leave_urgent()). */
		sigaddset(&ours, SIGPROF);
		set_mask(SIG_BLOCK, &ours, &here.mask);
	}
	here.worker_stands = turn_fork_prepare();
	load_fork_prepare();
	unwind_before_fork();
	errno = saved_errno;
}

static void unmask(void)
{
	if (here.is_masked)
		set_mask(SIG_SETMASK, &here.mask, NULL);
}

static void in_parent(void)
{
	int saved_errno = errno;

	unwind_after_fork_in_parent();
	load_fork_parent();
	turn_fork_parent();
	unmask();
	errno = saved_errno;
}

static void in_child(void)
{
	int saved_errno = errno;

	hook_fork_child();
	unwind_after_fork();
	load_fork_child();
	worker_fork_child(here.worker_stands);
	exec_fork_child();
	/* Before the clock is armed: a thread that blocks its signal gets none. */
	unmask();
	if (here.worker_stands)
		lifecycle_restart_in_child();
	else
		lifecycle_give_up_in_child();
	errno = saved_errno;
}

void fork_watch(void)
{
	pthread_atfork(before, in_parent, in_child);
}
