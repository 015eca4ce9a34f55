/* SPDX-License-Identifier: MIT */
/*
 * audit_texts.h - the texts and numbers of a whole recording that are not the tenant's.
 *
 * A text is somebody else's when the recording has it, what may be told of the recording has it
 * not, and it is no word of the formats. From 6 bytes on it must not be part of another text
 * either.
 */
#ifndef PRELOAD_SHARE_AUDIT_TEXTS_H
#define PRELOAD_SHARE_AUDIT_TEXTS_H

#include "symtab/base.h"

struct audit_texts;

enum { AUDIT_PART_MIN = 6 };

/*
 * RECORDING: all fields of a recording, inflated; TOLD: of what may be told of it
 * (shared_encode()). Bytes that are damaged are left out. NULL without memory.
 */
struct audit_texts *audit_texts_new(void);
int audit_texts_add(struct audit_texts *texts, const uint8_t *recording, size_t size,
		    const uint8_t *told, size_t told_size);
/* TEXT may be told too. */
int audit_texts_allow(struct audit_texts *texts, const char *text);
void audit_texts_free(struct audit_texts *texts);

/* To be called once, after the last recording. 0 or -ENOMEM. */
int audit_texts_finish(struct audit_texts *texts);

/* Somebody else's text that TEXT is, or has in it; NULL: none. */
const char *audit_texts_find(const struct audit_texts *texts, const char *text);

/* May TEXT be told, by what may be told of the recording? */
bool audit_texts_is_told(const struct audit_texts *texts, const char *text);

/* Is NUMBER a large one that the recording has and that may not be told? */
bool audit_texts_has_number(const struct audit_texts *texts, uint64_t number);

#endif /* PRELOAD_SHARE_AUDIT_TEXTS_H */
