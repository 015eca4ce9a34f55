/* SPDX-License-Identifier: MIT */
/*
 * regroup.h - gives the groups of a recording other names or labels, and all that is of them.
 */
#ifndef PRELOAD_CMD_SYMBOLIZE_REGROUP_H
#define PRELOAD_CMD_SYMBOLIZE_REGROUP_H

#include "preload/read/reader.h"

/* What changes of a group. Texts and labels live as long as the recording. */
struct regroup {
	const char *name; /* NULL: the old one */
	bool has_labels;
	const struct recording_label *labels; /* in place of the old ones */
	size_t label_count;
};

/*
 * LIST has one for each of RECORDING's groups, by index. Groups, samples, instances that are
 * `NAME#...`, lives and host calls change in place. 0 or -ENOMEM.
 */
int regroup(struct recording *recording, const struct regroup *list);

/* A copy of TEXT that lives as long as RECORDING; NULL without memory. */
const char *regroup_keep(struct recording *recording, const char *text);

#endif /* PRELOAD_CMD_SYMBOLIZE_REGROUP_H */
