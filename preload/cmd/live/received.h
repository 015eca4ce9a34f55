/* SPDX-License-Identifier: MIT */
/*
 * received.h - a recording that comes over a control socket becomes a file.
 */
#ifndef PRELOAD_CMD_LIVE_RECEIVED_H
#define PRELOAD_CMD_LIVE_RECEIVED_H

#include "preload/cmd/live/dialogue.h"

/*
 * Writes the bytes behind DIALOGUE's reply to PATH, whole or not at all; "-" is standard output.
 * Compressed when PATH ends in .gz. 0 or negative errno, having said what is wrong.
 */
int received_save(struct dialogue *dialogue, const char *path);

/* A free name here for a recording of PROGRAM and PID (caller frees), or NULL. */
char *received_name(const char *program, uint64_t pid);

#endif /* PRELOAD_CMD_LIVE_RECEIVED_H */
