/* SPDX-License-Identifier: MIT */
/* audit.c - `guestprof audit`: is there anything in a file that is not one tenant's? */
#include "preload/share/audit.h"

#include "preload/cmd/command.h"
#include "preload/cmd/progress.h"
#include "preload/cmd/say.h"
#include "preload/cmd/selecting.h"
#include "preload/read/escape.h"
#include "preload/read/merge.h"
#include "preload/read/source.h"
#include "preload/share/audit_texts.h"
#include "preload/share/shared.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { AGAINST_MAX = 64 };

enum { OPTION_WITH_DEBUG = 'z' + 1, OPTION_AGAINST };

struct options {
	struct selecting selecting;
	bool has_debug;
	const char *against[AGAINST_MAX];
	size_t against_count;
	const char *file;
};

/* ---- options --------------------------------------------------------------------------------- */

static bool take_option(struct options *options, int option, char *argument)
{
	if (option == OPTION_WITH_DEBUG) {
		options->has_debug = true;
	} else if (option == OPTION_AGAINST && options->against_count == AGAINST_MAX) {
		say_line("audit: at most %d --against", AGAINST_MAX);
		return false;
	} else if (option == OPTION_AGAINST) {
		options->against[options->against_count++] = argument;
	} else {
		return selecting_option(&options->selecting, option, argument);
	}
	return true;
}

static bool read_options(struct options *options, int argc, char **argv)
{
	static const struct option names[] = {
		SELECTING_OPTIONS,
		{ "with-debug", no_argument, NULL, OPTION_WITH_DEBUG },
		{ "against", required_argument, NULL, OPTION_AGAINST },
		{ 0 },
	};
	int option;

	optind = 1;
	while ((option = getopt_long(argc, argv, "", names, NULL)) != -1) {
		if (!take_option(options, option, optarg))
			return false;
	}
	if (argc - optind != 1) {
		say_line("audit: one FILE at a time");
		return false;
	}
	options->file = argv[optind];
	if (strcmp(options->file, "-") == 0) {
		say_line("audit: it reads FILE twice, so it cannot be standard input");
		return false;
	}
	return selecting_check(&options->selecting);
}

/* ---- the recording that the file comes from -------------------------------------------------- */

/* `KEY=VALUE`, as exports show labels. */
static int allow_labels(struct audit_texts *texts, const struct shared *shared)
{
	int error = 0;

	for (size_t i = 0; error == 0 && i < shared->module_count; i++) {
		const struct shared_module *module = &shared->modules[i];

		for (size_t j = 0; error == 0 && j < module->label_count; j++) {
			char *text;

			if (asprintf(&text, "%s=%s", module->labels[j].key,
				     module->labels[j].value) < 0)
				return -ENOMEM;
			error = audit_texts_allow(texts, text);
			free(text);
		}
	}
	return error;
}

/* What may be told of RECORDING, whose fields are BYTES. 0 or negative errno. */
static int add_told(const struct options *options, struct audit_texts *texts,
		    const struct recording *recording, const struct source *bytes)
{
	const struct shared_options everything = { .has_time = true, .has_debug = true };
	struct pb_writer told = { 0 };
	struct shared shared;
	int error = shared_build(&shared, recording, &options->selecting.selection, &everything);

	if (error == 0)
		shared_encode(&shared, &told);
	if (error == 0)
		error = told.error;
	if (error == 0)
		error = allow_labels(texts, &shared);
	if (error == 0)
		error = audit_texts_add(texts, bytes->bytes, bytes->size, told.bytes, told.size);
	pb_free(&told);
	shared_free(&shared);
	return error;
}

/* PATH, which becomes *RECORDING (recording_free()). */
static int add_against(const struct options *options, struct audit_texts *texts, const char *path,
		       struct recording **recording, char **why)
{
	struct source source = { 0 };
	int error = source_read(path, &source, why);

	if (error == 0) {
		*recording = recording_read(path, why);
		error = *recording == NULL ? -EBADMSG
					   : add_told(options, texts, *recording, &source);
	}
	source_free(&source);
	return error;
}

/* A file of several recordings is of them as one: instances are numbered on. */
static int add_merged(const struct options *options, struct audit_texts *texts,
		      struct recording *const *list, size_t count)
{
	const struct source nothing = { 0 };
	struct recording *merged;
	int error;

	if (count < 2)
		return 0;
	merged = recording_merge(list, count);
	error = merged == NULL ? -ENOMEM : add_told(options, texts, merged, &nothing);
	recording_free(merged);
	return error;
}

/* NULL after having said why. */
static struct audit_texts *read_against(const struct options *options)
{
	struct recording *list[AGAINST_MAX] = { NULL };
	struct audit_texts *texts = audit_texts_new();
	char *why = NULL;
	int error = texts != NULL ? 0 : -ENOMEM;

	for (size_t i = 0; error == 0 && i < options->against_count; i++)
		error = add_against(options, texts, options->against[i], &list[i], &why);
	if (error == 0)
		error = add_merged(options, texts, list, options->against_count);
	for (size_t i = 0; i < options->against_count; i++)
		recording_free(list[i]);
	if (error == 0)
		error = audit_texts_finish(texts);
	if (error == 0)
		return texts;
	say_line("%s", why != NULL ? why : strerror(-error));
	free(why);
	audit_texts_free(texts);
	return NULL;
}

/* ---- the audit ------------------------------------------------------------------------------- */

/* `FILE: sample 3: field 4: what`, of what others may have written. */
static void print_finding(void *context, const char *where, const char *what)
{
	const struct options *options = context;
	char *text, *escaped;

	if (asprintf(&text, "%s: %s: %s", options->file, where, what) < 0)
		return;
	escaped = escape_new(text, ESCAPE_VISIBLE);
	puts(escaped != NULL ? escaped : "out of memory");
	free(escaped);
	free(text);
}

static bool is_profile(const struct source *source)
{
	return source->size != 0 && source->bytes[0] != '{' && source->bytes[0] != '<' &&
	       source->bytes[0] != '[';
}

/*
 * A shared file is what `share` makes of it, byte for byte: so nothing is hidden in an order, a
 * length or a zero. Only a file in which nothing else was found is read for that.
 */
static int check_form(struct audit *audit, const struct options *options)
{
	struct recording *recording = NULL;
	struct pb_writer again = { 0 };
	struct shared_options as_it_is = { .has_debug = true };
	struct selection all = *audit->selection;
	struct source source = { 0 };
	struct shared shared = { 0 };
	char *why = NULL;
	int error = source_read(options->file, &source, &why);

	if (error == 0 && is_profile(&source))
		recording = recording_read(options->file, &why);
	free(why);
	if (recording != NULL && recording->is_ours) {
		/* In a shared file the module, or the instance, is whatever there is. */
		if (all.by != SELECTION_LABEL)
			all.by = SELECTION_ALL;
		as_it_is.has_time = recording->duration_ns != 0;
		error = shared_build(&shared, recording, &all, &as_it_is);
		if (error == 0)
			shared_encode(&shared, &again);
		if (error == 0 && again.error != 0)
			error = again.error;
		if (error == 0 && (again.size != source.size ||
				   memcmp(again.bytes, source.bytes, again.size) != 0))
			audit_found(audit, "profile", "not in the form that share gives it");
	}
	pb_free(&again);
	shared_free(&shared);
	recording_free(recording);
	source_free(&source);
	return error;
}

static int run(struct audit *audit, const struct options *options)
{
	struct source source = { 0 };
	char *why = NULL;
	int error = source_read_raw(options->file, &source, &why);

	if (error != 0) {
		say_line("%s", why != NULL ? why : strerror(-error));
		free(why);
		return error;
	}
	error = audit_bytes(audit, source.bytes, source.size);
	source_free(&source);
	if (error == 0 && audit->found_count == 0) {
		progress_begin("checking", 0);
		error = check_form(audit, options);
		progress_end();
	}
	if (error != 0)
		say_line("%s: %s", options->file,
			 audit->why[0] != '\0' ? audit->why : strerror(-error));
	return error;
}

static int conclude(const struct audit *audit, const struct options *options)
{
	char count[SAY_COUNT_SIZE], text[512];

	if (audit->found_count != 0)
		say_line("%s: %s found", options->file, say_count(count, audit->found_count));
	else
		say_line("%s: clean: nothing in it but what is %s%s", options->file,
			 selecting_describe(&options->selecting, text, sizeof(text)),
			 audit->texts != NULL ? "" : ", by its form; --against REC compares texts");
	return audit->found_count != 0 ? COMMAND_FOUND : COMMAND_OK;
}

int audit_command(int argc, char **argv)
{
	struct options options = { .selecting.command = "audit" };
	struct audit audit = { .found = print_finding, .context = &options };
	struct audit_texts *texts = NULL;
	int status = COMMAND_BAD;

	if (read_options(&options, argc, argv)) {
		progress_begin("reading", 0);
		if (options.against_count != 0)
			texts = read_against(&options);
		progress_end();
		audit.selection = &options.selecting.selection;
		audit.texts = texts;
		audit.has_debug = options.has_debug;
		if ((texts != NULL || options.against_count == 0) && run(&audit, &options) == 0)
			status = conclude(&audit, &options);
	}
	audit_texts_free(texts);
	selecting_free(&options.selecting);
	return status;
}
