/* SPDX-License-Identifier: MIT */
/*
 * waiting.h - a recording with waits, built field by field: three values a sample.
 *
 *	10 samples	_start		app.wasm#1
 *	1.5 s waiting	_start;kernel;(host);[read]	app.wasm#1, descriptor 7
 *	0.5 s waiting	_start;(host);[futex]		app.wasm#2
 *	0.25 s waiting	(parked)			app.wasm#*
 */
#ifndef TESTS_UNIT_ENCODE_WAITING_H
#define TESTS_UNIT_ENCODE_WAITING_H

#include "preload/read/reader.h"
#include "tests/unit/encode/recordings.h"

static inline void waiting_sample(struct built *built, const char *instance, const char *state,
				  const uint64_t *stack, const uint64_t values[3],
				  uint64_t descriptor)
{
	uint64_t module_key = built_string(built, "wasm_module");
	uint64_t instance_key = built_string(built, "wasm_instance");
	uint64_t state_key = built_string(built, "wasm_state");
	uint64_t descriptor_key = built_string(built, "descriptor");
	uint64_t module = built_string(built, "app.wasm"), name = built_string(built, instance);
	uint64_t state_text = built_string(built, state);
	size_t count = 0, mark;

	while (stack[count] != 0)
		count++;
	mark = pb_begin(&built->out, 2);
	pb_packed(&built->out, 1, stack, count);
	pb_packed(&built->out, 2, values, 3);
	built_label(built, module_key, module, 0);
	built_label(built, instance_key, name, 0);
	built_label(built, state_key, state_text, 0);
	if (descriptor != 0)
		built_label(built, descriptor_key, 0, descriptor);
	pb_end(&built->out, mark);
}

static inline void waiting_group(struct built *built)
{
	static const uint64_t states[STATE_COUNT] = { 10, 0, 0, 225 };
	uint64_t module = built_string(built, "app.wasm");
	uint64_t identity = built_string(built, SMALL_IDENTITY);
	size_t mark = pb_begin(&built->out, RECORDING_GROUP);

	pb_varint(&built->out, GROUP_MODULE, module);
	pb_varint(&built->out, GROUP_IDENTITY, identity);
	pb_varint(&built->out, GROUP_INSTANCES_CREATED, 2);
	pb_varint(&built->out, GROUP_SAMPLES, 10);
	pb_varint(&built->out, GROUP_CPU_NS, 100000000);
	pb_packed(&built->out, GROUP_SAMPLES_BY_STATE, states, STATE_COUNT);
	pb_varint(&built->out, GROUP_WALL_NS, 2250000000);
	pb_end(&built->out, mark);
}

static inline uint64_t waiting_leaf(struct built *built, uint64_t mapping, const char *name)
{
	uint64_t function = built_function(built, name, "");

	return built_location(built, mapping, 0, FRAME_HOST, (uint64_t[]){ function, 0 });
}

static inline void build_waiting(struct built *built)
{
	struct small_places at;
	uint64_t read, futex, parked;

	built_begin(built);
	built_value_type(built, 1, "wall", "nanoseconds");
	built_info(built, true);
	build_small_app(built, &at);
	read = waiting_leaf(built, 2, "[read]");
	futex = waiting_leaf(built, 2, "[futex]");
	parked = waiting_leaf(built, 2, "(parked)");
	waiting_sample(built, "app.wasm#1", "guest", (uint64_t[]){ at.start, 0 },
		       (uint64_t[]){ 10, 100000000, 0 }, 0);
	waiting_sample(built, "app.wasm#1", "waiting",
		       (uint64_t[]){ read, at.host, at.kernel, at.start, 0 },
		       (uint64_t[]){ 0, 0, 1500000000 }, 7);
	waiting_sample(built, "app.wasm#2", "waiting", (uint64_t[]){ futex, at.host, at.start, 0 },
		       (uint64_t[]){ 0, 0, 500000000 }, 0);
	waiting_sample(built, "app.wasm#*", "waiting", (uint64_t[]){ parked, 0 },
		       (uint64_t[]){ 0, 0, 250000000 }, 0);
	waiting_group(built);
	built_stats(built, 0);
	pb_varint(&built->out, 10, 2000000000);
	pb_pad(&built->out, RECORDING_PAD, RECORDING_PAGE);
}

/* Writes it to PATH (caller unlinks), or to a new name in /tmp (caller unlinks and frees). */
static inline char *write_waiting(const char *path)
{
	struct built *built = calloc(1, sizeof(*built));
	char *name;

	build_waiting(built);
	name = write_bytes(path, built->out.bytes, built->out.size);
	built_free(built);
	return name;
}

static inline struct recording *read_waiting(void)
{
	char *why = NULL, *name = write_waiting(NULL);
	struct recording *recording = recording_read(name, &why);

	unlink(name);
	free(name);
	free(why);
	return recording;
}

#endif /* TESTS_UNIT_ENCODE_WAITING_H */
