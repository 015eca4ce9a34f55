/* SPDX-License-Identifier: MIT */
/* output.c - buffered writing through zlib, plain or compressed, then a rename. Threads: one at a
 * time. */
#include "preload/export/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

enum { BUFFER_SIZE = 1 << 16 };

struct output {
	gzFile file;
	char *path, *unfinished; /* NULL: written in place */
	int error;
	size_t used;
	char buffer[BUFFER_SIZE];
};

static bool is_replaceable(const char *path)
{
	struct stat about;

	return lstat(path, &about) != 0 ? errno == ENOENT : S_ISREG(about.st_mode);
}

static int open_path(struct output *output, const char *path)
{
	if (strcmp(path, "-") == 0)
		return fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	if (!is_replaceable(path))
		return open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
	output->path = strdup(path);
	if (output->path == NULL ||
	    asprintf(&output->unfinished, "%s.%d.tmp", path, (int)getpid()) < 0) {
		output->unfinished = NULL;
		errno = ENOMEM;
		return -1;
	}
	return open(output->unfinished, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
}

static void free_output(struct output *output)
{
	free(output->path);
	free(output->unfinished);
	free(output);
}

struct output *output_open(const char *path, bool compress)
{
	struct output *output = calloc(1, sizeof(*output));
	int fd, error;

	if (output == NULL)
		return NULL;
	fd = open_path(output, path);
	if (fd >= 0)
		output->file = gzdopen(fd, compress ? "wb4" : "wbT");
	if (output->file == NULL) {
		error = fd < 0 ? errno : ENOMEM;
		if (fd >= 0)
			close(fd);
		if (fd >= 0 && output->unfinished != NULL)
			unlink(output->unfinished);
		free_output(output);
		errno = error;
		return NULL;
	}
	return output;
}

static void write_out(struct output *output, const void *bytes, size_t size)
{
	errno = 0;
	if (output->error == 0 && size != 0 && gzfwrite(bytes, 1, size, output->file) != size)
		output->error = errno != 0 ? -errno : -EIO;
}

static void flush(struct output *output)
{
	write_out(output, output->buffer, output->used);
	output->used = 0;
}

void output_bytes(struct output *output, const void *bytes, size_t size)
{
	if (size == 0)
		return;
	if (size > BUFFER_SIZE - output->used)
		flush(output);
	if (size > BUFFER_SIZE) {
		write_out(output, bytes, size);
		return;
	}
	memcpy(output->buffer + output->used, bytes, size);
	output->used += size;
}

void output_text(struct output *output, const char *text)
{
	output_bytes(output, text, strlen(text));
}

void output_number(struct output *output, uint64_t number)
{
	char digits[20], *at = digits + sizeof(digits);

	do
		*--at = (char)('0' + number % 10);
	while ((number /= 10) != 0);
	output_bytes(output, at, (size_t)(digits + sizeof(digits) - at));
}

void output_format(struct output *output, const char *format, ...)
{
	char text[512];
	va_list args;
	int length;

	va_start(args, format);
	length = vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (length < 0 || (size_t)length >= sizeof(text))
		output->error = output->error != 0 ? output->error : -EOVERFLOW;
	else
		output_bytes(output, text, (size_t)length);
}

int output_close(struct output *output, bool keep)
{
	int error;

	flush(output);
	errno = 0;
	if (gzclose(output->file) != Z_OK && output->error == 0)
		output->error = errno != 0 ? -errno : -EIO;
	if (output->unfinished != NULL && keep && output->error == 0 &&
	    rename(output->unfinished, output->path) != 0)
		output->error = -errno;
	if (output->unfinished != NULL && (!keep || output->error != 0))
		unlink(output->unfinished);
	error = output->error;
	free_output(output);
	return error;
}
