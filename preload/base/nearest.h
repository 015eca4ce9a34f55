/* SPDX-License-Identifier: MIT */
/*
 * nearest.h - "did you mean": the variable whose name is most like another.
 */
#ifndef PRELOAD_BASE_NEAREST_H
#define PRELOAD_BASE_NEAREST_H

/* The name of a row of config_variables; the first one where none is like NAME. */
const char *nearest_variable(const char *name);

#endif /* PRELOAD_BASE_NEAREST_H */
