/* SPDX-License-Identifier: MIT */
/*
 * applying.h - one wasm file that is a module of the recording: what it says goes into the
 * locations.
 */
#ifndef PRELOAD_CMD_SYMBOLIZE_APPLYING_H
#define PRELOAD_CMD_SYMBOLIZE_APPLYING_H

#include "preload/cmd/symbolize/lined.h"
#include "preload/cmd/symbolize/sourcelines.h"
#include "preload/cmd/symbolize/subjects.h"
#include "preload/lines/lines.h"

struct applying {
	struct recording *recording;
	struct lined *lined;
	struct subjects subjects;
	struct sourcelines_result *result;
	bool is_same_only;  /* in this round: files with the same bytes */
	struct match match; /* large */
};

/*
 * Subject ID is what PATH, opened as LINES, holds, by APPLYING's match; PATH NULL: the recording
 * carries it. Says how it went. 0 or -ENOMEM.
 */
int applying_file(struct applying *applying, uint32_t id, const char *path, struct lines *lines);

/* The file's number of core module CORE of what ran; MATCH_NO_CORE. */
uint32_t applying_core(const struct match *match, uint32_t core);

#endif /* PRELOAD_CMD_SYMBOLIZE_APPLYING_H */
