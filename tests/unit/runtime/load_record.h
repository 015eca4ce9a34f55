/* SPDX-License-Identifier: MIT */
/*
 * load_record.h - stands in for load/: keeps what the wrappers told it.
 *
 * Instances are kept as the real table keeps them, without its locks: one thread.
 */
#ifndef TESTS_UNIT_RUNTIME_LOAD_RECORD_H
#define TESTS_UNIT_RUNTIME_LOAD_RECORD_H

#include <stdlib.h>
#include <string.h>

#include "preload/load/instance.h"
#include "preload/load/load.h"

struct load_bytes {
	const uint8_t *wasm;
	size_t size;
};

enum { RECORD_MAX = 64 };

static struct {
	int bytes_begun, bytes_ended, bytes_freed;
	int announced, interpreted;
	uint32_t retired;
	struct load_event event; /* the last */
	const void *handles[RECORD_MAX];
	uint32_t loadings[RECORD_MAX];
	int handle_count;
	const void *forgotten;
	size_t functions; /* of the code that was listed last */
	const void *registered, *deregistered;
	int registrations, deregistrations;
	const char *version;
	const void *owner, *owner_clone; /* of the last alias; clone NULL: forgotten */
	uintptr_t text_start, text_end;
	uint32_t first_held; /* with its image, and what it was named */
	uintptr_t image_start, image_end;
	const char *name;

	struct instance_key keys[RECORD_MAX];
	uint32_t ids[RECORD_MAX];
	uint32_t loading_of[RECORD_MAX]; /* by id */
	int key_count;
	uint32_t instances;
	uint64_t store_forgotten;

	int called_out;
	bool is_interpreted; /* what calls out is: it is recorded */
	uint32_t call, from_count, from[RECORD_MAX];

	int entered, left;
	uint32_t depth, deepest;
	uint32_t instance; /* of the last entry */
	uintptr_t stack_pointer, context;
	struct exit_layout *layout;
	uint32_t flags;
} record;

static void record_reset(void)
{
	memset(&record, 0, sizeof(record));
	record.version = "50";
}

struct load_bytes *load_bytes_begin(const uint8_t *wasm, size_t size)
{
	struct load_bytes *bytes = malloc(sizeof(*bytes));

	*bytes = (struct load_bytes){ wasm, size };
	record.bytes_begun++;
	return bytes;
}

struct load_bytes *load_bytes_taken(const uint8_t *wasm, size_t size)
{
	return load_bytes_begin(wasm, size);
}

void load_bytes_end(struct load_bytes *bytes)
{
	record.bytes_ended += bytes != NULL;
}

void load_bytes_free(struct load_bytes *bytes)
{
	record.bytes_freed += bytes != NULL;
	free(bytes);
}

/* Of a file there is its name only. */
struct load_bytes *load_bytes_in_file(const char *path, uint64_t offset, size_t size)
{
	(void)offset;
	return load_bytes_begin((const uint8_t *)path, size);
}

struct load_bytes *load_bytes_copy(const struct load_bytes *bytes)
{
	return bytes != NULL ? load_bytes_begin(bytes->wasm, bytes->size) : NULL;
}

bool load_is_interpreted(uint32_t loading)
{
	return loading == (uint32_t)record.interpreted;
}

uint32_t load_announce(const struct load_event *event)
{
	record.announced++;
	record.event = *event;
	if (event->is_interpreted)
		record.interpreted = record.announced;
	record.handles[record.handle_count] = event->handle;
	record.loadings[record.handle_count++] = (uint32_t)record.announced;
	free(event->bytes);
	return (uint32_t)record.announced;
}

struct load_code *load_code_new(const struct code_function *functions, size_t count)
{
	record.functions = functions != NULL ? count : 0;
	return (struct load_code *)&record;
}

uint32_t load_of_handle(const void *handle)
{
	for (int i = record.handle_count - 1; i >= 0; i--)
		if (record.handles[i] == handle)
			return record.loadings[i];
	return 0;
}

void load_hold(void)
{
}

void load_release(void)
{
}

uint32_t load_first_held(void)
{
	return record.first_held;
}

bool load_image_range(uint32_t loading, uintptr_t *start, uintptr_t *end)
{
	*start = record.image_start;
	*end = record.image_end;
	return loading == record.first_held;
}

void load_name(uint32_t loading, const char *name)
{
	if (loading == record.first_held)
		record.name = name;
}

uint32_t load_object(const void *frames, const struct load_event *event)
{
	record.registered = frames;
	return load_announce(event);
}

void load_retire(uint32_t loading)
{
	record.retired = loading;
}

void load_alias(const void *handle, const void *other)
{
	uint32_t loading = load_of_handle(other);

	record.handles[record.handle_count] = handle;
	record.loadings[record.handle_count++] = loading;
}

void load_forget(const void *handle)
{
	record.forgotten = handle;
	for (int i = 0; i < record.handle_count; i++)
		if (record.handles[i] == handle)
			record.handles[i] = NULL;
}

bool load_range(uint32_t loading, uintptr_t *start, uintptr_t *end)
{
	*start = record.text_start;
	*end = record.text_end;
	return loading != 0;
}

bool load_engine_version(uint32_t loading, char version[32])
{
	snprintf(version, 32, "%s", record.version);
	return loading != 0;
}

void load_register_frame(const void *begin, const struct load_maker *maker)
{
	(void)maker;
	record.registered = begin;
	record.registrations++;
}

void load_deregister_frame(const void *begin)
{
	record.deregistered = begin;
	record.deregistrations++;
}

uint32_t instance_find(struct instance_key key)
{
	for (int i = 0; i < record.key_count; i++)
		if (record.keys[i].store == key.store && record.keys[i].key == key.key)
			return record.ids[i];
	return 0;
}

void instance_alias(struct instance_key alias, uint32_t id)
{
	if (instance_find(alias) == id || record.key_count == RECORD_MAX)
		return;
	record.keys[record.key_count] = alias;
	record.ids[record.key_count++] = id;
}

uint32_t instance_for(struct instance_key key, uint32_t loading)
{
	uint32_t id = instance_find(key);

	if (id == 0) {
		id = ++record.instances;
		instance_alias(key, id);
	}
	if (loading != 0)
		record.loading_of[id] = loading;
	return id;
}

bool instance_get(uint32_t id, struct instance_info *info)
{
	*info = (struct instance_info){ .id = id, .loading = record.loading_of[id % RECORD_MAX] };
	return true;
}

void load_owner_alias(const void *owner, const void *clone)
{
	record.owner = owner;
	record.owner_clone = clone;
}

void load_owner_forget(const void *owner)
{
	if (record.owner_clone == owner)
		record.owner_clone = NULL;
}

uint32_t load_owner(const void *owner)
{
	return owner != NULL && owner == record.owner_clone;
}

void instance_forget_store(uint64_t store)
{
	record.store_forgotten = store;
}

struct activation guest_enter(uint32_t instance, uintptr_t stack_pointer, uintptr_t context,
			      struct exit_layout *layout, uint32_t flags)
{
	record.entered++;
	record.instance = instance;
	record.stack_pointer = stack_pointer;
	record.context = context;
	record.layout = layout;
	record.flags = flags;
	if (record.depth + 1 > record.deepest)
		record.deepest = record.depth + 1;
	return (struct activation){ (struct thread *)&record, record.depth++ };
}

struct activation guest_call_out(uint32_t name, uintptr_t stack_pointer)
{
	(void)stack_pointer;
	record.called_out++;
	record.call = name;
	if (!record.is_interpreted)
		return (struct activation){ 0 };
	return (struct activation){ (struct thread *)&record, record.depth++ };
}

void guest_called_from(struct activation activation, const uint32_t *functions, uint32_t count)
{
	(void)activation;
	record.from_count = count;
	memcpy(record.from, functions, count * sizeof(*functions));
}

void guest_leave(struct activation activation)
{
	if (activation.thread == NULL)
		return;
	record.left++;
	record.depth = activation.depth;
}

#endif /* TESTS_UNIT_RUNTIME_LOAD_RECORD_H */
