/* SPDX-License-Identifier: MIT */
/*
 * run.c - fork, exec, and a loop that waits for signals and the child's end. Threads: the main one
 * only.
 *
 * Signals are blocked and taken by sigwaitinfo(): no handler, and none is lost between two waits.
 */
#include "preload/cmd/run.h"

#include "preload/cmd/say.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static const int forwarded[] = { SIGINT,  SIGTERM, SIGHUP,   SIGQUIT,
				 SIGUSR1, SIGUSR2, SIGWINCH, SIGCONT };

/* How signals were when we came: the child's, so that nohup and the like go on working. */
struct inherited {
	sigset_t mask, held;
	struct sigaction child_action;
};

static void hold_signals(struct inherited *inherited)
{
	struct sigaction by_default = { .sa_handler = SIG_DFL };
	struct sigaction action;

	sigemptyset(&inherited->held);
	sigaddset(&inherited->held, SIGCHLD);
	for (size_t i = 0; i < ARRAY_SIZE(forwarded); i++) {
		/* What is ignored stays ignored, by us and by the child. */
		if (sigaction(forwarded[i], NULL, &action) == 0 && action.sa_handler != SIG_IGN)
			sigaddset(&inherited->held, forwarded[i]);
	}
	sigprocmask(SIG_BLOCK, &inherited->held, &inherited->mask);
	/* With SIGCHLD ignored the kernel would reap the child, and its status with it. */
	sigaction(SIGCHLD, &by_default, &inherited->child_action);
}

/* In the child; reports errno through REPORT, which exec closes. */
static void become(char **argv, char **environment, const struct inherited *inherited, int report)
{
	int error;

	sigaction(SIGCHLD, &inherited->child_action, NULL);
	sigprocmask(SIG_SETMASK, &inherited->mask, NULL);
	execvpe(argv[0], argv, environment);
	error = errno;
	if (write(report, &error, sizeof(error)) < 0)
		_exit(RUN_FAILED);
	_exit(error == ENOENT ? RUN_NOT_FOUND : RUN_NOT_EXECUTABLE);
}

/* 0 once the child runs the command, else the errno of its exec. */
static int wait_for_exec(int report)
{
	int error = 0;
	ssize_t count;

	do
		count = read(report, &error, sizeof(error));
	while (count < 0 && errno == EINTR);
	return count == sizeof(error) ? error : 0;
}

/* Sent by a process, to us alone as far as we can tell; the kernel's went to the whole group. */
static bool is_to_be_forwarded(const siginfo_t *info)
{
	return info->si_signo != SIGCHLD && info->si_code <= 0 && info->si_pid != getpid();
}

static void wait_for_end(struct run *run, const sigset_t *held)
{
	siginfo_t info;

	for (;;) {
		pid_t ended = waitpid(run->pid, &run->wait_status, WNOHANG);

		if (ended == run->pid || (ended < 0 && errno != EINTR))
			return;
		if (sigwaitinfo(held, &info) > 0 && is_to_be_forwarded(&info))
			kill(run->pid, info.si_signo);
	}
}

static void fail(struct run *run, const char *what, int error)
{
	say_line("%s: %s", what, strerror(error));
	run->exit_status = RUN_FAILED;
}

static void start(struct run *run, char **argv, char **environment,
		  const struct inherited *inherited)
{
	int report[2], error;

	if (pipe2(report, O_CLOEXEC) != 0) {
		fail(run, "pipe", errno);
		return;
	}
	run->pid = fork();
	if (run->pid == 0)
		become(argv, environment, inherited, report[1]);
	error = errno;
	close(report[1]);
	if (run->pid < 0) {
		fail(run, "fork", error);
		close(report[0]);
		return;
	}
	error = wait_for_exec(report[0]);
	close(report[0]);
	run->has_run = error == 0;
	if (error != 0) {
		say_line("%s: %s", argv[0], strerror(error));
		run->exit_status = error == ENOENT ? RUN_NOT_FOUND : RUN_NOT_EXECUTABLE;
		waitpid(run->pid, NULL, 0);
	}
}

void run_command(struct run *run, char **argv, char **environment)
{
	struct inherited inherited;

	*run = (struct run){ 0 };
	hold_signals(&inherited);
	start(run, argv, environment, &inherited);
	if (run->has_run)
		wait_for_end(run, &inherited.held);
	/* What is pending came for the child: ^C ends it, and we tell what was recorded until then.
	 */
	while (sigtimedwait(&inherited.held, NULL, &(struct timespec){ 0 }) > 0)
		;
	sigprocmask(SIG_SETMASK, &inherited.mask, NULL);
}

static void die_by(int signal_number)
{
	struct sigaction by_default = { .sa_handler = SIG_DFL };
	sigset_t only;

	/* The child has left its core, if any; ours would be of no use. */
	setrlimit(RLIMIT_CORE, &(struct rlimit){ 0 });
	sigaction(signal_number, &by_default, NULL);
	sigemptyset(&only);
	sigaddset(&only, signal_number);
	sigprocmask(SIG_UNBLOCK, &only, NULL);
	raise(signal_number);
	_exit(128 + signal_number);
}

void run_exit_alike(const struct run *run)
{
	if (!run->has_run)
		exit(run->exit_status);
	if (WIFSIGNALED(run->wait_status))
		die_by(WTERMSIG(run->wait_status));
	exit(WEXITSTATUS(run->wait_status));
}
