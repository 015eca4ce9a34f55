/* SPDX-License-Identifier: MIT */
/* filter_sample.c - whether one sample is asked for, and which of its frames. Threads: any. */
#include "preload/read/called.h"
#include "preload/read/filter_private.h"
#include "preload/read/totals.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static bool is_thread(const struct recording_sample *sample, const char *wanted)
{
	char number[32];

	snprintf(number, sizeof(number), "%" PRIu64, sample->thread_id);
	return called_name(sample->thread_name, wanted) ||
	       (sample->thread_id != 0 && strcmp(number, wanted) == 0);
}

/* Our own labels are asked for in the same way as the user's. NULL: SAMPLE has none. */
static const char *label_of(const struct recording_sample *sample, const char *key)
{
	const char *value = called_label(sample->labels, sample->label_count, key);

	if (value != NULL)
		return value;
	if (strcmp(key, "wasm_module") == 0)
		return sample->module[0] != '\0' ? sample->module : NULL;
	if (strcmp(key, "wasm_instance") == 0)
		return sample->instance[0] != '\0' ? sample->instance : NULL;
	if (strcmp(key, "thread_name") == 0)
		return sample->thread_name[0] != '\0' ? sample->thread_name : NULL;
	return strcmp(key, "wasm_state") == 0 ? chunk_state_name(sample->state) : NULL;
}

bool filter_matches(const regex_t *pattern, const char *text, bool *failed)
{
	int result = regexec(pattern, text, 0, NULL, 0);

	*failed |= result != 0 && result != REG_NOMATCH;
	return result == 0;
}

static bool has_label(const struct recording_sample *sample, const struct filter_label *label,
		      bool *failed)
{
	const char *value = label_of(sample, label->key);

	return value != NULL && (!label->has_value || filter_matches(&label->value, value, failed));
}

bool filter_wants(const struct filter *filter, const struct recording *recording,
		  const struct recording_sample *sample, bool *failed)
{
	if (filter->module != NULL &&
	    !called_module(totals_module(recording, sample), filter->module))
		return false;
	if (filter->instance != NULL &&
	    !called_instance(sample->instance, recording_process(recording, sample)->pid,
			     filter->instance))
		return false;
	if (filter->thread != NULL && !is_thread(sample, filter->thread))
		return false;
	if (filter->has_time &&
	    (sample->time_ns < filter->from_ns || sample->time_ns >= filter->to_ns))
		return false;
	for (size_t i = 0; i < filter->label_count; i++) {
		if (!has_label(sample, &filter->labels[i], failed))
			return false;
	}
	return true;
}

/* ---- frames ---------------------------------------------------------------------------------- */

/*
 * Of host frames in a row the one next to its caller, the guest, says which call it is; what the
 * thread waits for is the leaf. Below the outermost guest frame there are none.
 */
static bool is_in_view(enum filter_view view, const struct recording_sample *sample, size_t index,
		       size_t guest_end)
{
	enum frame_kind kind = sample->locations[index]->kind;

	if (kind == FRAME_TRAMPOLINE)
		return false;
	if (kind != FRAME_HOST)
		return true;
	if (view == FILTER_VIEW_GUEST || index >= guest_end)
		return false;
	return sample->locations[index + 1]->kind != FRAME_HOST ||
	       (index == 0 && sample->state == STATE_WAITING);
}

bool filter_view_cut(enum filter_view view, struct recording_sample *sample)
{
	size_t end = sample->location_count, count = 0;
	const struct recording_location *glue = NULL;

	if (view != FILTER_VIEW_GUEST && view != FILTER_VIEW_HOSTCALLS)
		return true;
	while (end > 0 && sample->locations[end - 1]->kind == FRAME_HOST)
		end--;
	for (size_t i = 0; i < sample->location_count; i++) {
		if (sample->locations[i]->kind == FRAME_TRAMPOLINE && glue == NULL)
			glue = sample->locations[i];
	}
	for (size_t i = 0; i < sample->location_count; i++) {
		if (is_in_view(view, sample, i, end))
			sample->locations[count++] = sample->locations[i];
	}
	/* The guest was being entered, or just left: glue is all there is. */
	if (count == 0 && glue != NULL)
		sample->locations[count++] = glue;
	sample->location_count = count;
	return count != 0;
}
