/* SPDX-License-Identifier: MIT */
/*
 * pprof_tables.h - pprof's tables in the making: rows get ids at their first use, from 1.
 */
#ifndef PRELOAD_EXPORT_PPROF_TABLES_H
#define PRELOAD_EXPORT_PPROF_TABLES_H

#include "preload/encode/pb.h"
#include "preload/export/output.h"
#include "preload/read/names.h"
#include "preload/read/pairs.h"
#include "preload/read/reader.h"

struct pprof_tables {
	const struct recording *recording; /* borrowed */
	bool has_extensions;		   /* write what pprof has no place for */
	struct names strings;
	uint64_t *mapping_ids, *location_ids; /* by index in the recording; 0: not used yet */
	struct pairs functions;		      /* by address */
	uint64_t mapping_count, location_count;
	struct pb_writer mappings, locations, function_rows; /* whole fields */
	struct pb_writer message, line;			     /* scratch */
	int error;					     /* sticks: -ENOMEM */
};

/* 0 or -ENOMEM; pprof_tables_free() in both cases. */
int pprof_tables_begin(struct pprof_tables *tables, const struct recording *recording,
		       bool has_extensions);
void pprof_tables_free(struct pprof_tables *tables);

/* Id of LOCATION. */
uint64_t pprof_location(struct pprof_tables *tables, const struct recording_location *location);

/* Appends to MESSAGE a field with the index of TEXT, unless it is "". */
void pprof_put_text(struct pprof_tables *tables, struct pb_writer *message, uint32_t field,
		    const char *text);
/* The same for a number that is not 0. */
void pprof_put_number(struct pb_writer *message, uint32_t field, uint64_t value);
/* Appends a label to the sample MESSAGE; VALUE "": none. */
void pprof_put_label(struct pprof_tables *tables, struct pb_writer *message, const char *key,
		     const char *value);

/* Appends to HEAD types, period and times. */
void pprof_put_head(struct pprof_tables *tables, struct pb_writer *head, bool has_wall);

/* Writes the string table, HEAD, mappings, functions, locations, then BODY. 0 or -ENOMEM. */
int pprof_tables_write(struct pprof_tables *tables, const struct pb_writer *head,
		       const struct pb_writer *body, struct output *output);

#endif /* PRELOAD_EXPORT_PPROF_TABLES_H */
