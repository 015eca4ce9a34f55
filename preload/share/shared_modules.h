/* SPDX-License-Identifier: MIT */
/*
 * shared_modules.h - inside of shared.h: which modules a selection is about.
 */
#ifndef PRELOAD_SHARE_SHARED_MODULES_H
#define PRELOAD_SHARE_SHARED_MODULES_H

#include "preload/share/shared.h"

/* A recording being shared: what is known of its rows. */
struct sharing {
	struct shared *shared;
	const struct recording *recording;
	const struct selection *selection;
	bool *is_taken;			   /* by sample */
	uint32_t *mapping_modules;	   /* by mapping: module, or SHARED_NONE */
	uint32_t *sample_modules;	   /* by sample that is taken */
	struct shared_location *locations; /* by location that taken samples have */
};

/*
 * Fills the tables of SHARING and the modules of its result, ascending by name and identity, with
 * the counters that are theirs alone. 0 or -ENOMEM. Memory is the result's.
 */
int shared_modules_list(struct sharing *sharing);

/* The module of MAPPING, or SHARED_NONE: it is none that is listed. NULL: none. */
static inline uint32_t shared_modules_of(const struct sharing *sharing,
					 const struct recording_mapping *mapping)
{
	return mapping == NULL ? SHARED_NONE
			       : sharing->mapping_modules[mapping - sharing->recording->mappings];
}

#endif /* PRELOAD_SHARE_SHARED_MODULES_H */
