/* SPDX-License-Identifier: MIT */
/* wake.c - a futex, or poll() with a signalfd. Threads: waiting is ours; waking anybody's. */
#include "preload/wake.h"

#include <errno.h>
#include <linux/futex.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/*
 * A signal that does nothing by default, so that no accident with it can end a host, and that is
 * hardly ever sent to a whole process. Our thread blocks it as all others, which is why it waits
 * there (signal(7): a blocked signal is not ignored) until the signalfd hands it out. nptl's own
 * signals would be free of any use by the host, but pthread_sigmask() unblocks them, and they kill.
 */
enum {
	WAKE_SIGNAL = SIGURG,
	MASK_SIZE = 8, /* the kernel's sigset_t */
	SECOND_NS = 1000000000,
	BLIND_NS = 200000000,
	FRUITLESS_MAX = 16, /* wakes by a signal of somebody else's */
	BLIND_WAITS = 100,
};

#define WAKE_MASK (UINT64_C(1) << (WAKE_SIGNAL - 1))

static struct {
	atomic_int word;
	atomic_int poller; /* tid of our thread while it is, or is about to be, in poll(); 0 */
	atomic_uint sent;  /* signals to our thread */

	/* Our thread's. */
	int signal_fd; /* 0: none yet; -1: not to be had */
	unsigned int taken, fruitless, blind_waits;
} self;

static long futex(int operation, int value, const struct timespec *timeout)
{
	return syscall(SYS_futex, &self.word, operation | FUTEX_PRIVATE_FLAG, value, timeout, NULL,
		       0);
}

atomic_int *wake_word(void)
{
	return &self.word;
}

int wake_seen(void)
{
	return atomic_load_explicit(&self.word, memory_order_seq_cst);
}

static void signal_poller(int tid)
{
	siginfo_t info;

	memset(&info, 0, sizeof(info));
	info.si_signo = WAKE_SIGNAL;
	info.si_code = SI_QUEUE;
	info.si_pid = (pid_t)syscall(SYS_getpid);
	syscall(SYS_rt_tgsigqueueinfo, info.si_pid, tid, WAKE_SIGNAL, &info);
	/* release: pairs with take_signals(), which must not look for it before */
	atomic_fetch_add_explicit(&self.sent, 1, memory_order_release);
}

void wake_up(void)
{
	int saved_errno = errno, tid;

	/* seq_cst, and so is the exchange: pairs with may_sleep() */
	atomic_fetch_add_explicit(&self.word, 1, memory_order_seq_cst);
	futex(FUTEX_WAKE, 1, NULL);
	tid = atomic_exchange_explicit(&self.poller, 0, memory_order_seq_cst);
	if (tid != 0)
		signal_poller(tid);
	errno = saved_errno;
}

/* ---- poll ------------------------------------------------------------------------------------ */

/* Says that we are about to poll; then a waker either sees that, or we see its count. */
static bool may_sleep(int seen)
{
	atomic_store_explicit(&self.poller, (int)syscall(SYS_gettid), memory_order_seq_cst);
	return atomic_load_explicit(&self.word, memory_order_seq_cst) == seen;
}

static void open_signal_fd(void)
{
	uint64_t mask = WAKE_MASK;

	self.signal_fd = (int)syscall(SYS_signalfd4, -1, &mask, MASK_SIZE,
				      04000 | 02000000 /* SFD_NONBLOCK | SFD_CLOEXEC */);
}

/*
 * As many as were sent to us, and no more: behind them the signalfd would hand out what is pending
 * for the whole process, which is the host's.
 */
static void take_signals(bool is_readable)
{
	char signal[128]; /* struct signalfd_siginfo */
	unsigned int sent = atomic_load_explicit(&self.sent, memory_order_acquire);

	if (is_readable && self.taken == sent)
		self.fruitless++;
	else
		self.fruitless = 0;
	/* Two that met in the queue have become one. */
	while (self.taken != sent && read(self.signal_fd, signal, sizeof(signal)) > 0)
		self.taken++;
	self.taken = sent;
	if (self.fruitless < FRUITLESS_MAX)
		return;
	/* The host's signal, which all its threads block, would keep us awake. */
	self.fruitless = 0;
	self.blind_waits = BLIND_WAITS;
}

static const struct timespec *as_timespec(uint64_t limit_ns, struct timespec *time)
{
	if (limit_ns == UINT64_MAX)
		return NULL;
	time->tv_sec = (time_t)(limit_ns / SECOND_NS);
	time->tv_nsec = (long)(limit_ns % SECOND_NS);
	return time;
}

static void wait_by_poll(int seen, uint64_t limit_ns, const struct pollfd *descriptors,
			 size_t count)
{
	struct pollfd all[WAKE_DESCRIPTORS_MAX + 1];
	struct timespec time;
	bool is_blind;

	if (self.signal_fd == 0)
		open_signal_fd();
	is_blind = self.signal_fd < 0 || self.blind_waits > 0;
	/* Refused by a sandbox, or useless: then nobody can wake us. */
	if (is_blind && limit_ns > BLIND_NS)
		limit_ns = BLIND_NS;
	self.blind_waits -= self.blind_waits > 0;
	memcpy(all, descriptors, count * sizeof(*all));
	all[count] = (struct pollfd){ .fd = self.signal_fd, .events = POLLIN };
	if (may_sleep(seen))
		ppoll(all, count + !is_blind, as_timespec(limit_ns, &time), NULL);
	atomic_store_explicit(&self.poller, 0, memory_order_seq_cst);
	if (self.signal_fd > 0)
		take_signals(!is_blind && all[count].revents != 0);
}

void wake_wait(int seen, uint64_t limit_ns, const struct pollfd *descriptors, size_t count)
{
	struct timespec time;

	if (count > WAKE_DESCRIPTORS_MAX)
		count = WAKE_DESCRIPTORS_MAX;
	if (count > 0)
		wait_by_poll(seen, limit_ns, descriptors, count);
	else
		futex(FUTEX_WAIT, seen, as_timespec(limit_ns, &time));
}

void wake_fork_child(void)
{
	atomic_store(&self.poller, 0);
	self.signal_fd = 0; /* it is in the parent's table */
	self.taken = atomic_load(&self.sent);
	self.fruitless = self.blind_waits = 0;
}
