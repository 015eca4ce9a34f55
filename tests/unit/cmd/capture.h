/* SPDX-License-Identifier: MIT */
/*
 * capture.h - runs a subcommand in a child process and keeps what it printed.
 */
#ifndef TESTS_UNIT_CMD_CAPTURE_H
#define TESTS_UNIT_CMD_CAPTURE_H

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct capture {
	char *out, *err;		 /* owned */
	char out_path[48], err_path[48]; /* of the last run */
	int wait_status;
};

static inline char *capture_read(const char *path)
{
	FILE *file = fopen(path, "r");
	char *text = calloc(1, 1 << 20);

	if (file == NULL || text == NULL)
		abort();
	text[fread(text, 1, (1 << 20) - 1, file)] = '\0';
	fclose(file);
	return text;
}

static inline void capture_redirect(const char *path, int target)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	if (fd < 0 || dup2(fd, target) < 0)
		_exit(99);
	close(fd);
}

/* Its exit status, or 128 + N when signal N ended it. */
static inline int capture_run(struct capture *capture, int (*run)(int argc, char **argv), int argc,
			      char **argv)
{
	pid_t pid;

	snprintf(capture->out_path, sizeof(capture->out_path), "/tmp/guestprof-capture-%d.out",
		 (int)getpid());
	snprintf(capture->err_path, sizeof(capture->err_path), "/tmp/guestprof-capture-%d.err",
		 (int)getpid());
	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		capture_redirect(capture->out_path, STDOUT_FILENO);
		capture_redirect(capture->err_path, STDERR_FILENO);
		exit(run(argc, argv));
	}
	if (pid < 0 || waitpid(pid, &capture->wait_status, 0) != pid)
		abort();
	capture->out = capture_read(capture->out_path);
	capture->err = capture_read(capture->err_path);
	return WIFSIGNALED(capture->wait_status) ? 128 + WTERMSIG(capture->wait_status)
						 : WEXITSTATUS(capture->wait_status);
}

static inline void capture_free(struct capture *capture)
{
	unlink(capture->out_path);
	unlink(capture->err_path);
	free(capture->out);
	free(capture->err);
}

#endif /* TESTS_UNIT_CMD_CAPTURE_H */
