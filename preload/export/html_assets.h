/* SPDX-License-Identifier: MIT */
/*
 * html_assets.h - the files in html/, as they are in the source tree.
 */
#ifndef PRELOAD_EXPORT_HTML_ASSETS_H
#define PRELOAD_EXPORT_HTML_ASSETS_H

#include "symtab/base.h"

struct html_asset {
	const char *name; /* in html/ */
	const char *begin, *end;
};

enum { HTML_ASSET_SCRIPTS = 11 };

/* The page, with `{{NAME}}` where something is to be put in; its style. */
extern const struct html_asset html_assets_page, html_assets_style;

/* Parts of one script, in this order. */
extern const struct html_asset html_assets_scripts[HTML_ASSET_SCRIPTS];

#endif /* PRELOAD_EXPORT_HTML_ASSETS_H */
