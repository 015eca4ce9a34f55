/* SPDX-License-Identifier: MIT */
/* wasmfile.c - reads a file into memory. Threads: any. */
#include "preload/lines/wasmfile.h"

#include "preload/lines/lines.h"
#include "preload/lines/wrapper.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int make(struct wasmfile *file, size_t size)
{
	*file = (struct wasmfile){ 0 };
	if (size > LINES_FILE_MAX)
		return -EFBIG;
	file->memory = malloc(WRAPPER_ROOM + size + 1);
	if (file->memory == NULL)
		return -ENOMEM;
	file->wasm = file->memory + WRAPPER_ROOM;
	file->wasm[size] = 0;
	file->size = size;
	return 0;
}

int wasmfile_copy(struct wasmfile *file, const uint8_t *wasm, size_t size)
{
	int error = make(file, size);

	if (error == 0 && size != 0)
		memcpy(file->wasm, wasm, size);
	return error;
}

int wasmfile_fill(struct wasmfile *file, size_t size,
		  int (*fill)(void *context, uint8_t *wasm, size_t size), void *context)
{
	int error = make(file, size);

	if (error == 0)
		error = fill(context, file->wasm, size);
	if (error != 0)
		wasmfile_free(file);
	return error;
}

static int read_all(struct wasmfile *file, int fd)
{
	size_t have = 0;
	ssize_t more;

	while (have < file->size) {
		more = read(fd, file->wasm + have, file->size - have);
		if (more < 0 && errno == EINTR)
			continue;
		if (more < 0)
			return -errno;
		if (more == 0) /* it shrank */
			return -EIO;
		have += (size_t)more;
	}
	return 0;
}

int wasmfile_read(struct wasmfile *file, const char *path)
{
	/* O_NONBLOCK: a FIFO must not hold us */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), error = 0;
	struct stat about;

	*file = (struct wasmfile){ 0 };
	if (fd < 0)
		return -errno;
	if (fstat(fd, &about) != 0)
		error = -errno;
	else if (!S_ISREG(about.st_mode))
		error = S_ISDIR(about.st_mode) ? -EISDIR : -EINVAL;
	if (error == 0)
		error = make(file, (size_t)about.st_size);
	if (error == 0)
		error = read_all(file, fd);
	close(fd);
	if (error != 0)
		wasmfile_free(file);
	return error;
}

void wasmfile_free(struct wasmfile *file)
{
	free(file->memory);
	*file = (struct wasmfile){ 0 };
}
