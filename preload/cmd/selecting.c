/* SPDX-License-Identifier: MIT */
/* selecting.c - `--label`, `--module`, `--instance` and `--keep-label`. Threads: any. */
#include "preload/cmd/selecting.h"

#include "preload/cmd/say.h"
#include "preload/read/names.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHOICES_MAX = 8 };

static bool take_label(struct selecting *selecting, const char *argument)
{
	int error = selection_set_label(&selecting->selection, argument);

	if (error == -EINVAL)
		say_line("%s: --label takes KEY=VALUE, not %s", selecting->command, argument);
	else if (error != 0)
		say_line("%s: %s", selecting->command, strerror(-error));
	return error == 0;
}

static bool take_kept(struct selecting *selecting, const char *argument)
{
	struct selection *selection = &selecting->selection;

	if (selection->kept_count == SELECTION_KEPT_MAX) {
		say_line("%s: at most %d --keep-label", selecting->command, SELECTION_KEPT_MAX);
		return false;
	}
	selection->kept[selection->kept_count++] = argument;
	return true;
}

bool selecting_option(struct selecting *selecting, int option, const char *argument)
{
	struct selection *selection = &selecting->selection;

	if (option == SELECTING_KEEP)
		return take_kept(selecting, argument);
	if (option != SELECTING_LABEL && option != SELECTING_MODULE && option != SELECTING_INSTANCE)
		return false; /* getopt_long() said so */
	if (selection->by != SELECTION_NONE) {
		say_line("%s: one of --label, --module and --instance, once", selecting->command);
		return false;
	}
	if (option == SELECTING_LABEL)
		return take_label(selecting, argument);
	selection->by = option == SELECTING_MODULE ? SELECTION_MODULE : SELECTION_INSTANCE;
	selection->value = argument;
	return true;
}

bool selecting_check(const struct selecting *selecting)
{
	if (selecting->selection.by == SELECTION_NONE)
		say_line("%s: --label KEY=VALUE, --module NAME or --instance NAME says whose file "
			 "it "
			 "is",
			 selecting->command);
	return selecting->selection.by != SELECTION_NONE;
}

void selecting_free(struct selecting *selecting)
{
	selection_free(&selecting->selection);
}

const char *selecting_describe(const struct selecting *selecting, char *text, size_t size)
{
	const struct selection *selection = &selecting->selection;

	if (selection->by == SELECTION_LABEL)
		snprintf(text, size, "labelled %s=%s", selection->key, selection->value);
	else
		snprintf(text, size, "of %s %s",
			 selection->by == SELECTION_MODULE ? "module" : "instance",
			 selection->value);
	return text;
}

static void add_choice(struct names *choices, const struct selection *selection,
		       const struct recording_sample *sample)
{
	const char *value = NULL;
	char *text = NULL;

	if (selection->by == SELECTION_MODULE)
		value = sample->module;
	else if (selection->by == SELECTION_INSTANCE)
		value = sample->instance;
	if (value != NULL && value[0] != '\0')
		names_id(choices, value);
	for (size_t i = 0; selection->by == SELECTION_LABEL && i < sample->label_count; i++) {
		if (asprintf(&text, "%s=%s", sample->labels[i].key, sample->labels[i].value) < 0)
			return;
		names_id(choices, text);
		free(text);
	}
}

void selecting_say_choices(const struct selecting *selecting, const struct recording *recording)
{
	struct names choices = { 0 };
	char line[1024] = "";
	size_t used = 0;

	for (size_t i = 0; i < recording->sample_count && choices.count <= CHOICES_MAX; i++)
		add_choice(&choices, &selecting->selection, &recording->samples[i]);
	for (uint32_t i = 0; i < choices.count && i < CHOICES_MAX; i++) {
		snprintf(line + used, sizeof(line) - used, "%s%.100s", i == 0 ? "" : ", ",
			 choices.texts[i]);
		used = strlen(line);
	}
	say_line("%s: there is %s%s", selecting->command, used == 0 ? "none" : line,
		 choices.count > CHOICES_MAX ? ", and more" : "");
	names_free(&choices);
}
