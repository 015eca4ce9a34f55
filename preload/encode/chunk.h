/* SPDX-License-Identifier: MIT */
/*
 * chunk.h - a chunk of a recording as bytes (the format is in recording.h).
 */
#ifndef PRELOAD_ENCODE_CHUNK_H
#define PRELOAD_ENCODE_CHUNK_H

#include "preload/encode/pb.h"
#include "preload/encode/writer.h"
#include "preload/profile/chunk.h"
#include "symtab/base.h"

/* What is said once, in the first chunk. */
struct chunk_head {
	uint64_t start_unix_ns, period_ns;
};

/* Appends to MESSAGE the fields of message Info, but INFO_ENDED. */
void chunk_encode_info(struct pb_writer *message, uint64_t pid, const char *program,
		       const struct writer_info *info);

/*
 * Appends to OUT, whose size is a multiple of RECORDING_PAGE, the rows of CHUNK with the counters
 * of now and INFO (from chunk_encode_info; unchanged at the end), padded to the page. HEAD: on the
 * first chunk, else NULL. No field crosses a page that could fit in one, so a file that is cut at a
 * page is whole for every reader of pprof. Out of memory: out->error.
 */
void chunk_encode(struct pb_writer *out, const struct chunk *chunk, struct pb_writer *info,
		  const struct chunk_head *head);

/* Which counters a recording has: as in struct chunk. */
struct chunk_stats {
	const uint64_t *own, *before;
};

/* The last chunk: INFO with INFO_ENDED, and the counters of now. NULL: of the whole process. */
void chunk_encode_end(struct pb_writer *out, struct pb_writer *info,
		      const struct chunk_stats *counters);

#endif /* PRELOAD_ENCODE_CHUNK_H */
