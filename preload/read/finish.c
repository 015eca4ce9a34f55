/* SPDX-License-Identifier: MIT */
/*
 * finish.c - gives a recording whose process was killed the form it would have had at a normal end.
 *
 * The file is inflated nowhere and rebuilt nowhere: its whole fields are a valid profile already.
 */
#include "preload/encode/pb.h"
#include "preload/read/reader.h"
#include "preload/read/source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

/* Where the last whole field ends. */
static size_t whole_size(const struct source *source)
{
	struct pb_reader top = { .at = source->bytes };
	struct pb_field field;

	if (source->size == 0)
		return 0;
	top.end = source->bytes + source->size;
	while (pb_next(&top, &field))
		;
	return (size_t)(top.at - source->bytes);
}

/* Takes FD. */
static int write_gzip(int fd, const uint8_t *bytes, size_t size)
{
	gzFile file = gzdopen(fd, "wb6");
	int status = Z_OK;

	if (file == NULL) {
		close(fd);
		return -ENOMEM;
	}
	while (size > 0 && status == Z_OK) {
		unsigned int part = size > 1 << 20 ? 1 << 20 : (unsigned int)size;

		if (gzwrite(file, bytes, part) != (int)part)
			status = Z_ERRNO;
		bytes += part;
		size -= part;
	}
	if (gzclose(file) != Z_OK || status != Z_OK)
		return errno != 0 ? -errno : -EIO;
	return 0;
}

/* A link never replaces a finished file that is there already; a rename to a name that was asked
 * for does. */
static int put_in_place(const char *unfinished, const char *final, bool may_replace)
{
	if (may_replace)
		return rename(unfinished, final) == 0 ? 0 : -errno;
	if (link(unfinished, final) != 0)
		return -errno;
	unlink(unfinished);
	return 0;
}

static int compress_to(const struct source *source, const char *final, bool may_replace)
{
	char *unfinished;
	int fd, error;

	if (asprintf(&unfinished, "%s.%d.tmp", final, (int)getpid()) < 0)
		return -ENOMEM;
	fd = open(unfinished, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0) {
		error = -errno;
		free(unfinished);
		return error;
	}
	error = write_gzip(fd, source->bytes, whole_size(source));
	if (error == 0)
		error = put_in_place(unfinished, final, may_replace);
	if (error != 0)
		unlink(unfinished);
	free(unfinished);
	return error;
}

/* What the process had compressed of PATH when it was killed (close_compressed(), writer.c). */
static void remove_begun(const char *path)
{
	char *begun;

	if (asprintf(&begun, "%s.tmp", path) < 0)
		return;
	unlink(begun);
	free(begun);
}

int recording_finish(const char *path, const char *final)
{
	struct source source;
	char *why = NULL, *name = NULL;
	int error = source_read(path, &source, &why);

	free(why);
	if (error != 0)
		return error;
	if (final == NULL && asprintf(&name, "%s.gz", path) < 0) {
		name = NULL;
		error = -ENOMEM;
	} else {
		error = compress_to(&source, final != NULL ? final : name, final != NULL);
	}
	if (error == 0 && (final == NULL || strcmp(path, final) != 0) && unlink(path) != 0)
		error = -errno;
	if (error == 0)
		remove_begun(path);
	source_free(&source);
	free(name);
	return error;
}
