/* SPDX-License-Identifier: MIT */
/*
 * feed_fuzz.c - libFuzzer entry: any bytes as a recording that grows, in pieces whose size the
 *first byte gives; its windows are read, and have the samples that the whole has.
 *
 *	scripts/fuzz 300 feed
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "preload/read/feed.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void count_stat(void *context, const char *name, size_t name_size, uint64_t value)
{
	uint64_t *sum = context;

	*sum += value;
	for (size_t i = 0; i < name_size; i++)
		*sum += (unsigned char)name[i];
}

/* Samples of the window; 0 also when it cannot be read, which is no crash. */
static size_t read_window(const struct feed *feed, uint64_t from, uint64_t to)
{
	struct pb_writer bytes = { 0 };
	struct recording *recording;
	size_t count = 0;
	char *why = NULL;

	if (!feed_window(feed, from, to, &bytes))
		return 0;
	recording = recording_parse("fuzz", bytes.bytes, bytes.size, &why);
	if (recording != NULL)
		count = recording->sample_count;
	recording_free(recording);
	free(why);
	pb_free(&bytes);
	return count;
}

static void look_at(struct feed *feed)
{
	uint64_t sum = 0, start = feed_start_unix_ns(feed), middle = start + 1000000000;
	size_t whole = read_window(feed, 0, UINT64_MAX), first, second;

	for (size_t i = 0; i < feed_group_count(feed); i++)
		sum += feed_group(feed, i)->counters.cpu_ns +
		       (uint64_t)feed_group(feed, i)->module[0];
	feed_each_stat(feed, count_stat, &sum);
	first = read_window(feed, 0, middle);
	second = read_window(feed, middle, UINT64_MAX);
	if (whole != 0 && first + second > whole)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct feed *feed = feed_new();
	size_t piece = size != 0 ? (size_t)bytes[0] * 16 + 1 : 1, at = 0, end = 0, taken;

	if (feed == NULL)
		return 0;
	while (end < size) {
		end = end + piece < size ? end + piece : size;
		if (feed_take(feed, bytes + at, end - at, &taken) != 0) {
			feed_free(feed);
			return 0;
		}
		if (taken > end - at)
			abort();
		at += taken;
	}
	look_at(feed);
	feed_free(feed);
	return 0;
}
