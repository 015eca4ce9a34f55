/* SPDX-License-Identifier: MIT */
/*
 * audit.h - is there anything in a file that is not one tenant's?
 *
 * Walks every string, number and field of a shared file (shared.h) or of an export of one, also
 * inside gzip, JSON and html, against the list of what may be there. Nothing is trusted: not the
 * reader, whose business is to skip what it does not know, and not the file's own order.
 */
#ifndef PRELOAD_SHARE_AUDIT_H
#define PRELOAD_SHARE_AUDIT_H

#include "preload/read/selection.h"
#include "symtab/base.h"

struct audit_texts;

/* What is to be looked for, and what came of it. The caller zeroes it and fills the first part. */
struct audit {
	const struct selection *selection;
	const struct audit_texts *texts; /* of the whole recording, see audit_texts.h; NULL */
	bool has_debug;			 /* debug sections are no finding */
	/* WHERE: `sample 12: label 3`; WHAT: what is wrong. Neither is escaped. */
	void (*found)(void *context, const char *where, const char *what);
	void *context;

	size_t found_count;
	char why[160]; /* that the file cannot be read */
};

/* 0 when all was walked, whatever was found; -EBADMSG with WHY, when the rest cannot be read; or
 * -ENOMEM. */
int audit_bytes(struct audit *audit, const uint8_t *bytes, size_t size);

/* ---- for the walkers ------------------------------------------------------------------------- */

/* Tells of a finding. */
void audit_found(struct audit *audit, const char *where, const char *format, ...) PRINTF_LIKE(3, 4);

/* Returns -EBADMSG. */
int audit_unreadable(struct audit *audit, const char *format, ...) PRINTF_LIKE(2, 3);

/* A text of the file: is it, or holds it, one of somebody else? Addresses are nobody's. */
void audit_text(struct audit *audit, const char *where, const char *text);
void audit_number(struct audit *audit, const char *where, uint64_t number);

/* The module's name NAME, as a shared file tells it, may be the one that the selection names. */
bool audit_is_module(const struct audit *audit, const char *name);

/* One format each: as audit_bytes(). */
int audit_gzip(struct audit *audit, const uint8_t *bytes, size_t size, unsigned depth);
int audit_pprof(struct audit *audit, const uint8_t *bytes, size_t size);
int audit_json(struct audit *audit, const char *where, const uint8_t *bytes, size_t size);
int audit_html(struct audit *audit, const uint8_t *bytes, size_t size);
int audit_inflated(struct audit *audit, const uint8_t *bytes, size_t size, unsigned depth);

#endif /* PRELOAD_SHARE_AUDIT_H */
