/* SPDX-License-Identifier: MIT */
/*
 * embedded.h - the debug information that a recording carries itself.
 */
#ifndef PRELOAD_CMD_SYMBOLIZE_EMBEDDED_H
#define PRELOAD_CMD_SYMBOLIZE_EMBEDDED_H

#include "preload/lines/lines.h"
#include "preload/read/reader.h"

/*
 * What MAPPING carries, opened: the wasm that ran, without what lines do not need (names, code).
 * NULL with errno: ENOENT (it carries none), EBADMSG (damaged), ENOMEM.
 */
struct lines *embedded_open(const struct recording_mapping *mapping);

#endif /* PRELOAD_CMD_SYMBOLIZE_EMBEDDED_H */
