/* SPDX-License-Identifier: MIT */
/*
 * keep.h - what of a resolved stack is recorded: listed modules' frames in order, and the host's.
 */
#ifndef PRELOAD_PROFILE_KEEP_H
#define PRELOAD_PROFILE_KEEP_H

#include "preload/base/config.h"
#include "preload/profile/groups.h"
#include "preload/profile/resolve.h"
#include "preload/profile/tables.h"
#include "symtab/base.h"

struct kept {
	uint32_t locations[RESOLVE_MAX_FRAMES]; /* ids, leaf first */
	size_t count;
	uint32_t group;	      /* of the innermost listed module; GROUP_NONE: none */
	bool is_builtin;      /* so far all frames of modules are builtins, or there is none */
	bool has_guest;	      /* else the stack is of no listed module */
	bool is_unnamed;      /* the leaf is code that no symbol covers */
	enum frame_kind last; /* of the outermost kept */
};

/* Fills KEPT from RESOLVED, making rows in TABLES and GROUPS. 0 or -ENOMEM. */
int keep_frames(struct tables *tables, struct groups *groups, const struct config *config,
		const struct resolved *resolved, struct kept *kept);

#endif /* PRELOAD_PROFILE_KEEP_H */
