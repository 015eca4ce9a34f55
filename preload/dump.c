/* SPDX-License-Identifier: MIT */
/* dump.c - the running file, or the history encoded as a file of its own. Threads: ours. */
#include "preload/dump.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "preload/base/clock.h"
#include "preload/base/config.h"
#include "preload/encode/chunk.h"
#include "preload/encode/writer.h"
#include "preload/output.h"
#include "preload/profile/extract.h"
#include "preload/profile/profile.h"
#include "preload/sampler/sampler.h"

static void encode(const struct extract *extract, struct pb_writer *out)
{
	/* Both clocks of now, to place the start on that of the wall. */
	uint64_t start_unix_ns =
		clock_ns(CLOCK_REALTIME) - clock_ns(CLOCK_MONOTONIC) + extract->start_ns;
	const struct chunk_stats counters = { .before = extract->before.stats };
	struct pb_writer info = { 0 };
	struct writer_info facts;
	struct chunk_head head;

	output_describe(&facts, extract->start_ns);
	facts.intervals_dropped = extract->intervals_dropped;
	facts.own_cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - extract->before.own_cpu_ns;
	facts.process_cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - extract->before.process_cpu_ns;
	head = (struct chunk_head){ start_unix_ns, facts.period_ns };
	chunk_encode_info(&info, (uint64_t)getpid(), program_invocation_short_name, &facts);
	chunk_encode(out, &extract->chunk, &info, &head);
	chunk_encode_end(out, &info, &counters);
	if (info.error != 0)
		out->error = info.error;
	pb_free(&info);
}

static int dump_history(struct extract_wish wish, struct dump *dump)
{
	struct profile *profile = output_profile();
	struct pb_writer out = { 0 };
	struct extract extract;
	int error;

	if (profile == NULL)
		return -ENODATA;
	wish.memory = config_current()->memory / 8;
	error = extract_make(profile, &wish, &extract);
	if (error != 0)
		return error;
	encode(&extract, &out);
	*dump = (struct dump){
		.bytes = out.bytes,
		.size = out.size,
		.covered_ns = extract.end_ns - extract.start_ns,
		.samples = extract.samples,
		.next_chunk = extract.next_chunk,
	};
	error = out.error;
	extract_free(&extract);
	if (error != 0)
		free(out.bytes);
	return error;
}

/* So that what was sampled until now is in it. */
static void close_chunk(void)
{
	if (sampler_runs())
		output_write();
}

static int dump_file(int fd, struct dump *dump)
{
	struct stat facts;

	if (fstat(fd, &facts) != 0) {
		close(fd);
		return -ENODATA;
	}
	*dump = (struct dump){ .fd = fd, .size = (uint64_t)facts.st_size };
	return 0;
}

int dump_all(struct dump *dump)
{
	int fd;

	close_chunk();
	fd = output_file();
	if (fd >= 0)
		return dump_file(fd, dump);
	return dump_history((struct extract_wish){ 0 }, dump);
}

int dump_last(uint64_t last_ns, struct dump *dump)
{
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);

	close_chunk();
	return dump_history(
		(struct extract_wish){ .since_ns = now_ns > last_ns ? now_ns - last_ns : 1 }, dump);
}

int dump_chunks(uint64_t first, struct dump *dump)
{
	uint64_t next = output_profile() != NULL ? profile_next_chunk(output_profile()) : 0;

	if (first == 0)
		first = next > 1 ? next - 1 : 1;
	return dump_history((struct extract_wish){ .first_chunk = first, .is_lean = true }, dump);
}

uint64_t dump_kept_ns(void)
{
	return output_profile() != NULL ? profile_kept_ns(output_profile()) : 0;
}
