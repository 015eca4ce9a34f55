/* SPDX-License-Identifier: MIT */
/*
 * writer.h - the recording on disk: made at the first chunk, appended to, renamed at the end.
 *
 * In the host, on our thread (whose descriptors are its own); writer_finish() also at exit.
 * The directory is opened when the path is fixed (writer_prepare, early, with the host's working
 * directory), so that chdir, chroot or umask of the host change nothing; files are 0600 and never
 * follow a symbolic link in the last component. Errors: one log line, then nothing more is written.
 */
#ifndef PRELOAD_ENCODE_WRITER_H
#define PRELOAD_ENCODE_WRITER_H

#include "preload/profile/chunk.h"
#include "symtab/base.h"

struct writer;

/* The rate changed; as message Rate. */
struct writer_rate {
	uint64_t time_ns; /* since the start of the recording */
	uint32_t from, to;
	uint32_t cost_ppm, budget_ppm;
};

/* What goes into message Info, besides what the writer knows. */
struct writer_info {
	const char *name; /* of a profile that the host took itself; NULL: of the whole process */
	const char *clock_name, *clock_why; /* why: NULL */
	uint32_t requested_hz;
	const char *stacks;
	uint64_t period_ns;
	uint64_t own_cpu_ns, process_cpu_ns;
	uint64_t began_unix_ns;	    /* of the process's first recording; 0 unknown */
	uint64_t intervals_dropped; /* host calls that no chunk has: the shortest */
	uint64_t delivery_ns;	    /* of a signal; 0: not known */
	const struct writer_rate *rates;
	size_t rate_count;
	const char *const *engines;
	size_t engine_count;
};

/*
 * Fixes the path: PATTERN (GUESTPROF_OUTPUT) with %e program, %p pid, %h host name, %t start time
 * (unix seconds), %n sequence, %{VAR} environment as the process got it, %% percent; other escapes
 * stay as they are. Relative to the working directory of now; a directory takes the default name.
 * The running file ends in .pb, the finished one in .pb.gz; a number is added where one is taken.
 * EXACT (`record -o`): PATTERN is a file's name as it is, compressed when it ends in .gz. When it
 * or its running file is there already, another guest process has it, and our pid is added. Not
 * writable: ${TMPDIR:-/tmp}/guestprof-UID/ (0700, owner checked), said in one line. Creates no file
 * yet. Returns NULL with errno when memory is short or PATTERN is "none" (ENOENT).
 */
struct writer *writer_prepare(const char *pattern, bool exact, uint64_t start_unix_ns);

/*
 * Appends CHUNK (and on the first call the head) with the counters of now; CHUNK's own ones must
 * live until writer_finish(). Returns 0 or negative errno.
 */
int writer_append(struct writer *writer, const struct chunk *chunk, const struct writer_info *info);

/*
 * Marks the recording as ended and gives it its final name: `.pb.gz` when compressing takes at most
 * BUDGET_NS (by a measured rate), else `.pb`. Nothing was appended: no file is left. Returns 0 or
 * negative errno. The writer can only be freed afterwards.
 */
int writer_finish(struct writer *writer, uint64_t budget_ns);

/*
 * Ends the recording as writer_finish() does, but another one may follow, begun at START_UNIX_NS:
 * the next chunk is its first, in a file with the next number. KEEP not 0: of the files of this
 * writer the newest KEEP stay, the running one counted, the others are removed. 0 or negative errno
 * of what was ended; the next recording is tried in any case.
 */
int writer_next(struct writer *writer, uint64_t budget_ns, uint64_t start_unix_ns, uint32_t keep);

/* Bytes written so far; of the running file. */
uint64_t writer_size(const struct writer *writer);

/* A descriptor of the running file, the writer's own; -1 when there is none. */
int writer_file(const struct writer *writer);

/* Path of the file as it is now (running or finished); "" when there is none. */
const char *writer_path(const struct writer *writer);

/* FORKED: the child's copy; forgets descriptors without touching the parent's file. */
void writer_free(struct writer *writer, bool forked);

#endif /* PRELOAD_ENCODE_WRITER_H */
