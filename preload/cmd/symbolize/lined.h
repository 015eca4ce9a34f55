/* SPDX-License-Identifier: MIT */
/*
 * lined.h - the lines, functions and host calls that a recording gains from wasm files.
 *
 * They live in the recording's own memory, and its locations point to them.
 */
#ifndef PRELOAD_CMD_SYMBOLIZE_LINED_H
#define PRELOAD_CMD_SYMBOLIZE_LINED_H

#include "preload/lines/apart.h"
#include "preload/read/names.h"
#include "preload/read/pairs.h"
#include "preload/read/reader.h"

enum { LINED_MAPS_MAX = 32 };

/* A path that begins with FROM is shown with TO instead. */
struct lined_map {
	const char *from, *to; /* borrowed; from is not terminated */
	size_t from_length;
};

struct lined_maps {
	struct lined_map list[LINED_MAPS_MAX];
	size_t count;
};

/* Takes TEXT as FROM=TO. False when it is not of that form, or there are too many. */
bool lined_add_map(struct lined_maps *maps, const char *text);

struct lined {
	struct recording *recording; /* borrowed */
	const struct lined_maps *maps;
	struct names texts;
	struct pairs function_ids;
	struct recording_function **functions; /* new ones, by their number in function_ids */
	size_t function_room;
	uint64_t last_id;
	struct pairs call_ids;		   /* name's number in texts, id of the importer */
	struct recording_location **calls; /* new locations, by their number in call_ids */
	size_t call_room;
	uint64_t last_location_id;
};

void lined_begin(struct lined *lined, struct recording *recording, const struct lined_maps *maps);
void lined_free(struct lined *lined);
static inline size_t lined_count(const struct lined *lined)
{
	return lined->function_ids.count;
}

/*
 * Gives LOCATION, which is in a function of a wasm module, what ANSWER says of it; BINARY: the file
 * that was asked, CORE: the number there of the location's core module. 0 or -ENOMEM.
 */
int lined_set(struct lined *lined, struct recording_location *location,
	      const struct apart_answer *answer, const struct wasmbin *binary, uint32_t core);

/* The same without an answer: names only. */
int lined_set_name(struct lined *lined, struct recording_location *location,
		   const struct wasmbin *binary, uint32_t core);

/*
 * The location of host calls of NAME, an import of the module of IMPORTER; HOST: some frame of the
 * host. NULL: no memory.
 */
const struct recording_location *lined_call(struct lined *lined, const char *name,
					    const struct recording_mapping *importer,
					    const struct recording_location *host);

#endif /* PRELOAD_CMD_SYMBOLIZE_LINED_H */
