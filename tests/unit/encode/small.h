/* SPDX-License-Identifier: MIT */
/*
 * small.h - the small recording, read: what tests of its consumers begin with.
 */
#ifndef TESTS_UNIT_ENCODE_SMALL_H
#define TESTS_UNIT_ENCODE_SMALL_H

#include "preload/export/output.h"
#include "preload/read/reader.h"
#include "tests/unit/encode/recordings.h"

static inline struct recording *small_read_file(const char *path)
{
	char *why = NULL;
	struct recording *recording = recording_read(path, &why);

	if (recording == NULL)
		fprintf(stderr, "%s\n", why);
	free(why);
	assert_non_null(recording);
	return recording;
}

static inline struct recording *small_read_built(const struct built *built)
{
	char *name = write_bytes(NULL, built->out.bytes, built->out.size);
	struct recording *recording = small_read_file(name);

	unlink(name);
	free(name);
	return recording;
}

static inline struct recording *small_read(void)
{
	struct built *built = calloc(1, sizeof(*built));
	struct recording *recording;

	build_small(built);
	recording = small_read_built(built);
	built_free(built);
	return recording;
}

/* The small recording as that of another process, which began LATER_NS after the first. */
static inline struct recording *small_read_other(uint64_t pid, uint64_t later_ns)
{
	struct recording *recording = small_read();

	recording->pid = recording->processes[0].pid = pid;
	recording->time_unix_ns += later_ns;
	recording->processes[0].time_unix_ns += later_ns;
	return recording;
}

static inline uint64_t small_count(const struct recording *recording)
{
	uint64_t count = 0;

	for (size_t i = 0; i < recording->sample_count; i++)
		count += recording->samples[i].count;
	return count;
}

#endif /* TESTS_UNIT_ENCODE_SMALL_H */
