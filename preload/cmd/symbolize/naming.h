/* SPDX-License-Identifier: MIT */
/*
 * naming.h - names and labels for the modules of a recording, afterwards, from a names file.
 */
#ifndef PRELOAD_CMD_SYMBOLIZE_NAMING_H
#define PRELOAD_CMD_SYMBOLIZE_NAMING_H

#include "preload/read/reader.h"

/*
 * Reads the names file PATH (symtab/namelist.h), and gives the modules of RECORDING, their groups,
 * instances and samples what it says of them, in place: its names instead of theirs, its labels
 * beside theirs and, of those with the same key, instead of them. Says one line of lines that are
 * not understood, and when no module is in it. 0, or negative errno after having said it.
 */
int naming_apply(const char *path, struct recording *recording);

#endif /* PRELOAD_CMD_SYMBOLIZE_NAMING_H */
