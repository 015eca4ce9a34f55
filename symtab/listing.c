/* SPDX-License-Identifier: MIT */
/*
 * listing.c - a module whose functions are told one by one. Threads: ours, but for references.
 */
#include "symtab/listing.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "symtab/module.h"
#include "symtab/sha256.h"

enum {
	MAX_FUNCTIONS = 65536,
	MAX_NAMES = 16 << 20,
	MAX_FUNCTION_NAME = 1024,
	FIRST_ROOM = 64,
	ALIGNMENT = 16
};
/* A function that is compiled anew may get larger. */
#define MAX_FUNCTION (UINT64_C(1) << 24)

static void identify(struct listing *listing, const struct module_listing *source)
{
	uint8_t digest[SHA256_SIZE];
	struct sha256 sha;

	sha256_init(&sha);
	sha256_add(&sha, source->engine, strlen(source->engine) + 1);
	sha256_add(&sha, source->identity, strlen(source->identity));
	sha256_end(&sha, digest);
	sha256_hex(digest, listing->identity);
}

struct module *module_new_listed(const struct module_listing *source)
{
	struct module_source plain = {
		.engine = source->engine,
		.given_name = source->name,
		.wasm = source->wasm,
		.path = source->path,
	};
	struct listing *listing = calloc(1, sizeof(*listing));
	struct module *module;

	if (listing == NULL)
		return NULL;
	memcpy(plain.layout.engine_version, source->engine_version,
	       strnlen(source->engine_version, sizeof(plain.layout.engine_version) - 1));
	module = module_new(&plain);
	if (module == NULL) {
		free(listing);
		return NULL;
	}
	identify(listing, source);
	module->listing = listing;
	return module;
}

bool module_is_listed(const struct module *module)
{
	return module->listing != NULL;
}

/* ---- functions ------------------------------------------------------------------------------ */

static uint32_t hash_of(const char *name, size_t length)
{
	uint32_t hash = 2166136261u; /* FNV-1a */

	for (size_t i = 0; i < length; i++)
		hash = (hash ^ (uint8_t)name[i]) * 16777619u;
	return hash;
}

const char *listing_full(const struct module *module, uint32_t id, size_t *length)
{
	const struct span *name = &module->symbols.records[id].name;

	*length = name->length;
	return module->listing->names.bytes + name->offset;
}

const char *listing_shown(const struct module *module, uint32_t id, size_t *length)
{
	const struct span *shown = &module->listing->shown[id];

	*length = shown->length;
	return module->listing->names.bytes + shown->offset;
}

/* The slot of the symbol with the full NAME, or the free one where it belongs. */
static uint32_t *slot_of(const struct module *module, const char *name, size_t length)
{
	const struct listing *listing = module->listing;
	uint32_t at = hash_of(name, length);

	for (;; at++) {
		uint32_t *slot = &listing->slots[at & (listing->slot_count - 1)];
		size_t other_length;
		const char *other;

		if (*slot == 0)
			return slot;
		other = listing_full(module, *slot - 1, &other_length);
		if (other_length == length && memcmp(other, name, length) == 0)
			return slot;
	}
}

static int grow_slots(struct module *module)
{
	struct listing *listing = module->listing;
	uint32_t *old = listing->slots, i;

	listing->slots = calloc(2 * (size_t)listing->room, sizeof(*listing->slots));
	if (listing->slots == NULL) {
		listing->slots = old;
		return -ENOMEM;
	}
	listing->slot_count = 2 * listing->room;
	for (i = 0; i < module->symbols.count; i++) {
		size_t length;
		const char *name = listing_full(module, i, &length);

		*slot_of(module, name, length) = i + 1;
	}
	free(old);
	return 0;
}

static int grow_records(struct module *module)
{
	struct listing *listing = module->listing;
	uint32_t room = listing->room == 0 ? FIRST_ROOM : 2 * listing->room;
	struct symbol_record *records;
	struct span *shown;

	records = realloc(module->symbols.records, room * sizeof(*records));
	if (records == NULL)
		return -ENOMEM;
	module->symbols.records = records;
	shown = realloc(listing->shown, room * sizeof(*shown));
	if (shown == NULL)
		return -ENOMEM;
	listing->shown = shown;
	listing->room = room;
	return 0;
}

/* Room for one more function. */
static int reserve(struct module *module)
{
	struct listing *listing = module->listing;
	int error = 0;

	if (module->symbols.count >= MAX_FUNCTIONS || listing->names.used > MAX_NAMES)
		return -E2BIG;
	if (module->symbols.count == listing->room)
		error = grow_records(module);
	/* half of the slots stay free: a search always ends */
	if (error == 0 && listing->slot_count != 2 * listing->room)
		error = grow_slots(module);
	return error;
}

static int append(struct module *module, const struct listed_function *function, size_t full_length,
		  size_t shown_length)
{
	struct listing *listing = module->listing;
	uint64_t size = function->size < MAX_FUNCTION ? function->size : MAX_FUNCTION;
	uint32_t id = module->symbols.count;
	struct symbol_record record = {
		.symbol = { .kind = function->kind,
			    .function = function->index,
			    .id = id,
			    .start = listing->next,
			    .end = listing->next + (size == 0 ? 1 : size) },
	};
	struct span shown = { 0 };
	int error = strings_add(&listing->names, function->full_name, full_length, &record.name);

	if (error == 0)
		error = strings_add(&listing->names, function->shown_name, shown_length, &shown);
	if (error != 0)
		return error;
	module->symbols.records[id] = record;
	listing->shown[id] = shown;
	listing->next = (record.symbol.end + ALIGNMENT) & ~(uint64_t)(ALIGNMENT - 1);
	module->symbols.count++;
	if (module->wasm == NULL && function->kind == SYMBOL_GUEST)
		module->function_count++;
	return 0;
}

int module_list(struct module *module, const struct listed_function *function, uint32_t *id)
{
	size_t full = strnlen(function->full_name, MAX_FUNCTION_NAME);
	size_t shown = strnlen(function->shown_name, MAX_FUNCTION_NAME);
	struct listing *listing = module->listing;
	uint32_t *slot;
	int error;

	if (listing->slots != NULL) {
		slot = slot_of(module, function->full_name, full);
		if (*slot != 0) {
			*id = *slot - 1;
			return 0;
		}
	}
	error = reserve(module);
	if (error != 0)
		return error;
	slot = slot_of(module, function->full_name, full);
	error = append(module, function, full, shown);
	if (error != 0)
		return error;
	*slot = module->symbols.count;
	*id = module->symbols.count - 1;
	return 0;
}

void listing_free(struct listing *listing)
{
	if (listing == NULL)
		return;
	strings_fini(&listing->names);
	free(listing->shown);
	free(listing->slots);
	free(listing);
}
