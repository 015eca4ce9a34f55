/* SPDX-License-Identifier: MIT */
/*
 * recordings.h - builds recordings for tests, field by field, without the product's writer.
 */
#ifndef TESTS_UNIT_ENCODE_RECORDINGS_H
#define TESTS_UNIT_ENCODE_RECORDINGS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "preload/encode/pb.h"
#include "preload/encode/recording.h"
#include "preload/profile/chunk.h"

enum { BUILT_STRINGS_MAX = 8192 };

/* A recording in the making. Ids are given in order, from 1. */
struct built {
	struct pb_writer out;
	const char *strings[BUILT_STRINGS_MAX]; /* borrowed */
	uint64_t string_count, mappings, functions, locations;
};

/* Index of TEXT, which must live as long as BUILT; a new one is written at once. */
static inline uint64_t built_string(struct built *built, const char *text)
{
	for (uint64_t i = 0; i < built->string_count; i++) {
		if (strcmp(built->strings[i], text) == 0)
			return i;
	}
	built->strings[built->string_count] = text;
	pb_string(&built->out, 6, text);
	return built->string_count++;
}

static inline void built_value_type(struct built *built, uint32_t field, const char *type,
				    const char *unit)
{
	uint64_t type_index = built_string(built, type), unit_index = built_string(built, unit);
	size_t mark = pb_begin(&built->out, field);

	pb_varint(&built->out, 1, type_index);
	pb_varint(&built->out, 2, unit_index);
	pb_end(&built->out, mark);
}

static inline void built_begin(struct built *built)
{
	built_string(built, "");
	built_value_type(built, 1, "samples", "count");
	built_value_type(built, 1, "cpu", "nanoseconds");
	built_value_type(built, 11, "cpu", "nanoseconds");
	pb_varint(&built->out, 12, 10 * 1000 * 1000);
	pb_varint(&built->out, 9, 1764525600000000000);
}

static inline uint64_t built_mapping(struct built *built, const char *name, const char *identity)
{
	uint64_t name_index = built_string(built, name),
		 identity_index = built_string(built, identity);
	uint64_t engine = built_string(built, "wasmtime 50");
	size_t mark = pb_begin(&built->out, 3);

	pb_varint(&built->out, 1, ++built->mappings);
	pb_varint(&built->out, 2, 0x7f0000000000);
	pb_varint(&built->out, 3, 0x7f0000010000);
	pb_varint(&built->out, 5, name_index);
	pb_varint(&built->out, 6, identity_index);
	pb_varint(&built->out, MAPPING_LOADING, built->mappings);
	pb_varint(&built->out, MAPPING_ENGINE, engine);
	pb_varint(&built->out, MAPPING_NAME_ORIGIN, 1);
	pb_varint(&built->out, MAPPING_IDENTITY_KIND, 1);
	pb_varint(&built->out, MAPPING_FUNCTION_COUNT, 12);
	pb_end(&built->out, mark);
	return built->mappings;
}

static inline uint64_t built_function(struct built *built, const char *name, const char *filename)
{
	uint64_t name_index = built_string(built, name), file_index = built_string(built, filename);
	size_t mark = pb_begin(&built->out, 5);

	pb_varint(&built->out, 1, ++built->functions);
	pb_varint(&built->out, 2, name_index);
	pb_varint(&built->out, 3, name_index);
	if (file_index != 0)
		pb_varint(&built->out, 4, file_index);
	pb_varint(&built->out, 5, 10);
	pb_varint(&built->out, FUNCTION_WASM_INDEX, built->functions + 100);
	pb_end(&built->out, mark);
	return built->functions;
}

/* FUNCTIONS: innermost first, ended by 0. */
static inline uint64_t built_location(struct built *built, uint64_t mapping, uint64_t address,
				      enum frame_kind kind, const uint64_t *functions)
{
	size_t mark = pb_begin(&built->out, 4), line;

	pb_varint(&built->out, 1, ++built->locations);
	if (mapping != 0)
		pb_varint(&built->out, 2, mapping);
	pb_varint(&built->out, 3, address);
	for (; *functions != 0; functions++) {
		line = pb_begin(&built->out, 4);
		pb_varint(&built->out, 1, *functions);
		pb_varint(&built->out, 2, 20 + *functions);
		pb_varint(&built->out, 3, 7);
		pb_end(&built->out, line);
	}
	if (kind != FRAME_GUEST)
		pb_varint(&built->out, LOCATION_KIND, kind);
	pb_varint(&built->out, LOCATION_ADDRESS_IS_WASM, 1);
	pb_end(&built->out, mark);
	return built->locations;
}

struct built_sample {
	const char *module, *instance, *state, *thread_name;
	uint64_t locations[70]; /* leaf first, ended by 0 */
	uint64_t count, cpu_ns, thread_id, time_ns;
	bool is_truncated;
};

static inline void built_label(struct built *built, uint64_t key, uint64_t text, uint64_t number)
{
	size_t mark = pb_begin(&built->out, 3);

	pb_varint(&built->out, 1, key);
	if (text != 0)
		pb_varint(&built->out, 2, text);
	else
		pb_varint(&built->out, 3, number);
	pb_end(&built->out, mark);
}

static inline void built_add_sample(struct built *built, const struct built_sample *sample)
{
	static const char *const keys[] = { "wasm_module", "wasm_instance", "wasm_state",
					    "thread_name", "thread_id",	    "time" };
	const char *texts[] = { sample->module, sample->instance, sample->state,
				sample->thread_name };
	uint64_t key_index[6], text_index[4], values[] = { sample->count, sample->cpu_ns };
	size_t count = 0, mark;

	for (int i = 0; i < 6; i++)
		key_index[i] = built_string(built, keys[i]);
	for (int i = 0; i < 4; i++)
		text_index[i] = texts[i] != NULL ? built_string(built, texts[i]) : 0;
	while (sample->locations[count] != 0)
		count++;
	mark = pb_begin(&built->out, 2);
	pb_packed(&built->out, 1, sample->locations, count);
	pb_packed(&built->out, 2, values, 2);
	for (int i = 0; i < 4; i++) {
		if (text_index[i] != 0)
			built_label(built, key_index[i], text_index[i], 0);
	}
	built_label(built, key_index[4], 0, sample->thread_id);
	built_label(built, key_index[5], 0, sample->time_ns);
	if (sample->is_truncated)
		pb_varint(&built->out, SAMPLE_IS_TRUNCATED, 1);
	pb_end(&built->out, mark);
}

static inline void built_group(struct built *built, const char *module, const char *identity,
			       uint64_t created, uint64_t samples, uint64_t cpu_ns,
			       const uint64_t *states)
{
	uint64_t module_index = built_string(built, module);
	uint64_t identity_index = built_string(built, identity);
	size_t mark = pb_begin(&built->out, RECORDING_GROUP);

	pb_varint(&built->out, GROUP_MODULE, module_index);
	pb_varint(&built->out, GROUP_IDENTITY, identity_index);
	pb_varint(&built->out, GROUP_INSTANCES_CREATED, created);
	pb_varint(&built->out, GROUP_INSTANCES_SAMPLED, created);
	pb_varint(&built->out, GROUP_SAMPLES, samples);
	pb_varint(&built->out, GROUP_CPU_NS, cpu_ns);
	pb_packed(&built->out, GROUP_SAMPLES_BY_STATE, states, STATE_COUNT);
	pb_end(&built->out, mark);
}

static inline void built_info(struct built *built, bool has_ended)
{
	size_t mark = pb_begin(&built->out, RECORDING_INFO);

	pb_varint(&built->out, INFO_VERSION, 1);
	pb_varint(&built->out, INFO_PID, 4242);
	pb_string(&built->out, INFO_PROGRAM, "python3");
	pb_string(&built->out, INFO_CLOCK, "cpu timer");
	pb_string(&built->out, INFO_CLOCK_WHY, "perf_event: EPERM");
	pb_varint(&built->out, INFO_REQUESTED_HZ, 100);
	pb_string(&built->out, INFO_STACKS, "hostcalls");
	pb_varint(&built->out, INFO_ENDED, has_ended);
	pb_string(&built->out, INFO_GUESTPROF, "0.1.0");
	pb_varint(&built->out, INFO_OWN_CPU_NS, 3 * 1000 * 1000);
	pb_varint(&built->out, INFO_PROCESS_CPU_NS, 2000 * 1000 * 1000);
	pb_string(&built->out, INFO_ENGINES, "wasmtime 50");
	pb_end(&built->out, mark);
}

static inline void built_stat(struct built *built, const char *name, uint64_t value)
{
	size_t mark = pb_begin(&built->out, STATS_ENTRY);

	pb_string(&built->out, STATS_ENTRY_NAME, name);
	pb_varint(&built->out, STATS_ENTRY_VALUE, value);
	pb_end(&built->out, mark);
}

static inline void built_stats(struct built *built, uint64_t lost_ring_full)
{
	size_t mark = pb_begin(&built->out, RECORDING_STATS);

	built_stat(built, "signals", 198);
	built_stat(built, "lost_ring_full", lost_ring_full);
	built_stat(built, "lost_nested", 1);
	built_stat(built, "truncated", 2);
	built_stat(built, "unnamed", 1);
	built_stat(built, "modules", 2);
	built_stat(built, "instances", 4);
	built_stat(built, "handler_ns", 1000 * 1000);
	pb_end(&built->out, mark);
}

#define SMALL_IDENTITY "3f9a2c00112233445566778899aabbccddeeff00112233445566778899aabbcc"
#define EVIL_IDENTITY "e51100112233445566778899aabbccddeeff00112233445566778899aabbccdd"
/* What a guest may call itself: colours, a line of its own, reversed text, a torn character. */
#define EVIL_NAME "ev\033[31mil;\nroot \342\200\256gnp.exe\377\\</script>"

/* Locations of the small recording. */
struct small_places {
	uint64_t start, kernel, helper, grow, host;
};

static inline void build_small_app(struct built *built, struct small_places *at)
{
	uint64_t app, host, start, kernel, helper, grow, call;

	app = built_mapping(built, "app.wasm", SMALL_IDENTITY);
	host = built_mapping(built, "[host]", "");
	start = built_function(built, "_start", "src/main.rs");
	kernel = built_function(built, "math::kernel<[u8; 32]>", "src/math.rs");
	helper = built_function(built, "math::helper", "src/math.rs");
	grow = built_function(built, "memory.grow", "");
	call = built_function(built, "wasi_snapshot_preview1.fd_write", "");
	at->start = built_location(built, app, 300, FRAME_GUEST, (uint64_t[]){ start, 0 });
	at->kernel = built_location(built, app, 512, FRAME_GUEST, (uint64_t[]){ kernel, 0 });
	at->helper =
		built_location(built, app, 530, FRAME_GUEST, (uint64_t[]){ helper, kernel, 0 });
	at->grow = built_location(built, app, 0, FRAME_BUILTIN, (uint64_t[]){ grow, 0 });
	at->host = built_location(built, host, 0, FRAME_HOST, (uint64_t[]){ call, 0 });
}

/* A sample of app.wasm: STACK leaf first, ended by 0. */
static inline void build_small_sample(struct built *built, const char *instance, const char *state,
				      const uint64_t *stack, uint64_t count, uint64_t time_ns)
{
	bool is_first = strcmp(instance, "app.wasm#1") == 0;
	bool is_waiting = strcmp(state, "waiting") == 0;
	struct built_sample sample = {
		.module = "app.wasm",
		.instance = instance,
		.state = state,
		.thread_name = is_first ? "worker-1" : "worker-2",
		.thread_id = is_first ? 4243 : 4244,
		.count = count,
		.cpu_ns = is_waiting ? 0 : count * 10 * 1000 * 1000,
		.time_ns = time_ns,
		.is_truncated = strcmp(state, "host") == 0,
	};

	for (int i = 0; stack[i] != 0; i++)
		sample.locations[i] = stack[i];
	built_add_sample(built, &sample);
}

static inline void build_small_evil(struct built *built)
{
	static const uint64_t states[STATE_COUNT] = { 25, 0, 0, 0 };
	uint64_t evil = built_mapping(built, EVIL_NAME, EVIL_IDENTITY);
	uint64_t bad = built_function(built, EVIL_NAME " 12", "");
	uint64_t at_evil = built_location(built, evil, 64, FRAME_GUEST, (uint64_t[]){ bad, 0 });
	uint64_t at_nowhere = built_location(built, 0, 0x1234, FRAME_JIT, (uint64_t[]){ 0 });

	built_add_sample(built, &(struct built_sample){ .module = EVIL_NAME,
							.instance = EVIL_NAME "#7",
							.state = "guest",
							.locations = { at_nowhere, at_evil },
							.count = 25,
							.cpu_ns = 250000000,
							.thread_id = 4244,
							.time_ns = 1990000000 });
	built_group(built, EVIL_NAME, EVIL_IDENTITY, 1, 25, 250000000, states);
}

/* Two modules, three named instances and the rest, inlines, a host call, a builtin, hostile names.
 */
static inline void build_small(struct built *built)
{
	static const uint64_t early_states[STATE_COUNT] = { 10, 1, 2, 0 };
	static const uint64_t states[STATE_COUNT] = { 60, 40, 60, 10 };
	struct small_places at;

	built_begin(built);
	built_info(built, false);
	build_small_app(built, &at);
	build_small_sample(built, "app.wasm#1", "guest", (uint64_t[]){ at.kernel, at.start, 0 }, 10,
			   5000000);
	built_group(built, "app.wasm", SMALL_IDENTITY, 1, 13, 130000000, early_states);
	built_stats(built, 0);
	pb_varint(&built->out, 10, 1000000000);
	pb_pad(&built->out, RECORDING_PAD, RECORDING_PAGE);

	built_info(built, true);
	build_small_sample(built, "app.wasm#1", "guest", (uint64_t[]){ at.helper, at.start, 0 }, 50,
			   1005000000);
	build_small_sample(built, "app.wasm#2", "host",
			   (uint64_t[]){ at.host, at.kernel, at.start, 0 }, 60, 1005000000);
	build_small_sample(built, "app.wasm#*", "builtin", (uint64_t[]){ at.grow, at.start, 0 }, 40,
			   1900000000);
	build_small_sample(built, "app.wasm#2", "waiting", (uint64_t[]){ at.host, at.start, 0 }, 10,
			   1950000000);
	build_small_evil(built);
	built_group(built, "app.wasm", SMALL_IDENTITY, 3, 170, 1600000000, states);
	built_stats(built, 5);
	pb_varint(&built->out, 10, 2000000000);
	pb_pad(&built->out, RECORDING_PAD, RECORDING_PAGE);
}

static inline void built_free(struct built *built)
{
	pb_free(&built->out);
	free(built);
}

/* A file of BYTES under a new name in /tmp (caller unlinks and frees), or at PATH. */
static inline char *write_bytes(const char *path, const void *bytes, size_t size)
{
	char *name = strdup(path != NULL ? path : "/tmp/guestprof-test-XXXXXX");
	int fd = path == NULL ? mkstemp(name) : -1;
	FILE *file = path != NULL ? fopen(name, "w") : fdopen(fd, "w");

	if (file == NULL || fwrite(bytes, 1, size, file) != size || fclose(file) != 0)
		abort();
	return name;
}

/* BYTES as one gzip member (caller frees). */
static inline uint8_t *gzip_bytes(const void *bytes, size_t size, size_t *gzip_size)
{
	z_stream stream = { .next_in = (Bytef *)bytes, .avail_in = (uInt)size };
	uint8_t *out;

	if (deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
		abort();
	*gzip_size = deflateBound(&stream, size);
	out = malloc(*gzip_size);
	stream.next_out = out;
	stream.avail_out = (uInt)*gzip_size;
	if (deflate(&stream, Z_FINISH) != Z_STREAM_END)
		abort();
	*gzip_size = stream.total_out;
	deflateEnd(&stream);
	return out;
}

#endif /* TESTS_UNIT_ENCODE_RECORDINGS_H */
