/* SPDX-License-Identifier: MIT */
/*
 * library.h - where libguestprof.so is.
 */
#ifndef PRELOAD_CMD_LIBRARY_H
#define PRELOAD_CMD_LIBRARY_H

#include "symtab/base.h"

/*
 * Absolute path (caller frees): $GUESTPROF_LIB, else beside the executable (a build tree), else
 * ../lib/guestprof/ from it (installed). NULL after having said what is missing.
 */
char *library_path(void);

#endif /* PRELOAD_CMD_LIBRARY_H */
