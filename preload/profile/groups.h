/* SPDX-License-Identifier: MIT */
/*
 * groups.h - for what every number is kept: a group is a module identity under one name, with the
 * labels that the user gave it.
 *
 * Its counters are exact whatever becomes of its instances (members.h). At most GROUPS_MAX, then
 * all new ones are `(other)`. A name that another identity has already becomes `name@3f9a2c`.
 */
#ifndef PRELOAD_PROFILE_GROUPS_H
#define PRELOAD_PROFILE_GROUPS_H

#include "preload/profile/chunk.h"
#include "preload/profile/labels.h"
#include "preload/profile/lookup.h"
#include "preload/profile/texts.h"
#include "symtab/base.h"
#include "symtab/symtab.h"

enum { GROUPS_MAX = 1000, GROUP_LOADINGS_MAX = 1 << 16, GROUP_OTHER = 0, GROUP_NAMED_MAX = 32 };
#define GROUP_NONE UINT32_MAX

struct group {
	uint32_t name;	     /* text of what is shown, and of the label wasm_module */
	uint32_t unnamed;    /* text `name#*`: all its instances without a name of their own */
	uint32_t given;	     /* text of the name before it was made unique */
	uint32_t identity;   /* text */
	uint32_t label_text; /* all labels as one text: `tenant=acme,tier=free`; 0: none */
	struct chunk_label labels[LABELS_MAX];
	size_t label_count;
	uint32_t loading_count;
	uint64_t instances_forgotten; /* created in loadings that were dropped from the table */
	uint64_t instances_created;   /* as of groups_update() */
	uint64_t instances_sampled, samples, cpu_ns, wall_ns; /* in this recording */
	uint64_t samples_by_state[STATE_COUNT];
	bool has_changed;		 /* since the last chunk */
	uint32_t named[GROUP_NAMED_MAX]; /* instances that have a name of their own */
	uint32_t named_count;
};

/* One loading of a group's module. */
struct group_loading {
	uint32_t id, group;
	uint32_t ordinal; /* within the group, from 1 */
	bool is_listed;	  /* in GUESTPROF_MODULES */
};

struct groups {
	struct texts *texts;
	const struct config *config;
	const struct module_set *set; /* what is listed instead, and its names; NULL */
	struct group *rows;
	size_t count, capacity;
	struct group_loading *loadings;
	size_t loading_count, loading_capacity;
	struct lookup lookup, loading_lookup;
};

/* 0 or -ENOMEM. TEXTS and GLOBS must live on. */
int groups_init(struct groups *groups, struct texts *texts, const struct config *config);
void groups_fini(struct groups *groups);

/* The loading of ENTRY, with its group; made at the first sight. NULL: memory is short. */
const struct group_loading *groups_loading(struct groups *groups, const struct symtab_entry *entry);

/* The same for a loading by its number: NULL when it was never seen. */
const struct group_loading *groups_find(const struct groups *groups, uint32_t loading);

/* Counts WEIGHT samples in STATE for group number GROUP. */
void groups_count(struct groups *groups, uint32_t group, enum wasm_state state, uint64_t weight,
		  uint64_t cpu_ns);

/* Counts a look at a wait that stands for WALL_NS. */
void groups_count_wait(struct groups *groups, uint32_t group, uint64_t wall_ns);

/* All counters back to 0: another recording begins. */
void groups_restart(struct groups *groups);

/* Brings instances_created up to date. */
void groups_update(struct groups *groups);

#endif /* PRELOAD_PROFILE_GROUPS_H */
