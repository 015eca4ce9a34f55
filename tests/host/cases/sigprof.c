/* SPDX-License-Identifier: MIT */
/*
 * sigprof.c - a host that uses the profiling signal and the interval timer itself.
 *
 * Arguments: the guest, `early` or `late` (before or after the guest is loaded), and how: handler,
 * restart (the same with SA_RESTART), signal, ignore, itimer. Prints what it observes: it must be
 * the same without a profiler.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "guest.h"

static volatile sig_atomic_t runs, foreign;
static int pipe_ends[2];
static bool is_handled;

static void on_signal(int signo, siginfo_t *info, void *context)
{
	(void)context;
	runs++;
	/* Only what this program sends, or its own timer. */
	foreign += signo != SIGPROF || (info->si_code != SI_TKILL && info->si_code != SI_USER &&
					info->si_code != SI_KERNEL);
}

static void on_signal_simple(int signo)
{
	runs++;
	foreign += signo != SIGPROF;
}

static void use(const char *how)
{
	struct sigaction action = { .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO };
	const struct itimerval often = { { 0, 5000 }, { 0, 5000 } };

	is_handled = strcmp(how, "ignore") != 0 && strcmp(how, "none") != 0;
	if (strcmp(how, "signal") == 0) {
		signal(SIGPROF, on_signal_simple);
		return;
	}
	if (strcmp(how, "ignore") == 0) {
		signal(SIGPROF, SIG_IGN);
		return;
	}
	if (strcmp(how, "handler") != 0)
		action.sa_flags |= SA_RESTART;
	sigaction(SIGPROF, &action, NULL);
	if (strcmp(how, "itimer") == 0)
		setitimer(ITIMER_PROF, &often, NULL);
}

static void *interrupt(void *main_thread)
{
	for (int i = 0; i < 5; i++) {
		sig_atomic_t before = runs;

		usleep(50000);
		pthread_kill(*(pthread_t *)main_thread, SIGPROF);
		/* Two at once would be one. */
		for (int ms = 0; is_handled && runs == before && ms < 5000; ms++)
			usleep(1000);
	}
	usleep(50000);
	guest_expect(write(pipe_ends[1], "x", 1) == 1, "write");
	return NULL;
}

/* Does the host's own signal end a read, as its flags say? */
static const char *read_ends(void)
{
	pthread_t thread, here = pthread_self();
	char byte;
	ssize_t got;
	int error;

	guest_expect(pipe(pipe_ends) == 0, "pipe");
	pthread_create(&thread, NULL, interrupt, &here);
	got = read(pipe_ends[0], &byte, 1);
	error = errno;
	pthread_join(thread, NULL);
	return got == 1 ? "whole" : error == EINTR ? "interrupted" : "failed";
}

/* What a program that this one starts is told of the signal. */
static void print_inherited(void)
{
	pid_t child;
	int status;

	fflush(stdout);
	child = fork();
	if (child == 0) {
		unsetenv("LD_PRELOAD");
		execlp("sh", "sh", "-c", "grep -E '^Sig(Ign|Blk|Pnd)' /proc/self/status",
		       (char *)0);
		_exit(98);
	}
	waitpid(child, &status, 0);
	guest_expect(status == 0, "the child");
}

int main(int argc, char **argv)
{
	struct sigaction now;
	bool is_early;
	const char *how;

	guest_expect(argc == 4, "usage: sigprof GUEST early|late HOW");
	is_early = strcmp(argv[2], "early") == 0;
	how = argv[3];
	if (is_early)
		use(how);
	guest_load(argv[1]);
	guest_burn(100);
	if (!is_early)
		use(how);
	guest_burn(300);
	sigaction(SIGPROF, NULL, &now);
	printf("action: %s, flags %x\n",
	       now.sa_handler == SIG_DFL   ? "default"
	       : now.sa_handler == SIG_IGN ? "ignored"
					   : "handled",
	       (unsigned int)now.sa_flags & ~0x04000000u);
	print_inherited();
	if (strcmp(how, "itimer") == 0) {
		const struct itimerval never = { 0 };
		struct itimerval left;

		getitimer(ITIMER_PROF, &left);
		printf("timer: every %ld us, %s\n", (long)left.it_interval.tv_usec,
		       runs > 20 ? "many" : "few");
		setitimer(ITIMER_PROF, &never, NULL);
	} else {
		printf("read: %s\n", read_ends());
		guest_burn(50);
		printf("runs: %d\n", (int)runs);
	}
	printf("foreign: %d\n", (int)foreign);
	return 0;
}
