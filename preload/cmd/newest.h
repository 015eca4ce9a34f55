/* SPDX-License-Identifier: MIT */
/*
 * newest.h - the recording that is meant when none is named.
 */
#ifndef PRELOAD_CMD_NEWEST_H
#define PRELOAD_CMD_NEWEST_H

#include "symtab/base.h"

/* Name of the newest *.pb or *.pb.gz file of the working directory (caller frees), or NULL. */
char *newest_recording(void);

#endif /* PRELOAD_CMD_NEWEST_H */
