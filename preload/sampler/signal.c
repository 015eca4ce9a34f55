/* SPDX-License-Identifier: MIT */
/*
 * signal.c - taking the clock signal without the host noticing, and leaving it to the host.
 *
 * Threads: `lock` orders the writers; handlers read without (front.h). A signal that the clocks
 * have left keeps our handler: a tick may still be on its way.
 */
#include "preload/sampler/signal.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "preload/base/log.h"
#include "preload/base/state.h"
#include "preload/sampler/front.h"
#include "preload/sig/handler.h"

enum { MAX_RETAKES = 16 };

static struct {
	atomic_int signo; /* that the clocks send; 0: none taken */
	int retakes;
	bool is_fast, avoids_urgent;
	bool said_that_none_is_free;
	pthread_mutex_t lock; /* the rest, our signals' actions in the kernel, fronts */
} self = { .lock = PTHREAD_MUTEX_INITIALIZER };

/*
 * glibc's own name for sigaction since 2.0. The plain name is ours to wrap, and would answer us
 * with what it tells the host.
 */
int __sigaction(int signo, const struct sigaction *act, struct sigaction *old);

static bool is_our_handler(const struct sigaction *action)
{
	return (action->sa_flags & SA_SIGINFO) != 0 && action->sa_sigaction == handler_on_signal;
}

static bool is_on_stack(const struct sigaction *host)
{
	return !front_is_unused(host) && (host->sa_flags & SA_ONSTACK) != 0;
}

/*
 * Go handles SIGURG, its preemption signal, on the alternate stack in every build mode, and dies of
 * a handler that runs on a goroutine's stack. Elsewhere the alternate stack may be too small for
 * two.
 */
static bool needs_alternate_stack(const struct sigaction *host)
{
	struct sigaction urgent;

	if (is_on_stack(host))
		return true;
	if (__sigaction(SIGURG, NULL, &urgent) != 0)
		return false;
	if (is_our_handler(&urgent))
		urgent = front_action(front_of(SIGURG));
	return is_on_stack(&urgent);
}

/*
 * A host that handles the signal without SA_RESTART means it to interrupt. Our ticks hardly ever
 * do: they come while the thread uses the CPU.
 */
static int wanted_flags(const struct sigaction *host)
{
	bool interrupts = !front_is_unused(host) && (host->sa_flags & SA_RESTART) == 0;

	return SA_SIGINFO | (interrupts ? 0 : SA_RESTART) |
	       (needs_alternate_stack(host) ? SA_ONSTACK : 0);
}

static int install(int signo, int flags)
{
	struct front *front = front_of(signo);
	/* A fault in our handler with its signal blocked would kill without the host's say. */
	static const int synchronous[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGSYS };
	struct sigaction action = { .sa_sigaction = handler_on_signal, .sa_flags = flags };

	sigfillset(&action.sa_mask);
	for (size_t i = 0; i < ARRAY_SIZE(synchronous); i++)
		sigdelset(&action.sa_mask, synchronous[i]);
	if (__sigaction(signo, &action, NULL) != 0)
		return -errno;
	front->flags = flags;
	return 0;
}

static int take(int signo, const struct sigaction *host)
{
	struct front *front = front_of(signo);
	int err;

	/* Before the handler can run: a foreign signal may come at once. */
	front_note(front, host);
	handler_setup.foreign = front_deliver;
	err = install(signo, wanted_flags(host));
	if (err != 0)
		return err;
	/* release: pairs with front_is_there() */
	atomic_store_explicit(&front->is_there, true, memory_order_release);
	atomic_store_explicit(&self.signo, signo, memory_order_relaxed);
	return signo;
}

/* Takes SIGNO if the host has set WANTED and nothing else; -EBUSY. */
static int take_if(int signo, sighandler_t wanted)
{
	int first = self.is_fast ? SIGURG : SIGPROF;
	struct sigaction host;

	if (front_is_there(front_of(signo)) || (signo == SIGURG && self.avoids_urgent) ||
	    __sigaction(signo, NULL, &host) != 0 || host.sa_handler != wanted)
		return -EBUSY;
	if (signo != first)
		log_line(LOG_INFO, "the host uses or ignores signal %d; sampling with signal %d",
			 first, signo);
	return take(signo, &host);
}

static int take_with(sighandler_t wanted)
{
	int signo = -EBUSY;

	for (size_t i = 0; i < FRONT_COUNT && signo == -EBUSY; i++)
		signo = take_if(front_signals[i], wanted);
	return signo;
}

static int take_urgent(void)
{
	return self.is_fast ? take_if(SIGURG, SIG_DFL) : -EBUSY;
}

/* Programs that the host starts inherit that a signal is ignored, but not that we handle it. */
static int take_unused(void)
{
	int signo = take_urgent();

	if (signo == -EBUSY)
		signo = take_with(SIG_DFL);
	return signo != -EBUSY ? signo : take_with(SIG_IGN);
}

/* In the place of SIGNO, a slow clock's. Our handler stays there, for late ticks. */
static int take_better(int signo)
{
	int better = take_urgent(); /* -EBUSY too where SIGNO is that one */

	return better > 0 ? better : signo;
}

int signal_take(bool is_fast)
{
	struct sigaction host;
	int signo;

	pthread_mutex_lock(&self.lock);
	self.is_fast = is_fast;
	signo = signal_number();
	signo = signo == 0 ? take_unused() : take_better(signo);
	if (signo == -EBUSY && __sigaction(SIGPROF, NULL, &host) == 0) {
		log_line(LOG_INFO, "the host handles every signal that could serve; its SIGPROF "
				   "handler gets what is not ours");
		self.said_that_none_is_free = true;
		signo = take(SIGPROF, &host);
	}
	pthread_mutex_unlock(&self.lock);
	return signo;
}

int signal_number(void)
{
	return atomic_load_explicit(&self.signo, memory_order_relaxed);
}

/* The clocks move, once our thread has looked. False when no other signal is free. */
static bool take_another(void)
{
	if (take_unused() <= 0)
		return false;
	if (state.wake != NULL)
		state.wake();
	return true;
}

/*
 * The host has begun to handle the clocks' signal: they send another one from now on. Its handler
 * then gets no tick, whatever it does with the signal, and two signals at once do not become one.
 */
static bool move_away(int signo)
{
	if (take_another())
		return true;
	if (!self.said_that_none_is_free)
		log_line(LOG_INFO,
			 "the host handles signal %d now, and every other that could serve; its "
			 "handler gets what is not ours, and may miss a signal that comes with a "
			 "tick",
			 signo);
	self.said_that_none_is_free = true;
	return false;
}

void signal_leave_urgent(void)
{
	pthread_mutex_lock(&self.lock);
	self.avoids_urgent = true;
	if (signal_number() == SIGURG)
		take_another();
	pthread_mutex_unlock(&self.lock);
}

static void set_host_action(struct front *front, int signo, const struct sigaction *wanted)
{
	int flags = wanted_flags(wanted);

	front_note(front, wanted);
	if (flags != front->flags)
		install(signo, flags);
	if (signo == signal_number() && !front_is_unused(wanted))
		move_away(signo);
}

bool signal_host_action(int signo, const struct sigaction *act, struct sigaction *old)
{
	struct front *front = front_of(signo);
	struct sigaction before, wanted;

	if (!front_is_there(front))
		return false;
	/* A vfork child has our memory, but signals of its own. */
	if (handler_setup.pid != 0 && (pid_t)syscall(SYS_getpid) != handler_setup.pid)
		return false;
	/* ACT and OLD may be one object. */
	if (act != NULL)
		wanted = *act;
	pthread_mutex_lock(&self.lock);
	before = front_action(front);
	if (act != NULL)
		set_host_action(front, signo, &wanted);
	pthread_mutex_unlock(&self.lock);
	if (old != NULL)
		*old = before;
	return true;
}

bool signal_is_ours_alone(void)
{
	struct sigaction now;
	int signo = signal_number();
	bool is_ours;

	pthread_mutex_lock(&self.lock);
	is_ours = signo != 0 && __sigaction(signo, NULL, &now) == 0 && is_our_handler(&now) &&
		  front_action(front_of(signo)).sa_handler == SIG_DFL;
	pthread_mutex_unlock(&self.lock);
	return is_ours;
}

/* The host has set ACTION in our handler's place, past libc. */
static void settle_replaced(struct front *front, int signo, const struct sigaction *action)
{
	bool is_clocks = signo == signal_number();

	front_note(front, action);
	/* Ticks that are on their way go to the host's handler: it has no more of them to fear. */
	if (!is_clocks || (!front_is_unused(action) && move_away(signo))) {
		atomic_store_explicit(&front->is_there, false, memory_order_relaxed);
		return;
	}
	if (self.retakes++ < MAX_RETAKES)
		install(signo, wanted_flags(action));
}

static void check(struct front *front, int signo)
{
	struct sigaction now;
	int flags;

	if (!front_is_there(front) || __sigaction(signo, NULL, &now) != 0)
		return;
	if (!is_our_handler(&now)) {
		settle_replaced(front, signo, &now);
		return;
	}
	now = front_action(front);
	flags = wanted_flags(&now);
	if (flags != front->flags)
		install(signo, flags);
}

bool signal_is_on_alternate_stack(void)
{
	struct front *front = front_of(signal_number());
	bool is_on_it;

	pthread_mutex_lock(&self.lock);
	is_on_it = front_is_there(front) && (front->flags & SA_ONSTACK) != 0;
	pthread_mutex_unlock(&self.lock);
	return is_on_it;
}

void signal_check(void)
{
	pthread_mutex_lock(&self.lock);
	for (size_t i = 0; i < FRONT_COUNT; i++)
		check(front_of(front_signals[i]), front_signals[i]);
	pthread_mutex_unlock(&self.lock);
}

static bool is_ignored(struct front *front)
{
	return front_is_there(front) && front_action(front).sa_handler == SIG_IGN;
}

void signal_before_exec(void)
{
	const struct sigaction ignored = { .sa_handler = SIG_IGN };

	/* Without the lock: a handler may exec. Our own ticks are then ignored too. */
	for (size_t i = 0; i < FRONT_COUNT; i++) {
		if (is_ignored(front_of(front_signals[i])))
			__sigaction(front_signals[i], &ignored, NULL);
	}
}

void signal_after_failed_exec(void)
{
	for (size_t i = 0; i < FRONT_COUNT; i++) {
		if (is_ignored(front_of(front_signals[i])))
			install(front_signals[i], front_of(front_signals[i])->flags);
	}
}
