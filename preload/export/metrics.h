/* SPDX-License-Identifier: MIT */
/*
 * metrics.h - a census as text for Prometheus (text format 0.0.4) and as its service discovery
 * (http_sd). Names and labels are guests' and tenants' data: values are escaped, keys are made fit.
 */
#ifndef PRELOAD_EXPORT_METRICS_H
#define PRELOAD_EXPORT_METRICS_H

#include "preload/export/output.h"
#include "preload/read/census.h"

#define METRICS_TYPE "text/plain; version=0.0.4; charset=utf-8"

/* What the server knows of itself. */
struct metrics_server {
	uint64_t waiting, answered, refused, dropped;
};

/* Writes the counters of all groups to OUTPUT, whose errors stick in it. 0 or -ENOMEM. */
int metrics_write(const struct census *census, const struct metrics_server *server, uint64_t now_ns,
		  struct output *output);

/*
 * Writes the targets: each process, and its heaviest groups, as they were within CENSUS_STAY_NS of
 * NOW_NS. ADDRESS is where each is scraped. 0 or -ENOMEM.
 */
int metrics_write_targets(const struct census *census, const char *address, uint64_t now_ns,
			  struct output *output);

/* KEY as a label's name: what is none of a-z A-Z 0-9 becomes _, `label_` goes before. */
enum { METRICS_KEY_SIZE = 128 };
void metrics_key(char out[METRICS_KEY_SIZE], const char *key);
/* Has one of the first COUNT LABELS that name already? Then it is the one that counts. */
bool metrics_is_taken(const struct recording_label *labels, size_t count, const char *name);

#endif /* PRELOAD_EXPORT_METRICS_H */
