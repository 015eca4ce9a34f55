/* SPDX-License-Identifier: MIT */
/* front.c - notes what the host has set, and does it. Threads, signals: as front.h says. */
#include "preload/sampler/front.h"

#include <sys/syscall.h>
#include <unistd.h>

const int front_signals[FRONT_COUNT] = { SIGPROF, SIGVTALRM, SIGSTKFLT, SIGIO, SIGURG };

static struct {
	struct front fronts[FRONT_COUNT]; /* in that order */
} self;

/* As in signal.c: the name that is not wrapped. */
int __sigaction(int signo, const struct sigaction *act, struct sigaction *old);

struct front *front_of(int signo)
{
	for (size_t i = 0; i < FRONT_COUNT; i++) {
		if (front_signals[i] == signo)
			return &self.fronts[i];
	}
	return NULL;
}

bool front_is_there(struct front *front)
{
	/* acquire: pairs with signal.c, where a signal is taken */
	return front != NULL && atomic_load_explicit(&front->is_there, memory_order_acquire);
}

void front_note(struct front *front, const struct sigaction *action)
{
	unsigned int next = atomic_load_explicit(&front->latest, memory_order_relaxed) + 1;
	struct front_slot *slot = &front->slots[next % FRONT_SLOTS];

	slot->action = *action;
	atomic_store_explicit(&slot->spent, false, memory_order_relaxed);
	/* release: pairs with latest_of() */
	atomic_store_explicit(&front->latest, next, memory_order_release);
}

static struct front_slot *latest_of(struct front *front)
{
	/* acquire: pairs with front_note() */
	return &front->slots[atomic_load_explicit(&front->latest, memory_order_acquire) %
			     FRONT_SLOTS];
}

struct sigaction front_action(struct front *front)
{
	struct front_slot *slot = latest_of(front);
	struct sigaction action = slot->action;

	if (atomic_load_explicit(&slot->spent, memory_order_relaxed))
		action.sa_handler = SIG_DFL;
	return action;
}

/* Whatever SA_SIGINFO says: both kinds of handler share one place, where the kernel looks. */
bool front_is_unused(const struct sigaction *action)
{
	return action->sa_handler == SIG_DFL || action->sa_handler == SIG_IGN;
}

/*
 * What the default does: end the process; nothing for SIGURG. Only for signals that someone sent on
 * purpose; one of perf_event's that came late must not.
 */
static void act_by_default(int signo, const siginfo_t *info)
{
	struct sigaction standard = { .sa_handler = SIG_DFL };

	if (signo == SIGURG || (info->si_code >= POLL_IN && info->si_code <= POLL_HUP))
		return;
	__sigaction(signo, &standard, NULL);
	/* Pending until our handler returns, then deadly. */
	syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), signo);
}

/* The mask that the kernel would have set: the thread's own, the action's, and the signal. */
static void set_host_mask(int signo, const struct sigaction *action, const ucontext_t *context)
{
	sigset_t mask;

	sigorset(&mask, &context->uc_sigmask, &action->sa_mask);
	if ((action->sa_flags & SA_NODEFER) == 0)
		sigaddset(&mask, signo);
	/* Not pthread_sigmask: newer than our glibc floor. sigreturn sets the mask back. */
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, &mask, NULL, _NSIG / 8);
}

void front_deliver(int signo, siginfo_t *info, void *context)
{
	struct front_slot *slot = latest_of(front_of(signo));
	struct sigaction action = slot->action;
	bool resets = (action.sa_flags & SA_RESETHAND) != 0;

	if (action.sa_handler == SIG_IGN)
		return;
	if (action.sa_handler == SIG_DFL ||
	    (resets && atomic_exchange_explicit(&slot->spent, true, memory_order_relaxed))) {
		act_by_default(signo, info);
		return;
	}
	set_host_mask(signo, &action, context);
	if ((action.sa_flags & SA_SIGINFO) != 0)
		action.sa_sigaction(signo, info, context);
	else
		action.sa_handler(signo);
}
