/* SPDX-License-Identifier: MIT */
/*
 * audit_json.h - inside of audit.h: what the values of an export may be.
 *
 * WHERE is the whole path, KEY the name of the value, or of the array that it is in (NULL:
 * neither), LABEL the text of a member `label` before it in the same object, as in Firefox's
 * `meta.extra`.
 */
#ifndef PRELOAD_SHARE_AUDIT_JSON_H
#define PRELOAD_SHARE_AUDIT_JSON_H

#include "preload/share/audit.h"

void audit_json_key(struct audit *audit, const char *where, const char *key);
void audit_json_text(struct audit *audit, const char *where, const char *key, const char *label,
		     const char *text);
/* TEXT: the number as it is written. */
void audit_json_number(struct audit *audit, const char *where, const char *key, const char *label,
		       const char *text);

#endif /* PRELOAD_SHARE_AUDIT_JSON_H */
