/* SPDX-License-Identifier: MIT */
/*
 * recording_fuzz.c - libFuzzer entry: any bytes as a recording, which is read, merged with itself,
 * filtered, and written in both ways; what is written reads back with the same sums.
 *
 *	scripts/fuzz 300 recording
 */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "preload/export/pprof.h"
#include "preload/read/filter.h"
#include "preload/read/merge.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static const struct filter_wish wishes[] = {
	{ .view = "guest" },
	{ .view = "hostcalls", .exclude = { "^z" } },
	{ .focus = "[a-m]", .include = { ".", "e" } },
	{ .time = "1:", .labels = { "wasm_state=guest|host" } },
	{ .module = "images", .thread = "7" },
	{ .instance = "images#1", .labels = { "tenant" } },
};

static char *scratch_path(const char *name)
{
	static char path[64];

	snprintf(path, sizeof(path), "/dev/shm/recording_fuzz.%d.%s", (int)getpid(), name);
	return path;
}

static struct recording *read_bytes(const uint8_t *bytes, size_t size)
{
	char *why = NULL, *path = scratch_path("in");
	FILE *file = fopen(path, "w");
	struct recording *recording;

	if (file == NULL || fwrite(bytes, 1, size, file) != size || fclose(file) != 0)
		abort();
	recording = recording_read(path, &why);
	unlink(path);
	free(why);
	return recording;
}

static uint64_t sum(const struct recording *recording)
{
	uint64_t count = 0;

	for (size_t i = 0; i < recording->sample_count; i++)
		count += recording->samples[i].count * 3 + recording->samples[i].cpu_ns * 5 +
			 recording->samples[i].wall_ns * 7;
	return count;
}

/* WRITE: 0 as a recording, 1 or 2 for other tools. */
static void write_and_read(const struct recording *recording, int how)
{
	const struct pprof_options options = { .by_instance = how == 2, .group_max = 2 };
	char *why = NULL, *path = scratch_path("out");
	struct output *output = output_open(path, false);
	int error = output == NULL ? -errno
		    : how == 0	   ? pprof_write_recording(recording, output)
				   : pprof_write(recording, &options, output);
	struct recording *again;

	if (error != 0 || output_close(output, true) != 0)
		abort();
	again = recording_read(path, &why);
	unlink(path);
	if (again == NULL || (how == 0 && sum(again) != sum(recording)))
		abort();
	recording_free(again);
	free(why);
}

static void filter(struct recording *recording, size_t number)
{
	char *why = NULL;
	struct filter *filter = filter_new(&wishes[number % ARRAY_SIZE(wishes)], &why);
	int error = filter != NULL ? filter_apply(filter, recording, &why) : -EINVAL;

	if (error != 0 && error != -ENODATA)
		abort();
	filter_free(filter);
	free(why);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct recording *recording = read_bytes(bytes, size), *merged;

	if (recording == NULL)
		return 0;
	merged = recording_merge((struct recording *[]){ recording, recording }, 2);
	if (merged == NULL || sum(merged) != 2 * sum(recording))
		abort();
	write_and_read(merged, (int)(size % 3));
	filter(merged, size / 3);
	write_and_read(merged, (int)(size % 3));
	recording_free(merged);
	recording_free(recording);
	return 0;
}
