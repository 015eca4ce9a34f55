/* SPDX-License-Identifier: MIT */
/*
 * signal.c - taking the clock signal without the host noticing.
 *
 * Threads: `lock` orders the writers of the host's action; handlers read it without. A slot is used
 * again only after SLOTS further changes, while a handler copies it within microseconds.
 */
#include "preload/sampler/signal.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "preload/base/log.h"
#include "preload/sig/handler.h"

enum { SLOTS = 64, MAX_RETAKES = 16 };

struct host_action {
	struct sigaction action;
	atomic_bool spent; /* SA_RESETHAND, and it has run */
};

static struct {
	int signo; /* 0: none taken */
	int retakes;
	int flags;	      /* of the installed action */
	pthread_mutex_t lock; /* signo's action in the kernel, slots, retakes */
	struct host_action slots[SLOTS];
	atomic_uint latest; /* changes so far; the slot is this modulo SLOTS */
} self = { .lock = PTHREAD_MUTEX_INITIALIZER };

/*
 * glibc's own name for sigaction since 2.0. The plain name is ours to wrap, and would answer us
 * with what it tells the host.
 */
int __sigaction(int signo, const struct sigaction *act, struct sigaction *old);

/* The first is what profilers use; the others only come when a program asks for them. */
static const int candidates[] = { SIGPROF, SIGVTALRM, SIGSTKFLT, SIGIO };

/* Whatever SA_SIGINFO says: both kinds of handler share one place, where the kernel looks. */
static bool is_unused(const struct sigaction *action)
{
	return action->sa_handler == SIG_DFL || action->sa_handler == SIG_IGN;
}

static bool is_our_handler(const struct sigaction *action)
{
	return (action->sa_flags & SA_SIGINFO) != 0 && action->sa_sigaction == handler_on_signal;
}

/*
 * Go handles SIGURG, its preemption signal, on the alternate stack in every build mode, and dies of
 * a handler that runs on a goroutine's stack. Elsewhere the alternate stack may be too small for
 * two.
 */
static bool needs_alternate_stack(const struct sigaction *host)
{
	struct sigaction urgent;

	if (!is_unused(host) && (host->sa_flags & SA_ONSTACK) != 0)
		return true;
	return __sigaction(SIGURG, NULL, &urgent) == 0 && !is_unused(&urgent) &&
	       (urgent.sa_flags & SA_ONSTACK) != 0;
}

/*
 * A host that handles the signal without SA_RESTART means it to interrupt. Our ticks hardly ever
 * do: they come while the thread uses the CPU.
 */
static int wanted_flags(const struct sigaction *host)
{
	bool interrupts = !is_unused(host) && (host->sa_flags & SA_RESTART) == 0;

	return SA_SIGINFO | (interrupts ? 0 : SA_RESTART) |
	       (needs_alternate_stack(host) ? SA_ONSTACK : 0);
}

static int install(int signo, int flags)
{
	/* A fault in our handler with its signal blocked would kill without the host's say. */
	static const int synchronous[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGSYS };
	struct sigaction action = { .sa_sigaction = handler_on_signal, .sa_flags = flags };

	sigfillset(&action.sa_mask);
	for (size_t i = 0; i < ARRAY_SIZE(synchronous); i++)
		sigdelset(&action.sa_mask, synchronous[i]);
	if (__sigaction(signo, &action, NULL) != 0)
		return -errno;
	self.flags = flags;
	return 0;
}

static void note_host_action(const struct sigaction *action)
{
	unsigned int next = atomic_load_explicit(&self.latest, memory_order_relaxed) + 1;
	struct host_action *slot = &self.slots[next % SLOTS];

	slot->action = *action;
	atomic_store_explicit(&slot->spent, false, memory_order_relaxed);
	/* release: pairs with host_action() */
	atomic_store_explicit(&self.latest, next, memory_order_release);
}

static struct host_action *host_action(void)
{
	/* acquire: pairs with note_host_action() */
	return &self.slots[atomic_load_explicit(&self.latest, memory_order_acquire) % SLOTS];
}

static int take(int signo, const struct sigaction *host)
{
	int err;

	/* Before the handler can run: a foreign signal may come at once. */
	note_host_action(host);
	handler_setup.foreign = signal_foreign;
	err = install(signo, wanted_flags(host));
	if (err == 0)
		self.signo = signo;
	return err != 0 ? err : signo;
}

static int take_with(sighandler_t wanted)
{
	struct sigaction host;

	for (size_t i = 0; i < ARRAY_SIZE(candidates); i++) {
		int signo = candidates[i];

		if (__sigaction(signo, NULL, &host) != 0 || host.sa_handler != wanted)
			continue;
		if (signo != SIGPROF)
			log_line(LOG_INFO,
				 "the host handles or ignores SIGPROF; sampling with signal %d",
				 signo);
		return take(signo, &host);
	}
	return -EBUSY;
}

/* Programs that the host starts inherit that a signal is ignored, but not that we handle it. */
static int take_unused(void)
{
	int signo = take_with(SIG_DFL);

	return signo != -EBUSY ? signo : take_with(SIG_IGN);
}

int signal_take(void)
{
	struct sigaction host;
	int signo;

	pthread_mutex_lock(&self.lock);
	signo = self.signo != 0 ? self.signo : take_unused();
	if (signo == -EBUSY && __sigaction(SIGPROF, NULL, &host) == 0) {
		log_line(LOG_INFO, "the host handles every signal that could serve; its SIGPROF "
				   "handler gets what is not ours");
		signo = take(SIGPROF, &host);
	}
	pthread_mutex_unlock(&self.lock);
	return signo;
}

bool signal_host_action(int signo, const struct sigaction *act, struct sigaction *old)
{
	struct sigaction before, wanted;
	int flags;

	if (signo != self.signo || signo == 0)
		return false;
	/* A vfork child has our memory, but signals of its own. */
	if (handler_setup.pid != 0 && (pid_t)syscall(SYS_getpid) != handler_setup.pid)
		return false;
	/* ACT and OLD may be one object. */
	if (act != NULL)
		wanted = *act;
	pthread_mutex_lock(&self.lock);
	before = host_action()->action;
	if (atomic_load_explicit(&host_action()->spent, memory_order_relaxed))
		before.sa_handler = SIG_DFL;
	if (act != NULL) {
		note_host_action(&wanted);
		flags = wanted_flags(&wanted);
		if (flags != self.flags)
			install(signo, flags);
	}
	pthread_mutex_unlock(&self.lock);
	if (old != NULL)
		*old = before;
	return true;
}

void signal_check(void)
{
	struct sigaction now;
	int flags;

	pthread_mutex_lock(&self.lock);
	if (self.signo != 0 && self.retakes < MAX_RETAKES &&
	    __sigaction(self.signo, NULL, &now) == 0) {
		bool replaced = !is_our_handler(&now);

		if (replaced) {
			note_host_action(&now);
			self.retakes++;
		}
		flags = wanted_flags(&host_action()->action);
		if (replaced || flags != self.flags)
			install(self.signo, flags);
	}
	pthread_mutex_unlock(&self.lock);
}

/*
 * What the default does: end the process. Only for signals that someone sent on purpose; one of
 * perf_event's that came late must not.
 */
static void act_by_default(int signo, const siginfo_t *info)
{
	struct sigaction standard = { .sa_handler = SIG_DFL };

	if (info->si_code >= POLL_IN && info->si_code <= POLL_HUP)
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

void signal_foreign(int signo, siginfo_t *info, void *context)
{
	struct host_action *slot = host_action();
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

void signal_before_exec(void)
{
	const struct sigaction ignored = { .sa_handler = SIG_IGN };

	/* Without the lock: a handler may exec. Our own ticks are then ignored too. */
	if (self.signo != 0 && host_action()->action.sa_handler == SIG_IGN)
		__sigaction(self.signo, &ignored, NULL);
}

void signal_after_failed_exec(void)
{
	if (self.signo != 0 && host_action()->action.sa_handler == SIG_IGN)
		install(self.signo, self.flags);
}
