/* SPDX-License-Identifier: MIT */
/*
 * subjects.h - the modules of a recording that wasm files may be, each with what was sampled of it.
 */
#ifndef PRELOAD_CMD_SYMBOLIZE_SUBJECTS_H
#define PRELOAD_CMD_SYMBOLIZE_SUBJECTS_H

#include "preload/read/names.h"
#include "preload/read/reader.h"
#include "symtab/match.h"

#define SUBJECTS_NONE UINT32_MAX

/* All loadings of one module. */
struct subject {
	const struct recording_mapping *mapping; /* the first */
	struct match_recorded recorded;		 /* points into places */
	struct match_place *places;		 /* owned */
	size_t place_room;
	const struct recording_mapping
		*embedding;	   /* the one that carries debug information; NULL */
	bool was_lined;		   /* it has lines in the recording */
	bool has_names, has_lines; /* from a wasm file, or that */
};

struct subjects {
	const struct recording *recording; /* borrowed */
	struct names identities;
	struct subject *list; /* by number in identities */
	size_t room;
};

/* 0 or -ENOMEM; subjects_free() in both cases. */
int subjects_read(struct subjects *subjects, const struct recording *recording);
void subjects_free(struct subjects *subjects);
static inline size_t subjects_count(const struct subjects *subjects)
{
	return subjects->identities.count;
}

/* What identifies the module of MAPPING, as it was recorded. */
void subjects_identity(const struct recording_mapping *mapping, struct identity *identity);

/* The function of a wasm module that LOCATION is in, NULL: it is in none. */
const struct recording_function *subjects_function(const struct recording_location *location);

/* Number of the subject that LOCATION is in; SUBJECTS_NONE. */
uint32_t subjects_of(struct subjects *subjects, const struct recording_location *location);

#endif /* PRELOAD_CMD_SYMBOLIZE_SUBJECTS_H */
