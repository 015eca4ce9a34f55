/* SPDX-License-Identifier: MIT */
/*
 * pprof.h - a whole struct recording as a pprof profile. The command only.
 *
 * Ids are 1..n in table order, definitions come before uses, string 0 is "", nothing is written
 * that no sample needs: what google/pprof, Parca and Pyroscope insist on.
 */
#ifndef PRELOAD_EXPORT_PPROF_H
#define PRELOAD_EXPORT_PPROF_H

#include "preload/export/output.h"
#include "preload/read/reader.h"

/* For other tools: string labels become time series there, so there are few of them. */
struct pprof_options {
	bool by_instance; /* the label wasm_instance too */
	size_t group_max; /* so many modules and user's labels, the rest is `(other)`; 0: 50 */
};

/*
 * For other tools: samples of one stack are one, without time, thread, state and process; labels
 * are wasm_module and the user's. 0 or negative errno; OUTPUT's own errors stick in it.
 */
int pprof_write(const struct recording *recording, const struct pprof_options *options,
		struct output *output);

/* As a recording (recording.h): everything that struct recording holds. 0 or negative errno. */
int pprof_write_recording(const struct recording *recording, struct output *output);

#endif /* PRELOAD_EXPORT_PPROF_H */
