/* SPDX-License-Identifier: MIT */
/*
 * subset.h - the samples of a recording that somebody asks for over a network: by names that must
 * be equal. (filter.h has regular expressions, which are for the user of the machine alone: some
 * take for ever.)
 */
#ifndef PRELOAD_READ_SUBSET_H
#define PRELOAD_READ_SUBSET_H

#include "preload/read/reader.h"

enum { SUBSET_LABELS_MAX = 8 };

/* All that are given must hold; NULL: any. Names are equal as called.h says. */
struct subset_wish {
	const char *process;		       /* the path that its recording was read under */
	const char *group;		       /* the module's name, as in the label wasm_module */
	const char *module;		       /* the same, or without `@3f9a2c` */
	const char *instance;		       /* wasm_instance */
	const char *labels[SUBSET_LABELS_MAX]; /* KEY or KEY=VALUE */
};

/*
 * *OUT is RECORDING with only these samples: it refers to RECORDING, and to *SAMPLES, which the
 * caller frees and recording_free() is not for. 0 or -ENOMEM.
 */
int subset_take(const struct recording *recording, const struct subset_wish *wish,
		struct recording *out, struct recording_sample **samples);

#endif /* PRELOAD_READ_SUBSET_H */
