/* SPDX-License-Identifier: MIT */
/* filter_apply.c - goes through a recording's samples, and keeps what is asked for. Threads: one at
 * a time. */
#include "preload/read/arena.h"
#include "preload/read/filter_private.h"
#include "preload/read/frames.h"
#include "preload/read/locations.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- views ----------------------------------------------------------------------------------- */

static const char *const view_names[] = {
	[FILTER_VIEW_GUEST] = "guest",
	[FILTER_VIEW_HOSTCALLS] = "hostcalls",
	[FILTER_VIEW_FULL] = "full",
};

static enum filter_view recorded_view(const char *stacks)
{
	if (strcmp(stacks, "guest") == 0)
		return FILTER_VIEW_GUEST;
	return strcmp(stacks, "hostcalls") == 0 ? FILTER_VIEW_HOSTCALLS : FILTER_VIEW_FULL;
}

static int check_view(const struct filter *filter, const struct recording *recording, char **why)
{
	if (filter->view <= FILTER_VIEW_GUEST || filter->view <= recorded_view(recording->stacks))
		return 0;
	if (asprintf(why,
		     "%s: it has %s stacks, which --view %s is wider than; guestprof record "
		     "--stacks %s records it",
		     recording->path, recording->stacks, view_names[filter->view],
		     view_names[filter->view]) < 0)
		*why = NULL;
	return -ENODATA;
}

/* What is left has no wider stacks than the view. */
static void narrow_stacks(const struct filter *filter, struct recording *recording)
{
	if (filter->view == FILTER_VIEW_ALL || recording->stacks[0] == '\0')
		return;
	for (size_t i = 0; i < recording->process_count; i++) {
		if (recorded_view(recording->processes[i].stacks) > filter->view)
			recording->processes[i].stacks = view_names[filter->view];
	}
	recording->stacks = view_names[filter->view];
}

/* ---- patterns -------------------------------------------------------------------------------- */

static void mark_name(const struct filter *filter, const char *name, uint32_t line_end,
		      struct filter_mark *mark, bool *failed)
{
	for (size_t i = 0; i < filter->include_count; i++) {
		if ((mark->included & (1u << i)) == 0 &&
		    filter_matches(&filter->include[i], name, failed))
			mark->included |= 1u << i;
	}
	for (size_t i = 0; !mark->is_excluded && i < filter->exclude_count; i++)
		mark->is_excluded = filter_matches(&filter->exclude[i], name, failed);
	if (filter->has_focus && filter_matches(&filter->focus, name, failed))
		mark->focus_lines = line_end;
}

static void mark_location(const struct filter *filter, const struct recording_location *location,
			  struct filter_mark *mark, bool *failed)
{
	char scratch[FRAMES_NAME_SIZE];
	struct frame frame = { .location = location };

	if (location->line_count == 0)
		mark_name(filter, frames_name(&frame, scratch), 1, mark, failed);
	/* from the innermost out, so that the outermost one in focus stays */
	for (size_t i = 0; i < location->line_count; i++) {
		frame.line = &location->lines[i];
		mark_name(filter, frames_name(&frame, scratch), (uint32_t)i + 1, mark, failed);
	}
}

/*
 * A location whose outer lines are out of focus is there a second time, without them: the table
 * gets longer, and FOCUSED[i] is that of location i. 0 or -ENOMEM.
 */
static int focus_locations(struct recording *recording, const struct filter_mark *marks,
			   size_t *focused)
{
	size_t count = recording->location_count, more = 0;
	int error;

	for (size_t i = 0; i < count; i++)
		more += marks[i].focus_lines != 0 &&
			marks[i].focus_lines < recording->locations[i].line_count;
	error = locations_reserve(recording, more);
	for (size_t i = 0; error == 0 && i < count; i++) {
		struct recording_location *list = recording->locations;

		focused[i] = i;
		if (marks[i].focus_lines == 0 || marks[i].focus_lines >= list[i].line_count)
			continue;
		focused[i] = recording->location_count;
		list[focused[i]] = list[i];
		list[focused[i]].id = ++recording->location_count;
		list[focused[i]].line_count = marks[i].focus_lines;
	}
	return error;
}

/* ---- samples --------------------------------------------------------------------------------- */

static bool has_frames(const struct filter *filter, const struct recording *recording,
		       const struct filter_mark *marks, const struct recording_sample *sample)
{
	uint32_t included = 0;

	for (size_t i = 0; i < sample->location_count; i++) {
		const struct filter_mark *mark =
			&marks[sample->locations[i] - recording->locations];

		included |= mark->included;
		if (mark->is_excluded)
			return false;
	}
	return included == (1u << filter->include_count) - 1;
}

/* The stack begins at the outermost frame in focus; false when none is. */
static bool cut_focus(struct recording *recording, const struct filter_mark *marks,
		      const size_t *focused, struct recording_sample *sample)
{
	for (size_t i = sample->location_count; i-- > 0;) {
		size_t index = (size_t)(sample->locations[i] - recording->locations);

		if (marks[index].focus_lines == 0)
			continue;
		sample->locations[i] = &recording->locations[focused[index]];
		sample->location_count = i + 1;
		return true;
	}
	return false;
}

/* 0 or -ENOMEM */
static int keep_samples(const struct filter *filter, struct recording *recording,
			const struct filter_mark *marks, const size_t *focused)
{
	bool failed = false;
	size_t count = 0;

	for (size_t i = 0; i < recording->sample_count; i++) {
		struct recording_sample *sample = &recording->samples[i];

		if (!filter_wants(filter, recording, sample, &failed) ||
		    !has_frames(filter, recording, marks, sample))
			continue;
		if (filter->has_focus && !cut_focus(recording, marks, focused, sample))
			continue;
		if (filter_view_cut(filter->view, sample))
			recording->samples[count++] = *sample;
	}
	recording->sample_count = count;
	return failed ? -ENOMEM : 0;
}

static int set_text(const struct filter *filter, struct recording *recording)
{
	const char *before = recording->filter;
	char *text = arena_alloc(recording->memory, strlen(before) + strlen(filter->text) + 2, 1);

	if (text == NULL)
		return -ENOMEM;
	sprintf(text, "%s%s%s", before, *before != '\0' ? " " : "", filter->text);
	recording->filter = text;
	return 0;
}

static int filter_samples(const struct filter *filter, struct recording *recording)
{
	size_t count = recording->location_count;
	struct filter_mark *marks = calloc(count + 1, sizeof(*marks));
	size_t *focused = calloc(count + 1, sizeof(*focused));
	int error = marks != NULL && focused != NULL ? 0 : -ENOMEM;
	bool failed = false;

	for (size_t i = 0; error == 0 && i < count; i++)
		mark_location(filter, &recording->locations[i], &marks[i], &failed);
	if (failed)
		error = -ENOMEM;
	if (error == 0 && filter->has_focus)
		error = focus_locations(recording, marks, focused);
	if (error == 0)
		error = keep_samples(filter, recording, marks, focused);
	free(marks);
	free(focused);
	return error;
}

int filter_apply(const struct filter *filter, struct recording *recording, char **why)
{
	struct filter_sums before;
	int error;

	*why = NULL;
	if (filter->text[0] == '\0')
		return 0;
	error = check_view(filter, recording, why);
	if (error != 0)
		return error;
	error = filter_sum(recording, &before);
	if (error == 0)
		error = filter_samples(filter, recording);
	if (error == 0)
		error = filter_settle(filter, recording, &before);
	if (error == 0)
		error = set_text(filter, recording);
	if (error == 0)
		narrow_stacks(filter, recording);
	free(before.list);
	return error;
}
