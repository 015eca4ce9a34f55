/* SPDX-License-Identifier: MIT */
/* reader_test.c - recordings and foreign profiles, whole, torn, damaged and hostile. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "preload/export/firefox.h"
#include "preload/export/folded.h"
#include "preload/export/speedscope.h"
#include "preload/read/reader.h"
#include "preload/read/totals.h"
#include "tests/unit/encode/recordings.h"
#include "tests/unit/encode/scratch.h"

#include <errno.h>
#include <sys/mman.h>

static struct built *small(void)
{
	struct built *built = calloc(1, sizeof(*built));

	build_small(built);
	assert_int_equal(built->out.error, 0);
	return built;
}

static struct recording *read_bytes(const void *bytes, size_t size, char **why)
{
	char *name = write_bytes(NULL, bytes, size);
	struct recording *recording = recording_read(name, why);

	unlink(name);
	free(name);
	return recording;
}

static void check_small(const struct recording *recording)
{
	const struct recording_sample *sample = &recording->samples[2];

	assert_true(recording->is_ours);
	assert_false(recording->is_torn);
	assert_true(recording->has_ended);
	assert_int_equal(recording->pid, 4242);
	assert_string_equal(recording->program, "python3");
	assert_string_equal(recording->clock_why, "perf_event: EPERM");
	assert_int_equal(recording->engine_count, 1);
	assert_string_equal(recording->engines[0], "wasmtime 50");
	assert_int_equal(recording->duration_ns, 2000000000);
	assert_int_equal(recording->period_ns, 10000000);
	assert_int_equal(recording->mapping_count, 3);
	assert_string_equal(recording->mappings[0].identity, SMALL_IDENTITY);
	assert_string_equal(recording->mappings[0].engine, "wasmtime 50");
	assert_true(recording->mappings[0].identity_is_wasm);
	assert_int_equal(recording->functions[1].wasm_index, 101);
	assert_int_equal(recording->sample_count, 6);
	assert_int_equal(sample->count, 60);
	assert_int_equal(sample->cpu_ns, 600000000);
	assert_int_equal(sample->state, STATE_HOST);
	assert_int_equal(sample->location_count, 3);
	assert_int_equal(sample->locations[0]->kind, FRAME_HOST);
	assert_string_equal(sample->locations[2]->lines[0].function->name, "_start");
	assert_string_equal(sample->instance, "app.wasm#2");
	assert_int_equal(sample->thread_id, 4244);
	assert_true(sample->is_truncated);
	assert_int_equal(recording->samples[1].locations[0]->line_count, 2);
	assert_string_equal(recording->samples[1].locations[0]->lines[0].function->name,
			    "math::helper");
	assert_int_equal(recording->group_count, 2);
	assert_int_equal(recording->groups[0].samples, 170);
	assert_int_equal(recording->groups[0].samples_by_state[STATE_WAITING], 10);
	assert_int_equal(recording_stat(recording, "lost_ring_full"), 5);
	assert_int_equal(recording_stat(recording, "no such counter"), 0);
}

static void reads_a_recording(void **state)
{
	struct built *built = small();
	char *why = NULL;
	struct recording *recording = read_bytes(built->out.bytes, built->out.size, &why);

	(void)state;
	assert_non_null(recording);
	check_small(recording);
	recording_free(recording);
	built_free(built);
}

/* gzip files may be concatenated as profiles may be (RFC 1952, 2.2). */
static void reads_gzip_members(void **state)
{
	struct built *built = small();
	size_t half = RECORDING_PAGE, sizes[2];
	uint8_t *parts[2] = { gzip_bytes(built->out.bytes, half, &sizes[0]),
			      gzip_bytes(built->out.bytes + half, built->out.size - half,
					 &sizes[1]) };
	uint8_t *all = malloc(sizes[0] + sizes[1]);
	struct recording *recording;
	char *why = NULL;

	(void)state;
	memcpy(all, parts[0], sizes[0]);
	memcpy(all + sizes[0], parts[1], sizes[1]);
	recording = read_bytes(all, sizes[0] + sizes[1], &why);
	assert_non_null(recording);
	check_small(recording);
	recording_free(recording);
	free(parts[0]);
	free(parts[1]);
	free(all);
	built_free(built);
}

static void reads_every_length(const uint8_t *bytes, size_t size, bool is_gzip)
{
	size_t samples = 0;

	for (size_t length = 0; length < size; length++) {
		char *why = NULL;
		struct recording *recording = read_bytes(bytes, length, &why);

		if (recording == NULL) {
			assert_non_null(why);
			assert_null(strchr(why, '\n'));
			free(why);
			continue;
		}
		assert_true(recording->sample_count >= samples);
		assert_true(is_gzip || recording->is_torn || recording->torn_at == length);
		samples = recording->sample_count;
		recording_free(recording);
	}
	assert_true(samples >= 5);
}

static void reads_what_a_kill_left(void **state)
{
	struct built *built = small();
	size_t size;
	uint8_t *gzip = gzip_bytes(built->out.bytes, built->out.size, &size);

	(void)state;
	reads_every_length(built->out.bytes, built->out.size, false);
	reads_every_length(gzip, size, true);
	free(gzip);
	built_free(built);
}

/* A small generator of our own: the same mutations on every machine. */
static uint32_t next_random(uint32_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 17;
	*seed ^= *seed << 5;
	return *seed;
}

static void mutate(uint8_t *bytes, size_t size, uint32_t *seed)
{
	static const uint8_t nasty[] = { 0, 1, 0x7f, 0x80, 0xff, 0x0a, 0x12, 0x08 };
	uint32_t count = 1 + next_random(seed) % 4;

	while (count-- > 0) {
		size_t at = next_random(seed) % size;
		uint32_t how;

		/* Most zeros are padding. */
		while (bytes[at] == 0 && next_random(seed) % 16 != 0)
			at = next_random(seed) % size;
		how = next_random(seed) % 4;
		if (how == 0)
			bytes[at] ^= (uint8_t)(1 << next_random(seed) % 8);
		else if (how == 1)
			bytes[at] = (uint8_t)next_random(seed);
		else if (how == 2)
			bytes[at] = nasty[next_random(seed) % sizeof(nasty)];
		else
			memmove(bytes + at, bytes + next_random(seed) % size % (at + 1),
				(size - at) % 16);
	}
}

/* Everything that reads a recording has to live with whatever the reader lets through. */
static void use(const struct recording *recording)
{
	struct totals *totals = totals_new();
	struct output *output = output_open("/dev/null", false);
	const struct speedscope_options shown = { .by_instance = true, .size_max = 1000 };
	uint64_t merged_ns;
	bool is_merged;

	assert_int_equal(totals_add(totals, recording), 0);
	assert_int_equal(totals_finish(totals), 0);
	totals_free(totals);
	assert_int_equal(folded_write(recording, true, false, output), 0);
	/* -ERANGE for times beyond all clocks */
	firefox_write(recording, FIREFOX_SIZE_MAX, output, &merged_ns);
	firefox_write(recording, 1000, output, &merged_ns);
	assert_int_equal(speedscope_write(recording, &shown, output, &is_merged), 0);
	output_close(output, true);
}

/* 100,000 take a minute with sanitizers: asked for by GUESTPROF_TEST_MUTATIONS. */
static int mutation_count(void)
{
	const char *asked = getenv("GUESTPROF_TEST_MUTATIONS");

	return asked != NULL ? atoi(asked) : 10000;
}

static void survives_mutations(void **state)
{
	struct built *built = small();
	size_t size = 2 * RECORDING_PAGE, used = 0, refused = 0;
	uint8_t *bytes = malloc(size);
	int fd = memfd_create("mutated", MFD_CLOEXEC);
	int count = mutation_count();
	uint32_t seed = 20261130;
	char name[64];

	(void)state;
	assert_int_equal(built->out.size, size);
	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	for (int i = 0; i < count; i++) {
		struct recording *recording;
		char *why = NULL;

		memcpy(bytes, built->out.bytes, size);
		mutate(bytes, size, &seed);
		assert_int_equal(pwrite(fd, bytes, size, 0), size);
		recording = recording_read(name, &why);
		used += recording != NULL;
		refused += recording == NULL;
		if (recording != NULL && i % 4 == 0)
			use(recording);
		if (recording == NULL)
			assert_non_null(strstr(why, "byte "));
		free(why);
		recording_free(recording);
	}
	assert_true(used > 500 && refused > 500);
	close(fd);
	free(bytes);
	built_free(built);
}

/* As others write them: strings last, ids out of order, fields not packed, another unit. */
static void build_foreign(struct pb_writer *out)
{
	static const char *const strings[] = { "",	    "cpu",	 "microseconds",
					       "main.work", "/bin/prog", "main.main" };
	size_t mark, line;

	mark = pb_begin(out, 2);
	pb_varint(out, 1, 900);
	pb_varint(out, 1, 7);
	pb_varint(out, 2, 2500);
	pb_end(out, mark);
	for (int i = 0; i < 2; i++) {
		mark = pb_begin(out, 4);
		pb_varint(out, 1, i == 0 ? 7 : 900);
		pb_varint(out, 2, 1);
		line = pb_begin(out, 4);
		pb_varint(out, 1, i == 0 ? 50 : 40);
		pb_end(out, line);
		pb_end(out, mark);
		mark = pb_begin(out, 5);
		pb_varint(out, 1, i == 0 ? 50 : 40);
		pb_varint(out, 2, i == 0 ? 5 : 3);
		pb_end(out, mark);
	}
	mark = pb_begin(out, 3);
	pb_varint(out, 1, 1);
	pb_varint(out, 5, 4);
	pb_end(out, mark);
	mark = pb_begin(out, 1);
	pb_varint(out, 1, 1);
	pb_varint(out, 2, 2);
	pb_end(out, mark);
	for (size_t i = 0; i < ARRAY_SIZE(strings); i++)
		pb_string(out, 6, strings[i]);
}

static void reads_foreign_profiles(void **state)
{
	struct pb_writer out = { 0 };
	struct recording *recording;
	char *why = NULL;

	(void)state;
	build_foreign(&out);
	recording = read_bytes(out.bytes, out.size, &why);
	assert_non_null(recording);
	assert_false(recording->is_ours);
	assert_int_equal(recording->sample_count, 1);
	assert_int_equal(recording->samples[0].count, 1);
	assert_int_equal(recording->samples[0].cpu_ns, 2500000);
	assert_int_equal(recording->samples[0].location_count, 2);
	assert_string_equal(recording->samples[0].locations[0]->lines[0].function->name,
			    "main.work");
	assert_string_equal(recording->samples[0].locations[1]->lines[0].function->name,
			    "main.main");
	assert_string_equal(recording->samples[0].locations[1]->mapping->name, "/bin/prog");
	assert_int_equal(recording->samples[0].locations[0]->kind, FRAME_HOST);
	recording_free(recording);
	pb_free(&out);
}

static void expect_refusal(const void *bytes, size_t size, const char *reason)
{
	char *why = NULL;

	assert_null(read_bytes(bytes, size, &why));
	assert_non_null(why);
	if (strstr(why, reason) == NULL)
		fail_msg("\"%s\" does not say \"%s\"", why, reason);
	free(why);
}

static void refuses_what_is_no_profile(void **state)
{
	struct built *built = calloc(1, sizeof(*built));
	uint64_t bad[] = { 77 };
	size_t before, mark;
	char where[64], *why = NULL;

	(void)state;
	expect_refusal("", 0, "the file is empty");
	expect_refusal("hello, world\n", 13, "not a pprof profile");
	expect_refusal("\x1f\x8b\x08\0\0\0\0\0\0\3garbage garbage", 25, "gzip");
	assert_null(recording_read("/no/such/file", &why));
	assert_string_equal(why, "/no/such/file: No such file or directory");
	free(why);
	assert_null(recording_read("/tmp", &why));
	assert_string_equal(why, "/tmp: Is a directory");
	free(why);
	built_begin(built);
	before = built->out.size;
	mark = pb_begin(&built->out, 2);
	pb_packed(&built->out, 1, bad, 1);
	pb_end(&built->out, mark);
	snprintf(where, sizeof(where), "byte %zu: a sample of location 77", before);
	expect_refusal(built->out.bytes, built->out.size, where);
	built_free(built);
}

/* A kill leaves `.pb`; what is made of it is what a normal end would have made. */
static void finishes_a_killed_recording(void **state)
{
	struct built *built = small();
	char *path = write_bytes("killed.pb", built->out.bytes, built->out.size - 1);
	char *final = NULL, *why = NULL, *begun = write_bytes("killed.pb.tmp", "half", 4);
	struct recording *recording;

	(void)state;
	assert_true(asprintf(&final, "%s.gz", path) > 0);
	unlink(final);
	assert_int_equal(recording_finish(path, NULL), 0);
	assert_int_equal(access(path, F_OK), -1);
	assert_int_equal(access(begun, F_OK), -1);
	free(begun);
	recording = recording_read(final, &why);
	assert_non_null(recording);
	assert_false(recording->is_torn);
	assert_int_equal(recording->sample_count, 6);
	recording_free(recording);
	/* A finished recording is never replaced, unless it was named. */
	free(write_bytes(path, built->out.bytes, built->out.size));
	assert_int_equal(recording_finish(path, NULL), -EEXIST);
	assert_int_equal(access(path, F_OK), 0);
	assert_int_equal(recording_finish(path, final), 0);
	assert_int_equal(access(path, F_OK), -1);
	unlink(final);
	free(final);
	free(path);
	built_free(built);
}

/* While it was written the group became part of (other): what carries its name is that's. */
static void follows_groups_that_were_merged(void **state)
{
	static const uint64_t states[STATE_COUNT] = { 30 };
	struct built built = { 0 };
	struct recording *recording;
	uint64_t module, identity, into, moved = 0;
	char *why = NULL;
	size_t mark;

	(void)state;
	build_small(&built);
	module = built_string(&built, "app.wasm");
	identity = built_string(&built, SMALL_IDENTITY);
	into = built_string(&built, "(other)");
	mark = pb_begin(&built.out, RECORDING_GROUP);
	pb_varint(&built.out, GROUP_MODULE, module);
	pb_varint(&built.out, GROUP_IDENTITY, identity);
	pb_varint(&built.out, GROUP_INTO, into);
	pb_end(&built.out, mark);
	built_group(&built, "(other)", "", 0, 30, 1, states);
	recording = read_bytes(built.out.bytes, built.out.size, &why);
	assert_non_null(recording);
	assert_int_equal(recording->group_count, 2);
	for (size_t i = 0; i < recording->group_count; i++)
		assert_string_not_equal(recording->groups[i].module, "app.wasm");
	for (size_t i = 0; i < recording->sample_count; i++) {
		const struct recording_sample *sample = &recording->samples[i];

		assert_string_not_equal(sample->module, "app.wasm");
		if (strcmp(sample->module, "(other)") == 0) {
			assert_string_equal(sample->instance, "");
			moved += sample->count;
		}
	}
	assert_in_range(moved, 100, UINT64_MAX);
	recording_free(recording);
	pb_free(&built.out);
}

/* A function of FILE that begins at LINE; its number. */
static size_t add_function(struct built *built, const char *file, uint64_t line)
{
	uint64_t name = built_string(built, "some"), place = built_string(built, file);
	size_t mark = pb_begin(&built->out, 5);

	pb_varint(&built->out, 1, ++built->functions);
	pb_varint(&built->out, 2, name);
	pb_varint(&built->out, 4, place);
	pb_varint(&built->out, 5, line);
	pb_end(&built->out, mark);
	return built->functions - 1;
}

/* The recorder puts the module's name where it knows no file. */
static void takes_a_modules_name_for_no_file(void **state)
{
	struct built built = { 0 };
	struct recording *recording;
	size_t none, file, lined;
	char *why = NULL;

	(void)state;
	build_small(&built);
	built_mapping(&built, "one.wasm", SMALL_IDENTITY);
	built_mapping(&built, "two.wasm", SMALL_IDENTITY);
	none = add_function(&built, "one.wasm", 0);
	file = add_function(&built, "three.c", 0);
	lined = add_function(&built, "two.wasm", 7);
	recording = read_bytes(built.out.bytes, built.out.size, &why);
	assert_non_null(recording);
	assert_string_equal(recording->functions[none].filename, "");
	assert_string_equal(recording->functions[file].filename, "three.c");
	assert_string_equal(recording->functions[lined].filename, "two.wasm");
	recording_free(recording);
	pb_free(&built.out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(takes_a_modules_name_for_no_file),
		cmocka_unit_test(reads_a_recording),
		cmocka_unit_test(reads_gzip_members),
		cmocka_unit_test(reads_what_a_kill_left),
		cmocka_unit_test(survives_mutations),
		cmocka_unit_test(reads_foreign_profiles),
		cmocka_unit_test(refuses_what_is_no_profile),
		cmocka_unit_test(finishes_a_killed_recording),
		cmocka_unit_test(follows_groups_that_were_merged),
	};

	return cmocka_run_group_tests(tests, scratch_enter, scratch_leave);
}
