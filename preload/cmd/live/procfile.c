/* SPDX-License-Identifier: MIT */
/* procfile.c - reads small files of /proc. Threads: any. */
#include "preload/cmd/live/procfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

ssize_t procfile_read(pid_t pid, const char *name, char *text, size_t size)
{
	size_t length = 0;
	ssize_t got = 1;
	char path[128];
	int fd;

	text[0] = '\0';
	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	while (length < size - 1 && (got = read(fd, text + length, size - 1 - length)) > 0)
		length += (size_t)got;
	if (got < 0 && length == 0)
		got = -errno;
	close(fd);
	text[length] = '\0';
	return got < 0 ? got : (ssize_t)length;
}

const char *procfile_field(const char *text, const char *label)
{
	size_t length = strlen(label);

	while (text != NULL && *text != '\0') {
		if (strncmp(text, label, length) == 0 && text[length] == ':')
			return text + length + 1 + strspn(text + length + 1, " \t");
		text = strchr(text, '\n');
		text = text != NULL ? text + 1 : NULL;
	}
	return NULL;
}

uint64_t procfile_number(const char *text, const char *label, int base)
{
	const char *value = procfile_field(text, label);

	return value != NULL ? strtoull(value, NULL, base) : 0;
}
