/* SPDX-License-Identifier: MIT */
/* inmemory.c - an output to a file that has no name. Threads: one at a time for each. */
#include "preload/export/inmemory.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

int inmemory_open(struct inmemory *memory, bool compress)
{
	char path[32];
	int error;

	memory->fd = memfd_create("guestprof", MFD_CLOEXEC);
	if (memory->fd < 0)
		return -errno;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", memory->fd);
	memory->output = output_open(path, compress);
	if (memory->output != NULL)
		return 0;
	error = -errno;
	close(memory->fd);
	return error;
}

static int read_all(int fd, uint8_t **bytes, size_t *size)
{
	struct stat about;
	size_t at = 0;
	ssize_t got = 1;

	if (fstat(fd, &about) != 0)
		return -errno;
	*size = (size_t)about.st_size;
	*bytes = malloc(*size + 1);
	if (*bytes == NULL)
		return -ENOMEM;
	while (at < *size && got > 0) {
		got = pread(fd, *bytes + at, *size - at, (off_t)at);
		at += got > 0 ? (size_t)got : 0;
	}
	if (at == *size)
		return 0;
	free(*bytes);
	*bytes = NULL;
	return -EIO;
}

int inmemory_close(struct inmemory *memory, bool keep, uint8_t **bytes, size_t *size)
{
	int error = output_close(memory->output, true);

	*bytes = NULL;
	*size = 0;
	if (error == 0 && keep)
		error = read_all(memory->fd, bytes, size);
	close(memory->fd);
	return error;
}
