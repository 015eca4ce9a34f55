/* SPDX-License-Identifier: MIT */
/*
 * html_data.h - the JSON block of the html page; what it holds is said in html/data.js.
 */
#ifndef PRELOAD_EXPORT_HTML_DATA_H
#define PRELOAD_EXPORT_HTML_DATA_H

#include "preload/export/html_sources.h"
#include "preload/export/html_tree.h"
#include "preload/read/reader.h"

struct html_data {
	const struct recording *recordings[2]; /* by side; the second may be NULL */
	struct html_tree tree;
	struct html_tree_names names;
	struct html_sources sources;
};

/* 0 or -ENOMEM. */
int html_data_write(const struct html_data *data, struct json *json);

#endif /* PRELOAD_EXPORT_HTML_DATA_H */
