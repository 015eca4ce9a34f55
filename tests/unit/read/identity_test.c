/* SPDX-License-Identifier: MIT */
/* identity_test.c - what identifies a module, and the user's labels, on their way through a file.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "preload/encode/chunk.h"
#include "preload/read/reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FIRST_OWN STRING_FIXED_COUNT

/* Strings of the recording behind the fixed ones. */
enum { APP = FIRST_OWN, WASM, CODE, IMAGE, BUILD_ID, FILE_PATH, TENANT, ACME, BETA, OWN_COUNT };

static const char *const own_strings[] = { "app.wasm", "3f9a", "c0de",
					   "1a6e",     "feed", "/srv/acme/app.cwasm",
					   "tenant",   "acme", "beta" };
static uint8_t layout[] = { 0, 2, 1, 0, 0, 3, 0 };
static const uint64_t one_location[] = { 1 };
static const struct chunk_label acme[] = { { TENANT, ACME } }, beta[] = { { TENANT, BETA } };

/* Two samples of one place, for two tenants; a third without labels. */
static struct pb_writer encode(void)
{
	const char *strings[OWN_COUNT] = {
#define ROW(id, text) text,
		CHUNK_STRINGS(ROW)
#undef ROW
	};
	struct chunk_mapping mapping = { .id = 1,
					 .filename = APP,
					 .build_id = WASM,
					 .identity_is_wasm = true,
					 .code = CODE,
					 .image = IMAGE,
					 .build_id_section = BUILD_ID,
					 .path = FILE_PATH,
					 .code_offset = 0x1234,
					 .layout = layout,
					 .layout_size = sizeof(layout) };
	struct chunk_location location = { .id = 1, .mapping = 1, .address = 7 };
	struct chunk_sample samples[] = {
		{ .locations = one_location,
		  .location_count = 1,
		  .count = 1,
		  .module = APP,
		  .state = STRING_GUEST,
		  .labels = acme,
		  .label_count = 1 },
		{ .locations = one_location,
		  .location_count = 1,
		  .count = 2,
		  .module = APP,
		  .state = STRING_GUEST,
		  .labels = beta,
		  .label_count = 1 },
		{ .locations = one_location,
		  .location_count = 1,
		  .count = 4,
		  .module = APP,
		  .state = STRING_GUEST },
	};
	struct chunk_group group = {
		.module = APP, .identity = WASM, .samples = 1, .labels = acme, .label_count = 1
	};
	struct chunk chunk = { .strings = strings,
			       .string_count = OWN_COUNT,
			       .mappings = &mapping,
			       .mapping_count = 1,
			       .locations = &location,
			       .location_count = 1,
			       .samples = samples,
			       .sample_count = ARRAY_SIZE(samples),
			       .groups = &group,
			       .group_count = 1 };
	struct chunk_head head = { 1, 2 };
	struct pb_writer out = { 0 }, info = { 0 };

	memcpy(strings + FIRST_OWN, own_strings, sizeof(own_strings));
	chunk_encode_info(&info, 1, "host", &(struct writer_info){ .stacks = "guest" });
	chunk_encode(&out, &chunk, &info, &head);
	chunk_encode_end(&out, &info, NULL);
	pb_free(&info);
	return out;
}

static struct recording *read_back(const struct pb_writer *out)
{
	char name[] = "/tmp/guestprof-test-XXXXXX", *why = NULL;
	int fd = mkstemp(name);
	struct recording *recording;

	assert_int_equal(write(fd, out->bytes, out->size), out->size);
	close(fd);
	recording = recording_read(name, &why);
	unlink(name);
	if (recording == NULL)
		fail_msg("%s", why);
	return recording;
}

static void a_mapping_says_what_module_it_is(void **state)
{
	struct pb_writer out = encode();
	struct recording *recording = read_back(&out);
	const struct recording_mapping *mapping = &recording->mappings[0];

	(void)state;
	assert_int_equal(recording->mapping_count, 1);
	assert_string_equal(mapping->identity, "3f9a");
	assert_true(mapping->identity_is_wasm);
	assert_string_equal(mapping->code, "c0de");
	assert_string_equal(mapping->image, "1a6e");
	assert_string_equal(mapping->build_id_section, "feed");
	assert_string_equal(mapping->path, "/srv/acme/app.cwasm");
	assert_int_equal(mapping->code_offset, 0x1234);
	assert_int_equal(mapping->layout_size, sizeof(layout));
	assert_memory_equal(mapping->layout, layout, sizeof(layout));
	recording_free(recording);
	pb_free(&out);
}

static void check_label(const struct recording_label *labels, size_t count, const char *value)
{
	assert_int_equal(count, 1);
	assert_string_equal(labels[0].key, "tenant");
	assert_string_equal(labels[0].value, value);
}

static void labels_come_through(void **state)
{
	struct pb_writer out = encode();
	struct recording *recording = read_back(&out);

	(void)state;
	assert_int_equal(recording->sample_count, 3);
	check_label(recording->samples[0].labels, recording->samples[0].label_count, "acme");
	check_label(recording->samples[1].labels, recording->samples[1].label_count, "beta");
	assert_int_equal(recording->samples[2].label_count, 0);
	assert_string_equal(recording->samples[0].module, "app.wasm");
	assert_int_equal(recording->group_count, 1);
	check_label(recording->groups[0].labels, recording->groups[0].label_count, "acme");
	recording_free(recording);
	pb_free(&out);
}

/* Every byte of the file wrong in turn: an error, or something that can be read whole. */
static void survives_damage(void **state)
{
	struct pb_writer out = encode();

	(void)state;
	for (size_t i = 0; i < out.size && i < 1200; i++) {
		char name[] = "/tmp/guestprof-test-XXXXXX", *why = NULL;
		int fd = mkstemp(name);
		struct recording *recording;
		size_t sum = 0;

		out.bytes[i] ^= 0x15;
		assert_int_equal(write(fd, out.bytes, out.size), out.size);
		out.bytes[i] ^= 0x15;
		close(fd);
		recording = recording_read(name, &why);
		unlink(name);
		assert_true((recording == NULL) == (why != NULL));
		for (size_t j = 0; recording != NULL && j < recording->mapping_count; j++)
			for (size_t k = 0; k < recording->mappings[j].layout_size; k++)
				sum += recording->mappings[j].layout[k];
		for (size_t j = 0; recording != NULL && j < recording->sample_count; j++)
			for (size_t k = 0; k < recording->samples[j].label_count; k++)
				sum += strlen(recording->samples[j].labels[k].value);
		assert_true(sum < 100000);
		free(why);
		if (recording != NULL)
			recording_free(recording);
	}
	pb_free(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_mapping_says_what_module_it_is),
		cmocka_unit_test(labels_come_through),
		cmocka_unit_test(survives_damage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
