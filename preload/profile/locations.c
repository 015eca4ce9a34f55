/* SPDX-License-Identifier: MIT */
/* locations.c - locations of one recording: places of frames, and imports. Threads: ours. */
#include <errno.h>
#include <string.h>

#include "preload/profile/array.h"
#include "preload/profile/tables.h"
#include "preload/profile/tables_private.h"

static bool location_is(const void *table, uint32_t number, const void *key)
{
	const struct tables *tables = table;

	return memcmp(&tables->location_keys[number], key, sizeof(struct location_key)) == 0;
}

static struct place place_of(const struct frame *frame)
{
	struct place place = {
		.address = frame->address,
		.symbol = UINT32_MAX,
		.kind = frame->kind,
		.is_guess = frame->is_guess,
	};

	/* Without symbols a page is as good as a place. */
	if (frame->kind == FRAME_JIT)
		place.address &= ~(uint64_t)(TABLES_JIT_PAGE - 1);
	if (frame->entry == NULL)
		return place;
	place.loading = frame->entry->id;
	if (frame->symbol != NULL)
		place.symbol = frame->symbol->id;
	return place;
}

static struct location_key key_of(const struct frame *frame, const struct place *place)
{
	struct location_key key = {
		.address = place->address,
		.loading = place->loading,
		.symbol = place->symbol,
		.kind = place->kind,
		.is_guess = (uint16_t)place->is_guess,
	};

	if (frame->entry == NULL || frame->kind == FRAME_INTERPRETER)
		return key;
	key.is_wasm = module_wasm_offset(frame->entry->module, frame->address, &key.address);
	if (!key.is_wasm)
		key.address = frame->address;
	return key;
}

/* Appends ROW, whose key is KEY. Returns its id or 0. */
static uint32_t add_location(struct tables *tables, const struct location_key *key, uint64_t hash,
			     struct chunk_location row)
{
	struct chunk_location *rows;
	struct location_key *keys;

	rows = array_room(tables->locations, &tables->location_capacity, tables->location_count,
			  sizeof(*rows));
	if (rows == NULL)
		return 0;
	tables->locations = rows;
	keys = array_room(tables->location_keys, &tables->location_key_capacity,
			  tables->location_count, sizeof(*keys));
	if (keys == NULL)
		return 0;
	tables->location_keys = keys;
	if (lookup_add(&tables->location_lookup, hash, (uint32_t)tables->location_count) != 0)
		return 0;
	keys[tables->location_count] = *key;
	row.id = tables->location_count + 1;
	rows[tables->location_count] = row;
	return (uint32_t)++tables->location_count;
}

static uint32_t location_of(struct tables *tables, const struct frame *frame,
			    const struct place *place, uint32_t module_name)
{
	struct location_key key = key_of(frame, place);
	uint64_t hash = lookup_hash(&key, sizeof(key));
	uint32_t number = lookup_find(&tables->location_lookup, hash, location_is, tables, &key);
	struct chunk_location row = {
		.address = key.address,
		.kind = (uint8_t)frame->kind,
		.address_is_wasm = key.is_wasm,
		.is_guess = frame->is_guess,
	};
	struct frame placed = *frame;

	if (number != LOOKUP_NONE)
		return number + 1;
	if (tables->location_count >= tables->location_limit)
		return LOCATION_OTHER;
	if (frame->entry == NULL)
		placed.address = key.address;
	row.function = tables_function(tables, &placed, module_name);
	if (frame->kind != FRAME_JIT)
		row.mapping = tables_mapping(tables, frame->entry, module_name);
	number = row.function == 0 ? 0 : add_location(tables, &key, hash, row);
	return number == 0 ? LOCATION_OTHER : number;
}

uint32_t tables_location(struct tables *tables, const struct frame *frame, uint32_t module_name)
{
	struct place place = place_of(frame);
	uint32_t location = places_find(&tables->places, &place);

	if (location == 0) {
		location = location_of(tables, frame, &place, module_name);
		places_add(&tables->places, &place, location);
	}
	return location;
}

uint32_t tables_import_location(struct tables *tables, const char *text,
				const struct symtab_entry *entry, uint32_t module_name)
{
	/* No symbol has that number, so no frame in code has such a key. */
	struct location_key key = {
		.address = texts_add_raw(&tables->texts, text),
		.loading = entry != NULL ? entry->id : 0,
		.symbol = UINT32_MAX - 1,
		.kind = FRAME_HOST,
	};
	uint64_t hash = lookup_hash(&key, sizeof(key));
	uint32_t number = lookup_find(&tables->location_lookup, hash, location_is, tables, &key);
	struct chunk_location row = { .kind = FRAME_HOST };

	if (number != LOOKUP_NONE)
		return number + 1;
	if (tables->location_count >= tables->location_limit)
		return LOCATION_OTHER;
	row.function = tables_plain_function(tables, text);
	row.mapping = tables_mapping(tables, NULL, 0);
	if (entry != NULL)
		row.importer = tables_mapping(tables, entry, module_name);
	number = row.function == 0 ? 0 : add_location(tables, &key, hash, row);
	return number == 0 ? LOCATION_OTHER : number;
}

uint32_t tables_plain_location(struct tables *tables, const char *text)
{
	return tables_import_location(tables, text, NULL, 0);
}

int tables_add_other(struct tables *tables)
{
	struct location_key key = { .address = UINT64_MAX, .symbol = UINT32_MAX };
	struct chunk_location row = { .kind = FRAME_GUEST };

	row.function = tables_plain_function(tables, tables->texts.rows[TEXT_OTHER]);
	if (row.function == 0)
		return -ENOMEM;
	return add_location(tables, &key, lookup_hash(&key, sizeof(key)), row) == LOCATION_OTHER
		       ? 0
		       : -ENOMEM;
}
