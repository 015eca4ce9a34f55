/* SPDX-License-Identifier: MIT */
/*
 * sourcelines.h - names, lines and inlined callers for a recording, from wasm files.
 */
#ifndef PRELOAD_CMD_SYMBOLIZE_SOURCELINES_H
#define PRELOAD_CMD_SYMBOLIZE_SOURCELINES_H

#include "preload/cmd/symbolize/lined.h"
#include "preload/cmd/symbolize/wasmfiles.h"

/* What --wasm and --source-map said. Zeroed memory is nothing. */
struct sourcelines {
	struct wasmfiles files;
	struct lined_maps maps;
	bool uses_paths; /* the files that the host opened are looked at too, if nothing else gives
			    lines */
};

/* The two options, for getopt_long(); their values are above those of characters. */
enum { SOURCELINES_WASM = 1000, SOURCELINES_MAP };
#define SOURCELINES_OPTIONS                                            \
	{ "wasm", required_argument, NULL, SOURCELINES_WASM },         \
	{                                                              \
		"source-map", required_argument, NULL, SOURCELINES_MAP \
	}

/* Takes ARGUMENT of OPTION. False after having said what is wrong. */
bool sourcelines_option(struct sourcelines *sourcelines, int option, const char *argument);
void sourcelines_free(struct sourcelines *sourcelines);

/* How it went. */
struct sourcelines_result {
	size_t modules; /* that were found in files */
	size_t refused; /* files that were named and are no module of the recording, or unreadable
			 */
};

/*
 * Gives the recording's locations what the files say of them, or for modules that no file is, what
 * the recording carries itself. LINED holds what is new, for a
 * writer; the caller frees it. Says one line for each file that is a module that ran, with what
 * shows it; for each other file that was named, with what shows that it is not; for damaged debug
 * information. 0 or -ENOMEM.
 */
int sourcelines_apply(const struct sourcelines *sourcelines, struct recording *recording,
		      struct lined *lined, struct sourcelines_result *result);

/* The same where nothing is to be written, and refused files are only told. 0 or -ENOMEM. */
int sourcelines_use(const struct sourcelines *sourcelines, struct recording *recording);

#endif /* PRELOAD_CMD_SYMBOLIZE_SOURCELINES_H */
