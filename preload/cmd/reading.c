/* SPDX-License-Identifier: MIT */
/* reading.c - opens recordings: read, merged, with source lines, filtered. Threads: one at a time.
 */
#include "preload/cmd/reading.h"

#include "preload/cmd/inputs.h"
#include "preload/cmd/progress.h"
#include "preload/cmd/say.h"
#include "preload/cmd/symbolize/naming.h"
#include "preload/read/locations.h"
#include "preload/read/merge.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- options --------------------------------------------------------------------------------- */

static bool add_text(struct reading_options *options, const char **list, const char *name,
		     const char *argument)
{
	for (size_t i = 0; i < FILTER_PATTERNS_MAX; i++) {
		if (list[i] == NULL) {
			list[i] = argument;
			return true;
		}
	}
	say_line("%s: --%s at most %d times", options->command, name, FILTER_PATTERNS_MAX);
	return false;
}

static bool take_option(struct reading_options *options, int option, const char *argument)
{
	struct filter_wish *wish = &options->wish;
	const char **texts[] = {
		[READING_FOCUS - READING_INCLUDE] = &wish->focus,
		[READING_MODULE - READING_INCLUDE] = &wish->module,
		[READING_INSTANCE - READING_INCLUDE] = &wish->instance,
		[READING_THREAD - READING_INCLUDE] = &wish->thread,
		[READING_TIME - READING_INCLUDE] = &wish->time,
		[READING_VIEW - READING_INCLUDE] = &wish->view,
		[READING_NAMES - READING_INCLUDE] = &options->names,
	};

	if (option < READING_INCLUDE)
		return sourcelines_option(&options->sourcelines, option, argument);
	if (option == READING_INCLUDE)
		return add_text(options, wish->include, "include", argument);
	if (option == READING_EXCLUDE)
		return add_text(options, wish->exclude, "exclude", argument);
	if (option == READING_LABEL)
		return add_text(options, wish->labels, "label", argument);
	*texts[option - READING_INCLUDE] = argument;
	return true;
}

bool reading_read_options(struct reading_options *options, int argc, char **argv,
			  const struct reading_syntax *syntax, void *context)
{
	bool is_good = true;
	int option;

	optind = 1;
	while (is_good &&
	       (option = getopt_long(argc, argv, syntax->letters, syntax->names, NULL)) != -1) {
		if (option == '?') /* getopt_long() said so */
			is_good = false;
		else if (option >= SOURCELINES_WASM)
			is_good = take_option(options, option, optarg);
		else
			is_good = syntax->take(context, option);
	}
	return is_good;
}

void reading_free(struct reading_options *options)
{
	sourcelines_free(&options->sourcelines);
}

/* ---- files ----------------------------------------------------------------------------------- */

struct opening {
	const struct reading_options *options;
	struct inputs inputs;
	struct recording **list; /* owned */
	size_t count;
};

static int find_inputs(struct opening *opening, char **paths, size_t count)
{
	struct inputs *inputs = &opening->inputs;
	int error = 0;

	for (size_t i = 0; error == 0 && i < count; i++)
		error = inputs_add(inputs, paths[i]);
	if (error == 0 && count == 0)
		error = inputs_add_newest(inputs);
	if (error == 0 && count == 0 && inputs->count == 0)
		say_line("%s: no FILE named, and no *.pb or *.pb.gz in this directory; guestprof "
			 "record -- CMD makes one",
			 opening->options->command);
	return error;
}

static bool is_copy(const struct recording *a, const struct recording *b)
{
	return a->pid != 0 && a->pid == b->pid && a->time_unix_ns != 0 &&
	       a->time_unix_ns == b->time_unix_ns && a->sample_count == b->sample_count;
}

/* The same process, start and size twice counts twice, which may not be what is meant. */
static void warn_of_copies(const struct opening *opening)
{
	const struct recording *copy = NULL, *original = NULL;
	size_t count = 0;

	for (size_t i = 1; i < opening->count; i++) {
		for (size_t k = 0; k < i; k++) {
			if (!is_copy(opening->list[i], opening->list[k]))
				continue;
			copy = opening->list[i];
			original = opening->list[k];
			count++;
			break;
		}
	}
	if (count == 1)
		say_line("%s: the same process and time as %s; they count twice", copy->path,
			 original->path);
	else if (count > 1)
		say_line("%zu files are of the same process and time as others, as %s and %s are; "
			 "they count twice",
			 count, original->path, copy->path);
}

static int read_files(struct opening *opening)
{
	const struct inputs *inputs = &opening->inputs;

	opening->list = calloc(inputs->count + 1, sizeof(struct recording *));
	if (opening->list == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < inputs->count; i++) {
		char *why = NULL;
		struct recording *recording = recording_read(inputs->paths[i], &why);

		if (recording == NULL) {
			say_line("%s", why != NULL ? why : "out of memory");
			free(why);
		} else {
			opening->list[opening->count++] = recording;
		}
		progress_step();
	}
	return 0;
}

static void say_how_many(const struct opening *opening)
{
	size_t all = opening->inputs.count + opening->inputs.missing;

	if (opening->count != 0 && opening->count < all)
		say_line("%zu of %zu could not be read; what follows is of the other%s",
			 all - opening->count, all, opening->count == 1 ? "" : "s");
}

static struct recording *merge_all(struct opening *opening)
{
	struct recording *recording;

	if (opening->count == 1) {
		recording = opening->list[0];
		opening->count = 0;
		return recording;
	}
	recording = recording_merge(opening->list, opening->count);
	if (recording == NULL)
		say_line("%s: %zu files: %s", opening->options->command, opening->count,
			 strerror(errno));
	return recording;
}

/* ---- one recording --------------------------------------------------------------------------- */

static bool use_filter(const struct reading_options *options, const struct filter *filter,
		       struct recording *recording)
{
	char *why = NULL;
	int error = filter_apply(filter, recording, &why);

	if (error != 0)
		say_line("%s: %s", options->command, why != NULL ? why : strerror(-error));
	free(why);
	return error == 0;
}

/* Takes RECORDING. */
static struct recording *finish(struct opening *opening, const struct filter *filter,
				struct recording *recording)
{
	const struct reading_options *options = opening->options;
	bool is_good = recording != NULL;

	if (is_good && (sourcelines_use(&options->sourcelines, recording) != 0 ||
			locations_gather(recording) != 0)) {
		say_line("%s: %s", options->command, strerror(ENOMEM));
		is_good = false;
	}
	if (is_good && options->names != NULL)
		is_good = naming_apply(options->names, recording) == 0;
	progress_step();
	is_good = is_good && use_filter(options, filter, recording);
	if (is_good)
		return recording;
	recording_free(recording);
	return NULL;
}

/* Steps: each file, and together merge and lines. */
static struct recording *open_all(struct opening *opening, const struct filter *filter,
				  char **paths, size_t count)
{
	struct recording *recording = NULL;
	int error = find_inputs(opening, paths, count);

	progress_begin("reading", opening->inputs.count + 2);
	if (error == 0)
		error = read_files(opening);
	if (error == -ENOMEM)
		say_line("%s: %s", opening->options->command, strerror(-error));
	if (error == 0)
		warn_of_copies(opening);
	if (error == 0)
		say_how_many(opening);
	if (error == 0 && opening->count != 0) {
		recording = merge_all(opening);
		progress_step();
		recording = finish(opening, filter, recording);
	}
	progress_end();
	return recording;
}

struct recording *reading_open(const struct reading_options *options, char **paths, size_t count)
{
	struct opening opening = { .options = options };
	struct recording *recording = NULL;
	char *why = NULL;
	struct filter *filter = filter_new(&options->wish, &why);

	if (filter == NULL)
		say_line("%s: %s", options->command, why != NULL ? why : strerror(ENOMEM));
	else
		recording = open_all(&opening, filter, paths, count);
	for (size_t i = 0; i < opening.count; i++)
		recording_free(opening.list[i]);
	free(opening.list);
	inputs_free(&opening.inputs);
	filter_free(filter);
	free(why);
	return recording;
}
