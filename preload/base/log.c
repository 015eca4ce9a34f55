/* SPDX-License-Identifier: MIT */
/*
 * log.c - one line, one write.
 *
 * On a host's thread descriptor 2 is the host's own standard error. On ours it does not exist: the
 * descriptor table was unshared and emptied, so the line goes through /proc/PID/fd/2 of a thread
 * that still has the host's table, the main thread.
 */
#include "preload/base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { LINE_MAX_BYTES = 1000 };

static struct {
	enum log_level level;
	char file[512];
} self = { .level = LOG_ERROR };

static struct {
	dev_t device;
	ino_t inode;
	bool was_looked_at, was_open;
} standard_error; /* what descriptor 2 was at the start */

static __thread __attribute__((tls_model("initial-exec"))) bool own_descriptors;

void log_configure(enum log_level level, const char *file)
{
	self.level = level;
	snprintf(self.file, sizeof(self.file), "%s", file != NULL ? file : "");
}

void log_own_descriptors(void)
{
	own_descriptors = true;
}

static size_t escape(const char *text, char *out, size_t size)
{
	size_t length = 0;

	for (; *text != '\0' && length + 5 < size; text++) {
		unsigned char c = (unsigned char)*text;

		if (c >= 0x20 && c != 0x7f)
			out[length++] = (char)c;
		else
			length += (size_t)snprintf(out + length, size - length, "\\x%02x", c);
	}
	return length;
}

void log_remember_standard_error(void)
{
	struct stat status;

	standard_error.was_looked_at = true;
	standard_error.was_open = fstat(STDERR_FILENO, &status) == 0;
	standard_error.device = status.st_dev;
	standard_error.inode = status.st_ino;
}

/* A host may have closed descriptor 2 and have a file of its own there: that is no place for us. */
static bool is_still_standard_error(int fd)
{
	struct stat status;

	if (fstat(fd, &status) != 0)
		return false;
	return !S_ISREG(status.st_mode) || !standard_error.was_looked_at ||
	       (standard_error.was_open && status.st_dev == standard_error.device &&
		status.st_ino == standard_error.inode);
}

/* A reader that is gone must not cost the host its life: SIGPIPE is blocked, and taken back. */
static void write_quietly(int fd, const char *line, size_t length)
{
	const struct timespec now = { 0 };
	sigset_t pipe, before, pending;
	bool was_pending;

	sigemptyset(&pipe);
	sigaddset(&pipe, SIGPIPE);
	sigpending(&pending);
	was_pending = sigismember(&pending, SIGPIPE) == 1;
	pthread_sigmask(SIG_BLOCK, &pipe, &before);
	if (write(fd, line, length) < 0 && errno == EPIPE && !was_pending)
		sigtimedwait(&pipe, NULL, &now);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static int open_sink(void)
{
	char path[64];

	if (self.file[0] != '\0')
		return open(self.file, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW,
			    0600);
	if (!own_descriptors)
		return STDERR_FILENO;
	snprintf(path, sizeof(path), "/proc/%d/fd/2", (int)getpid());
	return open(path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
}

/*
 * A host may allow itself no more descriptors than its standard streams (RLIMIT_NOFILE). In our
 * table their places hold nothing that is used (worker.c): the first one is lent to the line.
 */
static bool lend_place(void)
{
	return own_descriptors && errno == EMFILE && close(STDIN_FILENO) == 0;
}

static void fill_place(void)
{
	int fd = open("/", O_PATH | O_CLOEXEC);

	if (fd > STDERR_FILENO)
		close(fd);
}

/* What cannot be written is nobody's fault. A cancelled thread must not leave our locks held. */
static void write_line(const char *line, size_t length)
{
	bool is_opened = self.file[0] != '\0' || own_descriptors, is_lent = false;
	int cancel_state, fd;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
	fd = open_sink();
	if (fd < 0 && (is_lent = lend_place()))
		fd = open_sink();
	if (fd >= 0 && (self.file[0] != '\0' || is_still_standard_error(fd)))
		write_quietly(fd, line, length);
	if (fd >= 0 && is_opened)
		close(fd);
	if (is_lent)
		fill_place();
	pthread_setcancelstate(cancel_state, NULL);
}

static void emit(const char *format, va_list arguments)
{
	int saved_errno = errno;
	char text[LINE_MAX_BYTES], line[LINE_MAX_BYTES + 64];
	int prefix;
	size_t length;

	vsnprintf(text, sizeof(text), format, arguments);
	prefix = snprintf(line, sizeof(line), "guestprof[%d]: ", (int)getpid());
	length = (size_t)prefix + escape(text, line + prefix, sizeof(line) - (size_t)prefix - 1);
	line[length++] = '\n';
	write_line(line, length);
	errno = saved_errno;
}

void log_line(enum log_level level, const char *format, ...)
{
	va_list arguments;

	if (level > self.level)
		return;
	va_start(arguments, format);
	emit(format, arguments);
	va_end(arguments);
}

void log_once(atomic_flag *once, const char *format, ...)
{
	va_list arguments;

	if (self.level < LOG_ERROR || atomic_flag_test_and_set(once))
		return;
	va_start(arguments, format);
	emit(format, arguments);
	va_end(arguments);
}
