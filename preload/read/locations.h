/* SPDX-License-Identifier: MIT */
/*
 * locations.h - the table of a recording's locations, complete. The command only.
 */
#ifndef PRELOAD_READ_LOCATIONS_H
#define PRELOAD_READ_LOCATIONS_H

#include "preload/read/reader.h"

/*
 * Puts every location of RECORDING's samples into its table, as they are in one that was just read:
 * what goes by the index there (merge.h, filter.h, pprof.h) needs it. To be called when samples
 * were given other locations; addresses of locations change. 0 or -ENOMEM.
 */
int locations_gather(struct recording *recording);

/*
 * The table gets room for MORE rows behind those that it has, and the samples' locations follow to
 * where it is then. 0 or -ENOMEM.
 */
int locations_reserve(struct recording *recording, size_t more);

#endif /* PRELOAD_READ_LOCATIONS_H */
