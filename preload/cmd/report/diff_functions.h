/* SPDX-License-Identifier: MIT */
/*
 * diff_functions.h - which function of a module is which of another.
 */
#ifndef PRELOAD_CMD_REPORT_DIFF_FUNCTIONS_H
#define PRELOAD_CMD_REPORT_DIFF_FUNCTIONS_H

#include "preload/cmd/report/diff_match.h"

/*
 * Gives functions of module INDEX of MATCH, which both recordings have, the names in BEFORE that
 * they have in AFTER, as diff_match.h says. 0 or -ENOMEM.
 */
int diff_functions(const struct recording *before, const struct recording *after,
		   struct diff_match *match, size_t index);

/* Is MAPPING a loading of the module that LISTED is one of? LISTED may be NULL: false. */
bool diff_is_loading_of(const struct recording_mapping *listed,
			const struct recording_mapping *mapping);

#endif /* PRELOAD_CMD_REPORT_DIFF_FUNCTIONS_H */
