/* SPDX-License-Identifier: MIT */
/* audit_html.c - a page of html.h: its block of JSON, and that the rest is what every page is. */
#include "preload/export/html.h"
#include "preload/read/source.h"
#include "preload/share/audit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Where the block is: everything between the first line and the last one. */
struct page {
	const uint8_t *block;
	size_t head_size, block_size, tail_size;
};

static const char begin_mark[] = "<script type=\"application/json\" id=\"data\">";
static const char end_mark[] = "</script>";

static bool split(const uint8_t *bytes, size_t size, struct page *page)
{
	const uint8_t *begin = memmem(bytes, size, begin_mark, sizeof(begin_mark) - 1), *end;

	if (begin == NULL)
		return false;
	begin += sizeof(begin_mark) - 1;
	end = memmem(begin, size - (size_t)(begin - bytes), end_mark, sizeof(end_mark) - 1);
	if (end == NULL)
		return false;
	page->block = begin;
	page->head_size = (size_t)(begin - bytes);
	page->block_size = (size_t)(end - begin);
	page->tail_size = size - (size_t)(end - bytes);
	return true;
}

/* A page of nothing, as this program makes it. 0 or negative errno. */
static int make_page(struct source *source)
{
	struct recording_process process = { .program = "",
					     .clock = "",
					     .clock_why = "",
					     .stacks = "",
					     .guestprof_version = "",
					     .path = "" };
	struct recording nothing = {
		.path = "",
		.filter = "",
		.program = "",
		.clock = "",
		.clock_why = "",
		.stacks = "",
		.guestprof_version = "",
		.processes = &process,
		.process_count = 1,
	};
	struct html_options options = { 0 };
	char folder[] = "/tmp/guestprof-audit-XXXXXX", path[64], *why = NULL;
	struct output *output;
	int error;

	if (mkdtemp(folder) == NULL)
		return -errno;
	snprintf(path, sizeof(path), "%s/page.html", folder);
	output = output_open(path, false);
	error = output != NULL ? html_write(&nothing, &options, output) : -errno;
	if (output != NULL && error == 0)
		error = output_close(output, true);
	else if (output != NULL)
		output_close(output, false);
	if (error == 0)
		error = source_read(path, source, &why);
	free(why);
	unlink(path);
	rmdir(folder);
	return error;
}

static int check_rest(struct audit *audit, const uint8_t *bytes, const struct page *page)
{
	struct source own = { 0 };
	struct page expected;
	int error = make_page(&own);

	if (error != 0)
		return error == -ENOMEM ? error
					: audit_unreadable(audit, "no page to compare with: %s",
							   strerror(-error));
	if (!split(own.bytes, own.size, &expected) || expected.head_size != page->head_size ||
	    memcmp(own.bytes, bytes, page->head_size) != 0)
		audit_found(audit, "page, before its data",
			    "not what this version of guestprof writes");
	else if (expected.tail_size != page->tail_size ||
		 memcmp(own.bytes + own.size - page->tail_size, page->block + page->block_size,
			page->tail_size) != 0)
		audit_found(audit, "page, behind its data",
			    "not what this version of guestprof writes");
	source_free(&own);
	return 0;
}

int audit_html(struct audit *audit, const uint8_t *bytes, size_t size)
{
	struct page page;
	int error;

	if (!split(bytes, size, &page))
		return audit_unreadable(audit, "no page of guestprof: it has no block of data");
	error = audit_json(audit, "data", page.block, page.block_size);
	return error == 0 ? check_rest(audit, bytes, &page) : error;
}
