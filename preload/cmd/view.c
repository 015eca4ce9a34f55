/* SPDX-License-Identifier: MIT */
/* view.c - `guestprof view`: a recording in the browser, as the html page and in the Firefox
 * Profiler. */
#include "preload/cmd/command.h"
#include "preload/cmd/ending.h"
#include "preload/cmd/progress.h"
#include "preload/cmd/reading.h"
#include "preload/cmd/say.h"
#include "preload/cmd/view_browser.h"
#include "preload/cmd/view_server.h"
#include "preload/cmd/writing.h"
#include "preload/export/firefox.h"
#include "preload/export/html.h"
#include "preload/export/inmemory.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define FIREFOX_ORIGIN "https://profiler.firefox.com"

enum form { FORM_HTML, FORM_FIREFOX, FORM_COUNT };

struct options {
	struct reading_options reading;
	struct html_options page;
	bool is_wanted[FORM_COUNT];
	bool is_once, opens_none;
	uint64_t timeout_s; /* 0: none */
};

static int write_html(const struct recording *recording, struct options *options,
		      struct output *output)
{
	int error = html_write(recording, &options->page, output);

	if (error == 0)
		writing_tell_sources(&options->page);
	return error;
}

static int write_firefox(const struct recording *recording, struct options *options,
			 struct output *output)
{
	uint64_t merged_ns = 0;
	int error = firefox_write(recording, FIREFOX_SIZE_MAX, output, &merged_ns);

	(void)options;
	if (error == 0 && merged_ns != 0)
		say_line("for the Firefox Profiler, equal stacks within %" PRIu64
			 " s are one sample: it does not open more than %u MB",
			 merged_ns / 1000000000, (unsigned)(FIREFOX_SIZE_MAX / 1000000));
	return error;
}

static const struct form_row {
	const char *name; /* of --to */
	struct view_file file;
	bool is_compressed;
	int (*write)(const struct recording *recording, struct options *options,
		     struct output *output);
} forms[FORM_COUNT] = {
	[FORM_HTML] = { "html",
			{ .name = "profile.html", .type = "text/html; charset=utf-8" },
			false,
			write_html },
	[FORM_FIREFOX] = { "firefox",
			   { .name = "profile.json.gz",
			     .type = "application/gzip",
			     .origin = FIREFOX_ORIGIN },
			   true,
			   write_firefox },
};

/* ---- files in memory --------------------------------------------------------------------------
 */

/* RECORDING in FORM, as FILE, whose bytes the caller frees. 0 or negative errno. */
static int make_file(const struct form_row *form, const struct recording *recording,
		     struct options *options, struct view_file *file)
{
	struct inmemory memory;
	uint8_t *bytes;
	int error = inmemory_open(&memory, form->is_compressed), close_error;

	if (error != 0)
		return error;
	error = form->write(recording, options, memory.output);
	*file = form->file;
	close_error = inmemory_close(&memory, error == 0, &bytes, &file->size);
	file->bytes = bytes;
	return error != 0 ? error : close_error;
}

/* ---- until it is over -------------------------------------------------------------------------
 */

/* Of the monotonic clock. */
static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Until a signal, the timeout, or with --once until everything was fetched. */
static void serve(const struct options *options, struct view_server *server, int signal_fd)
{
	struct pollfd waits[] = { { .fd = signal_fd, .events = POLLIN },
				  { .fd = view_server_fd(server), .events = POLLIN } };
	int64_t end = now_ms() + (int64_t)options->timeout_s * 1000;

	for (;;) {
		int64_t left = options->timeout_s != 0 ? end - now_ms() : INT32_MAX;

		if (left <= 0 || (poll(waits, 2, (int)left) < 0 && errno != EINTR))
			return;
		if (waits[0].revents != 0)
			return;
		if (waits[1].revents != 0 && view_server_is_done(server) && options->is_once)
			return;
	}
}

/* The addresses go to standard output, in the order in which they are opened. */
static int tell(const struct options *options, const struct view_server *server,
		const enum form *kinds, size_t count)
{
	for (size_t i = count; i-- > 0;) {
		char *address = view_server_address(server, i), *shown = address;

		if (address != NULL && kinds[i] == FORM_FIREFOX)
			shown = view_browser_from_url(FIREFOX_ORIGIN, address);
		if (shown == NULL) {
			free(address);
			return -ENOMEM;
		}
		printf("%-8s %s\n", forms[kinds[i]].name, shown);
		fflush(stdout);
		if (!options->opens_none)
			view_browser_open(shown);
		if (shown != address)
			free(shown);
		free(address);
	}
	say_line("the data stays on this machine: only browsers on it that know the address get "
		 "it%s",
		 options->is_wanted[FORM_FIREFOX]
			 ? ", and the Firefox Profiler reads it inside the browser"
			 : "");
	say_line("Ctrl-C ends this");
	return 0;
}

static int view_files(const struct options *options, const struct view_file *files,
		      const enum form *kinds, size_t count)
{
	int signal_fd = ending_open(), error;
	struct view_server *server = signal_fd >= 0 ? view_server_start(files, count) : NULL;

	if (server == NULL) {
		error = signal_fd < 0 ? signal_fd : -errno;
	} else {
		error = tell(options, server, kinds, count);
		if (error == 0)
			serve(options, server, signal_fd);
	}
	view_server_stop(server);
	if (signal_fd >= 0)
		close(signal_fd);
	return error;
}

static int view_recording(struct options *options, const struct recording *recording)
{
	struct view_file files[FORM_COUNT];
	enum form kinds[FORM_COUNT];
	size_t count = 0;
	int error = 0;

	progress_begin("writing", 0);
	for (enum form i = 0; error == 0 && i < FORM_COUNT; i++) {
		if (!options->is_wanted[i])
			continue;
		kinds[count] = i;
		error = make_file(&forms[i], recording, options, &files[count]);
		count += error == 0;
	}
	progress_end();
	if (error == 0)
		error = view_files(options, files, kinds, count);
	for (size_t i = 0; i < count; i++)
		free((void *)(uintptr_t)files[i].bytes);
	if (error != 0)
		say_line("view: %s", strerror(-error));
	return error == 0 ? COMMAND_OK : COMMAND_BAD;
}

/* ---- options ----------------------------------------------------------------------------------
 */

static bool take_form(struct options *options, const char *name)
{
	bool is_known = false;

	for (enum form i = 0; i < FORM_COUNT; i++) {
		options->is_wanted[i] = strcmp(forms[i].name, name) == 0;
		is_known |= options->is_wanted[i];
	}
	if (is_known)
		return true;
	say_line("view: --to takes html or firefox, not %s", name);
	return false;
}

static bool take_timeout(struct options *options, const char *text)
{
	char *end;

	errno = 0;
	options->timeout_s = strtoul(text, &end, 10);
	if (text[0] >= '0' && text[0] <= '9' && *end == '\0' && options->timeout_s > 0 &&
	    options->timeout_s <= INT32_MAX / 1000)
		return true;
	say_line("view: --timeout takes seconds, not %s", text);
	return false;
}

static bool take_option(void *context, int option)
{
	struct options *options = context;

	switch (option) {
	case 't':
		return take_form(options, optarg);
	case 's':
		options->page.sources = optarg;
		return true;
	case 'o':
		options->is_once = true;
		return true;
	case 'n':
		options->opens_none = true;
		return true;
	default:
		return take_timeout(options, optarg);
	}
}

static const struct option names[] = {
	{ "to", required_argument, NULL, 't' },
	{ "sources", required_argument, NULL, 's' },
	{ "once", no_argument, NULL, 'o' },
	{ "no-open", no_argument, NULL, 'n' },
	{ "timeout", required_argument, NULL, 'w' },
	READING_OPTIONS,
	{ 0 },
};
static const struct reading_syntax syntax = { "t:", names, take_option };

int view_command(int argc, char **argv)
{
	struct options options = { .reading.command = "view", .is_wanted = { true, true } };
	struct recording *recording = NULL;
	int status = COMMAND_BAD;

	if (reading_read_options(&options.reading, argc, argv, &syntax, &options))
		recording = reading_open(&options.reading, argv + optind, (size_t)(argc - optind));
	if (recording != NULL && recording->sample_count == 0) {
		say_line("%s: no samples in it", recording->path);
		status = COMMAND_NO_SAMPLES;
	} else if (recording != NULL) {
		status = view_recording(&options, recording);
	}
	recording_free(recording);
	reading_free(&options.reading);
	return status;
}
