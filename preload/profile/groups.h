/* SPDX-License-Identifier: MIT */
/*
 * groups.h - for what every number is kept: a group is a module identity under one name, with the
 * labels that the user gave it.
 *
 * Its counters are exact whatever becomes of its instances (members.h). At most GROUPS_MAX: a new
 * one beyond is `(other)` until the lightest have made room for it (shed.h). A name that another
 * identity has, or had in this recording, becomes `name@3f9a2c`. What the host says of an instance
 * (instance_labels.h) puts it into a group beside its module's own.
 */
#ifndef PRELOAD_PROFILE_GROUPS_H
#define PRELOAD_PROFILE_GROUPS_H

#include "preload/load/instance_labels.h"
#include "preload/profile/chunk.h"
#include "preload/profile/gone.h"
#include "preload/profile/labels.h"
#include "preload/profile/lookup.h"
#include "preload/profile/texts.h"
#include "symtab/base.h"
#include "symtab/symtab.h"

enum {
	GROUPS_MAX = 1000,
	GROUPS_LABELLED_MAX = 800, /* of those, by what the host said of instances */
	GROUP_LOADINGS_MAX = 1 << 16,
	GROUP_OTHER = 0,
	GROUP_HASH_DIGITS = 6, /* of the identity, in `name@3f9a2c` */
	GROUP_NAMED_MAX = 32
};
#define GROUP_NONE UINT32_MAX

struct group {
	uint32_t name;	     /* text of what is shown, and of the label wasm_module */
	uint32_t unnamed;    /* text `name#*`: all its instances without a name of their own */
	uint32_t given;	     /* text of the name before it was made unique */
	uint32_t identity;   /* text */
	uint32_t label_text; /* all labels as one text: `tenant=acme,tier=free`; 0: none */
	struct chunk_label labels[LABELS_MAX];
	size_t label_count;
	uint32_t base; /* its own number, or that of the group without its instances' labels */
	uint32_t loading_count;
	uint64_t instances_forgotten; /* created in loadings that were dropped from the table */
	uint64_t instances_created;   /* as of groups_update() */
	uint64_t instances_sampled, samples, cpu_ns, wall_ns; /* in this recording */
	uint64_t samples_by_state[STATE_COUNT];
	uint64_t past_ns;		 /* what it weighed in recordings before */
	uint64_t merged;		 /* groups that became part of it, in this recording */
	bool is_free;			 /* shed: the row is the next new group's */
	bool has_calls;			 /* calls.h has rows for it: it stays */
	bool has_changed;		 /* since the last chunk */
	bool has_labelled;		 /* it is the base of others */
	bool is_counted;		 /* its module is, in the recording's number of modules */
	uint32_t named[GROUP_NAMED_MAX]; /* instances that have a name of their own */
	uint32_t named_count;
};

/* One loading of a group's module. */
struct group_loading {
	uint32_t id, group;
	uint32_t ordinal; /* within the group, from 1 */
	bool is_listed;	  /* in GUESTPROF_MODULES */
	bool is_crowded;  /* in `(other)` because there was no room for its group */
	bool is_waiting;  /* in `(other)`, with all its frames, until it was seen often enough */
	uint32_t seen;	  /* while it is either */
};

/* The group of BASE's instances that instance_labels number NUMBER was said of. */
struct group_labelled {
	uint64_t number;
	uint32_t base, group;
};

struct groups {
	struct texts *texts;
	const struct config *config;
	const struct module_set *set; /* what is listed instead, and its names; NULL */
	struct group *rows;
	size_t count, capacity;
	struct group_loading *loadings;
	size_t loading_count, loading_capacity;
	/* number of the loading that was asked for last: a stack's frames are alike */
	uint32_t recent;
	struct lookup lookup, loading_lookup;
	size_t free_count; /* rows that were shed */
	/*
	 * How often a module that has no group yet must be seen to get one: more and more as tables
	 * fill, so that what ran once does not take the room of what will run long. 0: at once.
	 */
	uint32_t admission;
	size_t refused,
		refused_labelled; /* times that there was no room, since the last shedding */
	struct gone gone;
	size_t labelled_count;		    /* groups that have another base */
	struct group_labelled labelled[64]; /* answered last, by number */
};

/* 0 or -ENOMEM. TEXTS and GLOBS must live on. */
int groups_init(struct groups *groups, struct texts *texts, const struct config *config);
void groups_fini(struct groups *groups);

/*
 * The group of MODULE with LABELS, made if it is new and there is room; else GROUP_OTHER. NAME: of
 * the prepared set; NULL: the user's, or the module's own.
 */
uint32_t groups_of(struct groups *groups, const struct module *module, const char *name,
		   const struct labels *labels);

/* The loading of ENTRY, with its group; made at the first sight. NULL: memory is short. */
const struct group_loading *groups_loading(struct groups *groups, const struct symtab_entry *entry);

/* The same for a loading by its number: NULL when it was never seen. */
const struct group_loading *groups_find(const struct groups *groups, uint32_t loading);

/*
 * The group for instances of group BASE that LABELS were given to (count 0: BASE). BASE also where
 * there are too many.
 */
uint32_t groups_labelled(struct groups *groups, uint32_t base,
			 const struct instance_labels *labels);

/* Counts WEIGHT samples in STATE for group number GROUP. */
void groups_count(struct groups *groups, uint32_t group, enum wasm_state state, uint64_t weight,
		  uint64_t cpu_ns);

/* Counts a look at a wait that stands for WALL_NS. */
void groups_count_wait(struct groups *groups, uint32_t group, uint64_t wall_ns);

/* After rows were freed: finds those that are left, and only those. */
void groups_reindex(struct groups *groups);

/* All counters back to 0: another recording begins. */
void groups_restart(struct groups *groups);

/* Brings instances_created up to date. */
void groups_update(struct groups *groups);

#endif /* PRELOAD_PROFILE_GROUPS_H */
