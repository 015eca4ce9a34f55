/* SPDX-License-Identifier: MIT */
/* push.c - splits a profile where it is too large, and wraps it. Threads: one at a time. */
#include "preload/export/push.h"

#include "preload/export/inmemory.h"
#include "preload/export/json.h"
#include "preload/export/pprof.h"

#include <errno.h>
#include <stdlib.h>

struct push {
	const struct push_options *options;
	push_send *send;
	void *context;
	const struct recording *merged;
	bool has_left_out;
};

const char *push_path(enum push_api api)
{
	return api == PUSH_PARCA ? "/api/profiles/writeraw" : "/push.v1.PusherService/Push";
}

/* ---- bodies ---------------------------------------------------------------------------------- */

/* RFC 4648, 4. */
static void put_base64(struct output *output, const uint8_t *bytes, size_t size)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	for (size_t i = 0; i < size; i += 3) {
		size_t left = size - i;
		uint32_t bits = (uint32_t)bytes[i] << 16;
		char text[4];

		bits |= left > 1 ? (uint32_t)bytes[i + 1] << 8 : 0;
		bits |= left > 2 ? bytes[i + 2] : 0;
		for (int digit = 0; digit < 4; digit++)
			text[digit] = digits[bits >> (18 - 6 * digit) & 63];
		text[2] = left > 1 ? text[2] : '=';
		text[3] = left > 2 ? text[3] : '=';
		output_bytes(output, text, sizeof(text));
	}
}

static void put_label(struct json *json, const char *name, const char *value)
{
	json_begin_object(json, NULL);
	json_text(json, "name", name);
	json_text(json, "value", value);
	json_end_object(json);
}

static void put_labels(struct json *json, const struct push_options *options)
{
	if (options->api == PUSH_PARCA)
		json_begin_object(json, "labels");
	json_begin_array(json, "labels");
	put_label(json, "__name__", "process_cpu");
	put_label(json, "service_name", options->service);
	for (size_t i = 0; i < options->label_count; i++)
		put_label(json, options->labels[i].key, options->labels[i].value);
	json_end_array(json);
	if (options->api == PUSH_PARCA)
		json_end_object(json);
}

static void put_body(struct output *output, const struct push_options *options,
		     const uint8_t *profile, size_t size)
{
	struct json json = { .output = output };

	json_begin_object(&json, NULL);
	json_begin_array(&json, "series");
	json_begin_object(&json, NULL);
	put_labels(&json, options);
	json_begin_array(&json, "samples");
	json_begin_object(&json, NULL);
	json_raw(&json, "rawProfile", "\"");
	put_base64(output, profile, size);
	output_text(output, "\"");
	json_end_object(&json);
	json_end_array(&json);
	json_end_object(&json);
	json_end_array(&json);
	if (options->api == PUSH_PARCA)
		json_bool(&json, "normalized", true);
	json_end_object(&json);
}

/* ---- profiles -------------------------------------------------------------------------------- */

/* RECORDING as pprof in memory (caller frees *BYTES). */
static int make_profile(const struct recording *recording, const struct pprof_options *options,
			bool compress, uint8_t **bytes, size_t *size)
{
	struct inmemory memory;
	int error = inmemory_open(&memory, compress), end_error;

	*bytes = NULL;
	if (error != 0)
		return error;
	error = pprof_write(recording, options, memory.output);
	end_error = inmemory_close(&memory, error == 0, bytes, size);
	return error != 0 ? error : end_error;
}

/* As many series as there are: how many there may be was decided when it was merged. */
static struct pprof_options part_options(const struct push *push)
{
	return (struct pprof_options){ .by_instance = push->options->by_instance,
				       .group_max = SIZE_MAX };
}

static int send_part(struct push *push, const struct recording *part)
{
	const struct pprof_options options = part_options(push);
	struct inmemory memory;
	uint8_t *profile, *body = NULL;
	size_t profile_size, size = 0;
	int error = make_profile(part, &options, true, &profile, &profile_size);

	if (error == 0)
		error = inmemory_open(&memory, false);
	if (error == 0) {
		put_body(memory.output, push->options, profile, profile_size);
		error = inmemory_close(&memory, true, &body, &size);
	}
	free(profile);
	return error == 0 ? push->send(push->context, body, size, part->sample_count) : error;
}

/* Does PART fit? Its size is what the server inflates it to. */
static int fits(const struct push *push, const struct recording *part, bool *does_fit)
{
	const struct pprof_options options = part_options(push);
	uint8_t *bytes;
	size_t size;
	int error;

	*does_fit = false;
	if (part->sample_count > PUSH_SAMPLES_MAX)
		return 0;
	error = make_profile(part, &options, false, &bytes, &size);
	free(bytes);
	*does_fit = error == 0 && size <= PUSH_SIZE_MAX;
	return error;
}

/* The samples from FIRST on, COUNT of them; halved until they fit, so it goes at most 32 deep. */
static int push_range(struct push *push, size_t first, size_t count)
{
	struct recording part = *push->merged;
	bool does_fit;
	int error;

	part.samples = push->merged->samples + first;
	part.sample_count = count;
	error = fits(push, &part, &does_fit);
	if (error != 0)
		return error;
	if (does_fit)
		return send_part(push, &part);
	if (count <= 1) {
		push->has_left_out = true;
		return 0;
	}
	error = push_range(push, first, count / 2);
	return error != 0 ? error : push_range(push, first + count / 2, count - count / 2);
}

int push_make(const struct recording *recording, const struct push_options *options,
	      push_send *send, void *context)
{
	const struct pprof_options merging = { .by_instance = options->by_instance };
	struct push push = { .options = options, .send = send, .context = context };
	struct recording *merged = NULL;
	uint8_t *bytes;
	size_t size;
	char *why = NULL;
	int error = make_profile(recording, &merging, false, &bytes, &size);

	/* Read again, so that equal stacks are one sample before anything is counted. */
	if (error == 0) {
		merged = recording_parse(recording->path, bytes, size, &why);
		error = merged != NULL ? 0 : -ENOMEM;
	}
	free(bytes);
	free(why);
	push.merged = merged;
	if (error == 0 && merged->sample_count != 0)
		error = push_range(&push, 0, merged->sample_count);
	recording_free(merged);
	return error == 0 && push.has_left_out ? -E2BIG : error;
}
