/* SPDX-License-Identifier: MIT */
/*
 * becomes.c - a host that becomes another program while its guest is being sampled.
 *
 * Arguments: the guest, the way, then the program and its arguments. Ways: the names of the
 * functions, `raw` for the system call, `vfork`, `spawn`; `absent` first calls a program that is
 * not there, and goes on.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "guest.h"

extern char **environ;

static void *burn_on(void *unused)
{
	guest_burn(60000);
	return unused;
}

static int status_of(pid_t child)
{
	int status = -1;

	waitpid(child, &status, 0);
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static void try_absent(void)
{
	char *argv[] = { (char *)"none", NULL };

	errno = 0;
	guest_expect(execv("/nonexistent/none", argv) == -1 && errno == ENOENT, "execv of nothing");
	errno = 0;
	guest_expect(execlp("guestprof-test-none", "none", (char *)NULL) == -1 && errno == ENOENT,
		     "execlp of nothing");
	guest_burn(400);
}

int main(int argc, char **argv)
{
	char **rest = argv + 3;
	pthread_t thread;
	const char *way;
	pid_t child;

	guest_expect(argc > 3, "usage: becomes GUEST WAY PROGRAM [ARGUMENT...]");
	way = argv[2];
	guest_load(argv[1]);
	pthread_create(&thread, NULL, burn_on, NULL);
	guest_burn(300);
	unsetenv("LD_PRELOAD");
	if (strcmp(way, "absent") == 0)
		try_absent();
	if (strcmp(way, "execve") == 0 || strcmp(way, "absent") == 0)
		execve(rest[0], rest, environ);
	if (strcmp(way, "execv") == 0)
		execv(rest[0], rest);
	if (strcmp(way, "execvp") == 0)
		execvp(rest[0], rest);
	if (strcmp(way, "execvpe") == 0)
		execvpe(rest[0], rest, environ);
	if (strcmp(way, "execl") == 0)
		execl(rest[0], rest[0], rest[1], rest[2], (char *)NULL);
	if (strcmp(way, "execlp") == 0)
		execlp(rest[0], rest[0], rest[1], rest[2], (char *)NULL);
	if (strcmp(way, "execle") == 0)
		execle(rest[0], rest[0], rest[1], rest[2], (char *)NULL, environ);
	if (strcmp(way, "fexecve") == 0)
		fexecve(open(rest[0], O_RDONLY | O_CLOEXEC), rest, environ);
	if (strcmp(way, "execveat") == 0)
		execveat(AT_FDCWD, rest[0], rest, environ, 0);
	if (strcmp(way, "raw") == 0)
		syscall(SYS_execve, rest[0], rest, environ);
	if (strcmp(way, "vfork") == 0) {
		child = vfork();
		if (child == 0) {
			execv(rest[0], rest);
			_exit(98);
		}
		guest_burn(200);
		_exit(status_of(child));
	}
	if (strcmp(way, "spawn") == 0) {
		guest_expect(posix_spawnp(&child, rest[0], NULL, NULL, rest, environ) == 0,
			     "spawn");
		guest_burn(200);
		_exit(status_of(child));
	}
	if (strcmp(way, "system") == 0)
		_exit(WEXITSTATUS(system(rest[2])));
	guest_expect(false, way);
	return 0;
}
