/* SPDX-License-Identifier: MIT */
/*
 * selection.h - which samples of a recording are one tenant's, and which labels may be told of
 * them.
 *
 * Names are equal as called.h says, and whole: a module that the guest named is not meant without
 * its `@3f9a2c`, for whoever calls himself the same would get the tenant's file.
 */
#ifndef PRELOAD_READ_SELECTION_H
#define PRELOAD_READ_SELECTION_H

#include "preload/read/reader.h"

enum selection_by {
	SELECTION_NONE,
	SELECTION_ALL, /* whatever there is: of a file that is one tenant's already */
	SELECTION_LABEL,
	SELECTION_MODULE,
	SELECTION_INSTANCE,
};

enum { SELECTION_KEPT_MAX = RECORDING_LABELS_MAX };

/* Texts are borrowed. */
struct selection {
	enum selection_by by;
	const char *key;   /* of a label; terminated, owned: selection_free() */
	const char *value; /* of the label; else the module's or instance's name as it is shown */
	const char *kept[SELECTION_KEPT_MAX]; /* keys of labels that stay, besides the selector's */
	size_t kept_count;
};

/* TEXT is KEY=VALUE. 0, -EINVAL or -ENOMEM. */
int selection_set_label(struct selection *selection, const char *text);
void selection_free(struct selection *selection);

/* Is SAMPLE the tenant's? */
bool selection_takes(const struct selection *selection, const struct recording_sample *sample);

/* May the label KEY, which is none of ours, be told? */
bool selection_keeps(const struct selection *selection, const char *key);

#endif /* PRELOAD_READ_SELECTION_H */
