/* SPDX-License-Identifier: MIT */
/*
 * id.h - what `guestprof id` can do besides naming files.
 */
#ifndef PRELOAD_CMD_ID_H
#define PRELOAD_CMD_ID_H

#include "preload/export/output.h"

/* `id --match FILE OTHER...`. Returns the exit status: COMMAND_OK when all of them matched. */
int id_match(const char *file, char **others, int count, bool as_json);

/* `id --names FILE`. Returns the exit status. */
int id_names(const char *file, bool as_json);

/* Writes `KEY=TEXT`, with TEXT escaped. */
void id_text(struct output *output, const char *key, const char *text);

#endif /* PRELOAD_CMD_ID_H */
