/* SPDX-License-Identifier: MIT */
/*
 * audit_shapes.h - the list: every field of every message that a shared file may have
 * (shared_encode.c writes them). What is not here is a finding.
 */
#ifndef PRELOAD_SHARE_AUDIT_SHAPES_H
#define PRELOAD_SHARE_AUDIT_SHAPES_H

#include "preload/share/audit_profile.h"

enum shape_role {
	ROLE_NUMBER,
	ROLE_NUMBERS, /* packed or not */
	ROLE_STRING,  /* index in the table */
	ROLE_TEXT,    /* in place */
	ROLE_BYTES,   /* of the module's own: its layout */
	ROLE_DEBUG,   /* the same where debug sections are allowed */
	ROLE_ID,
	ROLE_REFERENCE,	 /* to a row of TABLE */
	ROLE_REFERENCES, /* packed */
	ROLE_MESSAGE,
};

struct shape_rule {
	uint32_t number;
	enum shape_role role;
	bool repeats;
	enum profile_table table;
	const struct shape *message;
};

/* Rules are fewer than bits of a number. */
enum { SHAPE_RULES_MAX = 32 };

struct shape {
	const char *name;
	const struct shape_rule *rules;
	size_t count;
};

/* The profile as a whole; its messages are below it. */
extern const struct shape audit_shapes_profile;

/* The rule for field NUMBER; NULL: it is not on the list. */
const struct shape_rule *audit_shapes_find(const struct shape *shape, uint32_t number);

#endif /* PRELOAD_SHARE_AUDIT_SHAPES_H */
