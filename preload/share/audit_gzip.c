/* SPDX-License-Identifier: MIT */
/* audit_gzip.c - what a gzip file (RFC 1952) says besides its content. Threads: any. */
#include "preload/read/source.h"
#include "preload/share/audit.h"

#include <errno.h>
#include <stdlib.h>
#include <zlib.h>

enum { HEADER_SIZE = 10, FLAGS_AT = 3, MTIME_AT = 4, FIRST_ROOM = 1 << 16 };

/* RFC 1952, 2.3.1 */
enum { FLAG_EXTRA = 4, FLAG_NAME = 8, FLAG_COMMENT = 16 };

static void check_header(struct audit *audit, const uint8_t *bytes)
{
	static const char where[] = "gzip header";

	if ((bytes[FLAGS_AT] & FLAG_NAME) != 0)
		audit_found(audit, where, "the name of a file");
	if ((bytes[FLAGS_AT] & FLAG_COMMENT) != 0)
		audit_found(audit, where, "a comment");
	if ((bytes[FLAGS_AT] & FLAG_EXTRA) != 0)
		audit_found(audit, where, "an extra field");
	if ((bytes[MTIME_AT] | bytes[MTIME_AT + 1] | bytes[MTIME_AT + 2] | bytes[MTIME_AT + 3]) !=
	    0)
		audit_found(audit, where, "a time");
}

/* The first member's content, in *OUT (caller frees). 0, -EBADMSG, -EFBIG or -ENOMEM. */
static int inflate_member(z_stream *stream, uint8_t **out, size_t *size)
{
	size_t room = 0;
	int status = Z_OK;

	while (status == Z_OK) {
		if (stream->avail_out == 0) {
			uint8_t *bigger;

			if (room > SOURCE_MAX / 2)
				return -EFBIG;
			room = room == 0 ? FIRST_ROOM : room * 2;
			bigger = realloc(*out, room);
			if (bigger == NULL)
				return -ENOMEM;
			*out = bigger;
			stream->next_out = bigger + stream->total_out;
			stream->avail_out = (uInt)(room - stream->total_out);
		}
		status = inflate(stream, Z_NO_FLUSH);
	}
	*size = stream->total_out;
	return status == Z_STREAM_END ? 0 : -EBADMSG;
}

int audit_gzip(struct audit *audit, const uint8_t *bytes, size_t size, unsigned depth)
{
	z_stream stream = { .next_in = (Bytef *)bytes, .avail_in = (uInt)size };
	size_t inflated = 0;
	uint8_t *out = NULL;
	int error;

	if (size < HEADER_SIZE || size > SOURCE_MAX)
		return audit_unreadable(audit, "a damaged gzip file");
	check_header(audit, bytes);
	if (depth != 0)
		return audit_unreadable(audit, "gzip within gzip");
	if (inflateInit2(&stream, 15 + 16) != Z_OK)
		return -ENOMEM;
	error = inflate_member(&stream, &out, &inflated);
	if (error == 0 && stream.avail_in != 0)
		audit_found(audit, "gzip", "%u bytes behind the end", stream.avail_in);
	inflateEnd(&stream);
	if (error == -EBADMSG || error == -EFBIG)
		error = audit_unreadable(audit, error == -EFBIG ? "larger than 1 GiB"
								: "a damaged gzip file");
	if (error == 0)
		error = audit_inflated(audit, out, inflated, depth + 1);
	free(out);
	return error;
}
