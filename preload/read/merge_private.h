/* SPDX-License-Identifier: MIT */
/*
 * merge_private.h - what the files of recording_merge() share.
 *
 * The inputs are added one after the other. Functions return 0 or -ENOMEM, and pointers are NULL
 * without memory, but where something else is said.
 */
#ifndef PRELOAD_READ_MERGE_PRIVATE_H
#define PRELOAD_READ_MERGE_PRIVATE_H

#include "preload/read/arena.h"
#include "preload/read/merge.h"
#include "preload/read/names.h"
#include "preload/read/pairs.h"
#include "preload/read/spans.h"

#define MERGE_NONE UINT32_MAX

/* A module or group of the result. */
struct merge_named {
	const char *shown, *identity;
	struct recording_mapping *mapping; /* of a module; NULL: none yet */
};

/* Names that tell modules, or groups, apart. */
struct merge_naming {
	struct pairs keys;	  /* (name as given, what identifies it) */
	struct merge_named *list; /* by number in keys */
	size_t room;
	struct pairs shown; /* names that are taken */
};

/* The time of one recording of a process. */
struct merge_piece {
	struct span span;
	uint32_t process;
	bool has_ended;
};

struct merge {
	struct arena arena;
	struct recording *out; /* in the arena, as all that it points to */
	struct names texts;
	const char **kept; /* by number in texts: the copy in the arena; NULL: none yet */
	size_t kept_room;
	bool is_ours; /* some input is */
	struct merge_naming modules, groups;
	struct pairs identities; /* text -> its number in canonical */
	const char **canonical;	 /* the first identity of the same module */
	size_t canonical_room;
	struct pairs function_names, function_places, functions, lines, chains, addresses,
		locations;
	struct pairs group_rows, stats, processes, lives, hostcalls;
	struct merge_piece *pieces; /* owned */
	size_t piece_count, piece_room;
	struct pairs makers; /* (number of a group, of a process) */
	uint64_t *made;	     /* by number in makers: instances of it; owned */
	size_t made_room;

	/* Of the input that is being added. */
	const struct recording *in;
	struct pairs names; /* of groups there */
	uint32_t *group_of; /* by number in names: number in groups */
	size_t group_of_room;
	uint32_t *process_of;			  /* by index there; owned */
	struct recording_mapping **mapping_of;	  /* by index there; owned */
	struct recording_location **locations_of; /* by index there; owned */
	uint64_t offset_ns;			  /* of its start */
};

/* A copy of TEXT in the result, one for equal ones. */
const char *merge_text(struct merge *merge, const char *text);

/* merge_names.c: the number of NAME, which KEY and IDENTITY tell apart; LABELS: "a=b,c=d", "" */
uint32_t merge_naming_find(struct merge *merge, struct merge_naming *naming, const char *name,
			   const char *identity, const char *labels, const char *key);
void merge_naming_free(struct merge_naming *naming);

/* merge_modules.c: mappings of merge->in, then its groups' names */
int merge_modules(struct merge *merge);
/* The group that NAME is in merge->in; it is made if no row there spoke of it. */
const struct merge_named *merge_group(struct merge *merge, const char *name);
/* INSTANCE of the module NAME in the result. */
const char *merge_instance(struct merge *merge, const char *name, const char *instance);

/* merge_tables.c: fills locations_of */
int merge_tables(struct merge *merge);
const struct recording_label *merge_labels(struct merge *merge,
					   const struct recording_label *labels, size_t count);

/* merge_counts.c */
int merge_groups(struct merge *merge);
/* Counts SAMPLE for GROUP: it is of an input that has no rows of groups, as others have. */
int merge_uncounted(struct merge *merge, const struct merge_named *group,
		    const struct recording_sample *sample);
int merge_stats(struct merge *merge);
int merge_marks(struct merge *merge);

/* merge_processes.c: fills process_of */
int merge_processes(struct merge *merge);
/* What the processes have in common, when all are added. */
int merge_summary(struct merge *merge);

#endif /* PRELOAD_READ_MERGE_PRIVATE_H */
