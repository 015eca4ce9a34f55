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
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LINE_MAX_BYTES = 1000 };

static struct {
	enum log_level level;
	char file[512];
} self = { .level = LOG_ERROR };

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

static void write_line(const char *line, size_t length)
{
	char path[64];
	int fd = STDERR_FILENO;
	ssize_t written;

	if (self.file[0] != '\0') {
		fd = open(self.file, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	} else if (own_descriptors) {
		snprintf(path, sizeof(path), "/proc/%d/fd/2", (int)getpid());
		fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	}
	if (fd < 0)
		return;
	written = write(fd, line, length); /* a line that cannot be written is nobody's fault */
	(void)written;
	if (fd != STDERR_FILENO)
		close(fd);
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
