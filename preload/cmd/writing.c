/* SPDX-License-Identifier: MIT */
/* writing.c - opens, fills and closes what a command writes. */
#include "preload/cmd/writing.h"

#include "preload/cmd/progress.h"
#include "preload/cmd/say.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

int writing_file(const char *name, bool is_compressed,
		 int (*write)(const void *context, struct output *output), const void *context)
{
	struct output *output = output_open(name, is_compressed);
	int error, close_error;

	if (output == NULL)
		return -errno;
	/* not across what goes to the terminal itself */
	if (strcmp(name, "-") != 0 || isatty(STDOUT_FILENO) != 1)
		progress_begin("writing", 0);
	error = write(context, output);
	close_error = output_close(output, error == 0);
	progress_end();
	return error != 0 ? error : close_error;
}

void writing_tell_sources(const struct html_options *page)
{
	if (page->sources == NULL)
		return;
	say_line("%s: %zu of the %zu source files that frames name are in the page%s",
		 page->sources, page->sources_found, page->sources_named,
		 page->sources_found < page->sources_named
			 ? "; guestprof symbolize --source-map FROM=TO says where the others are"
			 : "");
}
