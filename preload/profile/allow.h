/* SPDX-License-Identifier: MIT */
/*
 * allow.h - GUESTPROF_MODULES: which modules' frames are recorded.
 */
#ifndef PRELOAD_PROFILE_ALLOW_H
#define PRELOAD_PROFILE_ALLOW_H

#include "symtab/base.h"

/*
 * Is the module called NAME listed in GLOBS (comma-separated fnmatch patterns; blanks around them
 * do not count)? NULL or nothing but blanks and commas lists all.
 */
bool allow_module(const char *globs, const char *name);

#endif /* PRELOAD_PROFILE_ALLOW_H */
