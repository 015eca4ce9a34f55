/* SPDX-License-Identifier: MIT */
/* source.c - reads a whole file and inflates it, member by member, within a bound. Threads: any. */
#include "preload/read/source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

struct growing {
	uint8_t *bytes;
	size_t size, capacity;
};

/* Room for at least one more byte, doubling; 0, -ENOMEM, or -EFBIG beyond the bound. */
static int grow(struct growing *buffer, size_t first)
{
	size_t capacity = buffer->capacity == 0 ? first : buffer->capacity * 2;
	uint8_t *bytes;

	if (buffer->size < buffer->capacity)
		return 0;
	if (buffer->size > SOURCE_MAX)
		return -EFBIG;
	if (capacity > SOURCE_MAX + 1)
		capacity = SOURCE_MAX + 1;
	bytes = realloc(buffer->bytes, capacity);
	if (bytes == NULL)
		return -ENOMEM;
	buffer->bytes = bytes;
	buffer->capacity = capacity;
	return 0;
}

static int read_all(int fd, struct growing *buffer)
{
	for (;;) {
		ssize_t count;
		int error = grow(buffer, 1 << 16);

		if (error != 0)
			return error;
		count = read(fd, buffer->bytes + buffer->size, buffer->capacity - buffer->size);
		if (count == 0)
			return buffer->size > SOURCE_MAX ? -EFBIG : 0;
		if (count > 0)
			buffer->size += (size_t)count;
		else if (errno != EINTR)
			return -errno;
	}
}

static int read_file(const char *path, struct growing *buffer)
{
	bool is_stdin = strcmp(path, "-") == 0;
	int fd = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	int error;

	if (fd < 0)
		return -errno;
	error = read_all(fd, buffer);
	if (!is_stdin)
		close(fd);
	return error;
}

/* Inflates what STREAM has as input. 0, or -EPIPE at an early end, or an error. */
static int inflate_members(z_stream *stream, struct growing *out)
{
	for (;;) {
		int error = grow(out, (size_t)stream->avail_in * 4 + 4096), status;

		if (error != 0)
			return error;
		stream->next_out = out->bytes + out->size;
		stream->avail_out = (uInt)(out->capacity - out->size);
		status = inflate(stream, Z_NO_FLUSH);
		out->size = (size_t)(stream->next_out - out->bytes);
		if (out->size > SOURCE_MAX)
			return -EFBIG;
		if (status == Z_STREAM_END) {
			/* Another member may follow (RFC 1952, 2.2); what is no member is not ours.
			 */
			if (stream->avail_in < 2 || stream->next_in[0] != 0x1f ||
			    stream->next_in[1] != 0x8b)
				return 0;
			if (inflateReset(stream) != Z_OK)
				return -ENOMEM;
		} else if (status == Z_BUF_ERROR ||
			   (status == Z_OK && stream->avail_in == 0 && stream->avail_out != 0)) {
			return -EPIPE;
		} else if (status != Z_OK) {
			return status == Z_MEM_ERROR ? -ENOMEM : -EILSEQ;
		}
	}
}

static int inflate_all(const struct growing *in, struct growing *out, size_t *damaged_at)
{
	z_stream stream = { .next_in = in->bytes, .avail_in = (uInt)in->size };
	int error;

	if (inflateInit2(&stream, 15 + 16) != Z_OK)
		return -ENOMEM;
	error = inflate_members(&stream, out);
	*damaged_at = in->size - stream.avail_in;
	inflateEnd(&stream);
	return error;
}

static void explain(char **why, const char *path, int error, size_t damaged_at)
{
	int length;

	if (error == -EILSEQ)
		length = asprintf(why, "%s: damaged gzip data at byte %zu", path, damaged_at);
	else if (error == -EFBIG)
		length = asprintf(why, "%s: larger than 1 GiB", path);
	else
		length = asprintf(why, "%s: %s", path, strerror(-error));
	if (length < 0)
		*why = NULL;
}

int source_read_raw(const char *path, struct source *source, char **why)
{
	struct growing in = { 0 };
	int error = read_file(path, &in);

	*source = (struct source){ 0 };
	if (error != 0) {
		explain(why, path, error, 0);
		free(in.bytes);
		return error;
	}
	source->bytes = in.bytes;
	source->size = in.size;
	return 0;
}

int source_read(const char *path, struct source *source, char **why)
{
	struct growing in = { 0 }, out = { 0 };
	size_t damaged_at = 0;
	int error = read_file(path, &in);

	*source = (struct source){ 0 };
	if (error == 0 && in.size >= 2 && in.bytes[0] == 0x1f && in.bytes[1] == 0x8b) {
		error = inflate_all(&in, &out, &damaged_at);
		if (error == -EPIPE) {
			source->is_cut = true;
			error = 0;
		}
		free(in.bytes);
		in = out;
	}
	if (error != 0) {
		explain(why, path, error, damaged_at);
		free(in.bytes);
		return error;
	}
	source->bytes = in.bytes;
	source->size = in.size;
	return 0;
}

void source_free(struct source *source)
{
	free(source->bytes);
	*source = (struct source){ 0 };
}
