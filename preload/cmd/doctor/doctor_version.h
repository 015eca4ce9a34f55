/* SPDX-License-Identifier: MIT */
/*
 * doctor_version.h - which version of an engine a library is, and numbers of versions in texts.
 */
#ifndef PRELOAD_CMD_DOCTOR_DOCTOR_VERSION_H
#define PRELOAD_CMD_DOCTOR_DOCTOR_VERSION_H

#include "symtab/base.h"

/* The number at the beginning of SIZE bytes at TEXT, digits and dots; "": there is none. */
void doctor_version_read(char version[32], const char *text, size_t size);

/* By the folders that the library of ENGINE at PATH is in; "": they do not tell. */
void doctor_version_of_library(char version[32], const char *path, const char *engine);

#endif /* PRELOAD_CMD_DOCTOR_DOCTOR_VERSION_H */
