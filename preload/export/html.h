/* SPDX-License-Identifier: MIT */
/*
 * html.h - recordings as one self-contained page: a flame graph to search, zoom and turn round.
 *
 * The page asks for nothing: its policy is `default-src 'none'` with its own script and style by
 * their SHA-256 (Content Security Policy Level 3, 2.3.1), and it works from a file. What a guest
 * named is in one JSON block, escaped as on the terminal and without a `<`, so that no parser of
 * HTML finds an end in it; the script puts it on the page as text only.
 *
 * The page holds every sample that was recorded, by stack, group, named instance and state; views,
 * merging by function and the inverted tree are made in the browser. Its parts are the files in
 * html/; what the block holds is described at the top of html/data.js.
 */
#ifndef PRELOAD_EXPORT_HTML_H
#define PRELOAD_EXPORT_HTML_H

#include "preload/export/output.h"
#include "preload/read/reader.h"

/* Zeroed memory asks for nothing. All is borrowed for the call. */
struct html_options {
	const char *sources; /* folder whose files are shown, see html_sources.h; NULL: none */
	/*
	 * How module NAME of recording SIDE (0, 1) is called on the page, so that what is the same
	 * in both has one name; NULL: as it is. What it returns must live as long as the call.
	 */
	const char *(*module_name)(const void *context, const char *name, unsigned side);
	const void *context;
	/* Set by the call: files that frames name, and those of them that are in the page. */
	size_t sources_named, sources_found;
};

/*
 * 0 or -ENOMEM, or what opening the folder OPTIONS->sources gave (ENOENT, ENOTDIR, EACCES). What
 * OUTPUT has to say comes at its close.
 */
int html_write(const struct recording *recording, struct html_options *options,
	       struct output *output);

/* The same for two: widths from either, colours from the change of a frame's share. */
int html_write_change(const struct recording *before, const struct recording *after,
		      struct html_options *options, struct output *output);

#endif /* PRELOAD_EXPORT_HTML_H */
