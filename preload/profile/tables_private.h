/* SPDX-License-Identifier: MIT */
/*
 * tables_private.h - what tables.c and locations.c share. Threads: ours.
 */
#ifndef PRELOAD_PROFILE_TABLES_PRIVATE_H
#define PRELOAD_PROFILE_TABLES_PRIVATE_H

#include "preload/profile/tables.h"

enum { TABLES_JIT_PAGE = 4096 }; /* of code that nobody described: one function a page */

/* Id of the mapping of ENTRY, of the host for NULL, NAME its text; 0 when memory is short. */
uint64_t tables_mapping(struct tables *tables, const struct symtab_entry *entry, uint32_t name);

/* Id of the function of FRAME, MODULE_NAME as for tables_location(); 0 when memory is short. */
uint64_t tables_function(struct tables *tables, const struct frame *frame, uint32_t module_name);

/* Id of the function called TEXT that is no module's; 0 when memory is short. */
uint64_t tables_plain_function(struct tables *tables, const char *text);

/* Makes LOCATION_OTHER, which stands for all that is beyond the bounds. 0 or -ENOMEM. */
int tables_add_other(struct tables *tables);

#endif /* PRELOAD_PROFILE_TABLES_PRIVATE_H */
