/* SPDX-License-Identifier: MIT */
/*
 * instance_labels.h - what the host says of one instance, and since when.
 *
 * A sample that was taken before a label was given is counted some time after: so older versions
 * are kept until no sample of their time can be waiting. Threads: the caller's lock.
 */
#ifndef PRELOAD_LOAD_INSTANCE_LABELS_H
#define PRELOAD_LOAD_INSTANCE_LABELS_H

#include "symtab/base.h"

enum {
	INSTANCE_LABELS_MAX = 8,
	INSTANCE_LABEL_KEY_SIZE = 64,	 /* with the terminator */
	INSTANCE_LABEL_VALUE_SIZE = 256, /* any bytes */
	INSTANCE_LABEL_VERSIONS_MAX = 1024,
};

struct instance_labels {
	uint64_t number; /* no two different ones have the same; 0: none were given */
	size_t count;
	struct {
		char key[INSTANCE_LABEL_KEY_SIZE], value[INSTANCE_LABEL_VALUE_SIZE];
	} rows[INSTANCE_LABELS_MAX]; /* ascending by key, no key twice */
};

struct label_version;

/*
 * KEY is VALUE ("" takes it away) from NOW_NS on. Drops versions that had ended by DRAINED_NS, and
 * the oldest ones over the bound. *NEWEST NULL: none yet. 0; -E2BIG when there are too many keys;
 * -ENAMETOOLONG; -ENOMEM, also when all versions together are over 16 MiB.
 */
int label_versions_set(struct label_version **newest, const char *key, const char *value,
		       uint64_t now_ns, uint64_t drained_ns);

/* What held at TIME_NS. */
void label_versions_at(const struct label_version *newest, uint64_t time_ns,
		       struct instance_labels *labels);

/* Another instance starts with what FROM says now. NULL is allowed. NULL: nothing, or no memory. */
struct label_version *label_versions_inherit(const struct label_version *from, uint64_t now_ns);

/* Frees them all. */
void label_versions_free(struct label_version **newest);

#endif /* PRELOAD_LOAD_INSTANCE_LABELS_H */
