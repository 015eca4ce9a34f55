/* SPDX-License-Identifier: MIT */
/* symbolize_test.c - recordings of known modules gain names, lines and inlined callers from the
 * right file, and from no other. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "preload/cmd/command.h"
#include "preload/read/reader.h"
#include "symtab/symtab.h"
#include "tests/unit/cmd/capture.h"
#include "tests/unit/encode/recordings.h"
#include "tests/unit/encode/scratch.h"
#include "tests/unit/lines/fixture.h"

#include <sys/stat.h>
#include <zlib.h>

#define REC "rec.pb"
#define OUT "out.pb"

enum { RUN = 0, FILL = 1, CODE = 10 }; /* functions of inline.c; the section */

/* What ran. */
struct ran {
	const uint8_t *debug; /* embedded: NULL, or bytes */
	size_t debug_size, debug_inflated_size;
	const char *identity, *code;
	uint64_t code_offset;
	const char *names[2]; /* of the two functions */
	uint64_t shift;	      /* of its positions */
};

/* A location of function FUNCTION at ADDRESS of inline-4.wasm's code. */
struct spot {
	uint64_t address;
	int function;
};

static char wasm_path[PATH_MAX + 256];
static struct bytes wasm;
static size_t code_at;
static struct identity identity;

/* ---- recordings -------------------------------------------------------------------------------
 */

static uint64_t put_mapping(struct built *built, const struct ran *ran)
{
	uint64_t name = built_string(built, "app.wasm"), id = built_string(built, ran->identity);
	uint64_t code = built_string(built, ran->code);
	size_t mark = pb_begin(&built->out, 3);

	pb_varint(&built->out, 1, ++built->mappings);
	pb_varint(&built->out, 5, name);
	pb_varint(&built->out, 6, id);
	pb_varint(&built->out, MAPPING_IDENTITY_KIND, 1);
	pb_varint(&built->out, MAPPING_FUNCTION_COUNT, 2);
	pb_varint(&built->out, MAPPING_CODE, code);
	pb_varint(&built->out, MAPPING_CODE_OFFSET, ran->code_offset);
	if (ran->debug != NULL) {
		pb_bytes(&built->out, MAPPING_DEBUG, ran->debug, ran->debug_size);
		pb_varint(&built->out, MAPPING_DEBUG_SIZE, ran->debug_inflated_size);
	}
	pb_end(&built->out, mark);
	return built->mappings;
}

static void put_function(struct built *built, const char *name, uint64_t index)
{
	uint64_t text = built_string(built, name), file = built_string(built, "app.wasm");
	size_t mark = pb_begin(&built->out, 5);

	pb_varint(&built->out, 1, ++built->functions);
	pb_varint(&built->out, 2, text);
	pb_varint(&built->out, 3, text);
	pb_varint(&built->out, 4, file);
	pb_varint(&built->out, FUNCTION_WASM_INDEX, index + 1);
	pb_end(&built->out, mark);
}

/* As the library writes it: without a line. */
static uint64_t put_location(struct built *built, uint64_t mapping, uint64_t address,
			     uint64_t function)
{
	size_t mark = pb_begin(&built->out, 4), line;

	pb_varint(&built->out, 1, ++built->locations);
	pb_varint(&built->out, 2, mapping);
	pb_varint(&built->out, 3, address);
	line = pb_begin(&built->out, 4);
	pb_varint(&built->out, 1, function);
	pb_end(&built->out, line);
	pb_varint(&built->out, LOCATION_ADDRESS_IS_WASM, 1);
	pb_end(&built->out, mark);
	return built->locations;
}

/* One location and one sample for each of SPOTS, in order. */
static void write_recording(const struct ran *ran, const struct spot *spots, size_t count)
{
	struct built *built = calloc(1, sizeof(*built));
	uint64_t mapping;

	assert_non_null(built);
	built_begin(built);
	built_info(built, true);
	mapping = put_mapping(built, ran);
	put_function(built, ran->names[RUN], RUN);
	put_function(built, ran->names[FILL], FILL);
	for (size_t i = 0; i < count; i++) {
		struct built_sample sample = {
			.module = "app.wasm", .count = i + 1, .cpu_ns = 1000, .time_ns = i
		};

		sample.locations[0] =
			put_location(built, mapping, code_at + spots[i].address + ran->shift,
				     (uint64_t)spots[i].function + 1);
		built_add_sample(built, &sample);
	}
	built_stats(built, 7);
	free(write_bytes(REC, built->out.bytes, built->out.size));
	built_free(built);
}

static struct ran whole_file(void)
{
	return (struct ran){
		.identity = identity.wasm,
		.code = identity.code,
		.code_offset = identity.code_offset,
		.names = { "run", "fill" },
	};
}

static int run_command(struct capture *capture, int (*command)(int argc, char **argv),
		       const char *const *words)
{
	int count = 0;

	while (words[count] != NULL)
		count++;
	return capture_run(capture, command, count, (char **)words);
}

static int symbolize(struct capture *capture, const char *path)
{
	unlink(OUT);
	return run_command(capture, symbolize_command,
			   (const char *[]){ "symbolize", "--wasm", path, "-o", OUT, REC, NULL });
}

static struct recording *read_out(void)
{
	char *why = NULL;
	struct recording *recording = recording_read(OUT, &why);

	if (recording == NULL)
		fail_msg("%s", why);
	return recording;
}

/* Line INDEX of LOCATION, innermost first. */
static void expect_line(const struct recording_location *location, size_t index, const char *name,
			const char *file, int64_t line)
{
	assert_true(index < location->line_count);
	assert_string_equal(location->lines[index].function->name, name);
	assert_string_equal(location->lines[index].function->filename, file);
	assert_int_equal(location->lines[index].line, line);
}

static void expect_mix(const struct recording_location *location, const char *file)
{
	assert_int_equal(location->line_count, 3);
	expect_line(location, 0, "mix", file, 5);
	expect_line(location, 1, "twice", file, 13);
	expect_line(location, 2, "run", file, 38);
	assert_int_equal(location->lines[2].function->wasm_index, RUN);
	assert_int_equal(location->lines[0].function->wasm_index, UINT32_MAX);
	assert_int_equal(location->lines[0].function->start_line, 3);
}

/* ---- tests ------------------------------------------------------------------------------------
 */

static void adds_lines_and_keeps_the_rest(void **state)
{
	const struct spot spots[] = { { 0x48, RUN }, { 0x3, RUN }, { 0xd8, FILL } };
	const struct ran ran = whole_file();
	struct capture capture;
	struct recording *recording;

	(void)state;
	write_recording(&ran, spots, ARRAY_SIZE(spots));
	assert_int_equal(symbolize(&capture, wasm_path), COMMAND_OK);
	assert_non_null(
		strstr(capture.err, "is app.wasm (exact: the same bytes): lines for 3 of 3"));
	recording = read_out();
	assert_int_equal(recording->location_count, 3);
	expect_mix(&recording->locations[0], "/src/inline.c");
	expect_line(&recording->locations[1], 0, "run", "/src/inline.c", 33);
	assert_int_equal(recording->locations[2].line_count, 2);
	expect_line(&recording->locations[2], 0, "mix", "/src/inline.c", 7);
	expect_line(&recording->locations[2], 1, "fill", "/src/inline.c", 29);
	assert_int_equal(recording->locations[2].address, code_at + 0xd8);
	assert_true(recording->locations[2].address_is_wasm);
	assert_int_equal(recording->sample_count, 3);
	assert_int_equal(recording->samples[2].count, 3);
	assert_int_equal(recording->samples[2].cpu_ns, 1000);
	assert_string_equal(recording->samples[2].module, "app.wasm");
	assert_int_equal(recording->pid, 4242);
	assert_int_equal(recording_stat(recording, "lost_ring_full"), 7);
	assert_string_equal(recording->mappings[0].code, identity.code);
	recording_free(recording);
	capture_free(&capture);
}

/* Again, from what has lines already. */
static void is_the_same_a_second_time(void **state)
{
	const struct spot spots[] = { { 0x48, RUN } };
	const struct ran ran = whole_file();
	struct capture capture;
	struct recording *recording;

	(void)state;
	write_recording(&ran, spots, ARRAY_SIZE(spots));
	assert_int_equal(symbolize(&capture, wasm_path), COMMAND_OK);
	capture_free(&capture);
	assert_int_equal(rename(OUT, REC), 0);
	assert_int_equal(symbolize(&capture, wasm_path), COMMAND_OK);
	recording = read_out();
	expect_mix(&recording->locations[0], "/src/inline.c");
	recording_free(recording);
	capture_free(&capture);
}

/* What ran was stripped: other bytes, no names, the code elsewhere; but the same code. */
static void names_what_was_stripped(void **state)
{
	const struct spot spots[] = { { 0x48, RUN }, { 0xd8, FILL } };
	struct ran ran = whole_file();
	struct capture capture;
	struct recording *recording;

	(void)state;
	ran.identity = "0000000000000000000000000000000000000000000000000000000000000000";
	ran.names[RUN] = "app!wasm-function[0]";
	ran.names[FILL] = "app!wasm-function[1]";
	ran.shift = 3;
	ran.code_offset += 3;
	write_recording(&ran, spots, ARRAY_SIZE(spots));
	assert_int_equal(symbolize(&capture, wasm_path), COMMAND_OK);
	assert_non_null(strstr(capture.err, "exact: the same code section"));
	recording = read_out();
	expect_mix(&recording->locations[0], "/src/inline.c");
	expect_line(&recording->locations[1], 1, "fill", "/src/inline.c", 29);
	recording_free(recording);
	capture_free(&capture);
}

/* The engine inlined `fill` into `run`: the position is in fill's body, the code in run's. */
static void shows_what_the_engine_inlined(void **state)
{
	const struct spot spots[] = { { 0xd8, RUN } };
	const struct ran ran = whole_file();
	struct capture capture;
	struct recording *recording;

	(void)state;
	write_recording(&ran, spots, ARRAY_SIZE(spots));
	assert_int_equal(symbolize(&capture, wasm_path), COMMAND_OK);
	recording = read_out();
	assert_int_equal(recording->locations[0].line_count, 3);
	expect_line(&recording->locations[0], 0, "mix", "/src/inline.c", 7);
	expect_line(&recording->locations[0], 1, "fill", "/src/inline.c", 29);
	expect_line(&recording->locations[0], 2, "run", "", 0);
	recording_free(recording);
	capture_free(&capture);
}

static void expect_refusal(const char *path, const char *why)
{
	struct capture capture;

	assert_int_equal(symbolize(&capture, path), COMMAND_BAD);
	if (strstr(capture.err, why) == NULL)
		fail_msg("no \"%s\" in: %s", why, capture.err);
	assert_int_equal(access(OUT, F_OK), -1);
	capture_free(&capture);
}

static void refuses_other_files(void **state)
{
	const struct spot spots[] = { { 0x48, RUN } };
	struct ran ran = whole_file();

	(void)state;
	write_recording(&ran, spots, ARRAY_SIZE(spots));
	expect_refusal(scratch_root("tests/data/lines/shapes.wasm"),
		       "refused: it is not app.wasm that ran: ");
	expect_refusal(scratch_root("tests/data/lines/inline.c"), "not a wasm file");
	expect_refusal("/nowhere.wasm", "No such file");
	/* the same functions and names, and another code section */
	ran.identity = "0000000000000000000000000000000000000000000000000000000000000000";
	ran.code = "1111111111111111111111111111111111111111111111111111111111111111";
	write_recording(&ran, spots, ARRAY_SIZE(spots));
	expect_refusal(wasm_path, "code section");
}

static void looks_into_folders(void **state)
{
	const struct spot spots[] = { { 0x48, RUN } };
	const struct ran ran = whole_file();
	struct capture capture;
	struct recording *recording;

	(void)state;
	write_recording(&ran, spots, ARRAY_SIZE(spots));
	assert_int_equal(symbolize(&capture, scratch_root("tests/data")), COMMAND_OK);
	assert_non_null(strstr(capture.err, "inline-4.wasm is app.wasm (exact"));
	assert_null(strstr(capture.err, "refused"));
	recording = read_out();
	expect_mix(&recording->locations[0], "/src/inline.c");
	recording_free(recording);
	capture_free(&capture);
	expect_refusal("/proc/self/task", "no *.wasm in it");
}

static void maps_sources(void **state)
{
	const struct spot spots[] = { { 0x48, RUN } };
	const struct ran ran = whole_file();
	const char *words[] = { "symbolize",   "--wasm",
				wasm_path,     "--source-map",
				"/sr=never",   "--source-map",
				"/src=./here", "-o",
				OUT,	       REC,
				NULL };
	struct capture capture;
	struct recording *recording;

	(void)state;
	write_recording(&ran, spots, ARRAY_SIZE(spots));
	assert_int_equal(run_command(&capture, symbolize_command, words), COMMAND_OK);
	recording = read_out();
	expect_mix(&recording->locations[0], "./here/inline.c");
	recording_free(recording);
	capture_free(&capture);
	words[4] = "/src";
	assert_int_equal(run_command(&capture, symbolize_command, words), COMMAND_BAD);
	assert_non_null(strstr(capture.err, "FROM=TO"));
	capture_free(&capture);
}

/* Writes the module with the debug section NAME overwritten, and CUSTOM sections at its end. */
static void write_damaged(const char *path, const char *name, const struct bytes *custom)
{
	struct bytes file = { 0 };
	size_t size, at;

	bytes_add(&file, wasm.bytes, wasm.size);
	at = fixture_section(&file, 0, name, &size);
	memset(file.bytes + at, 0xff, size);
	if (custom != NULL)
		bytes_add(&file, custom->bytes, custom->size);
	free(write_bytes(path, file.bytes, file.size));
	free(file.bytes);
}

static size_t count_lines(const char *text, const char *part)
{
	size_t count = 0;

	for (; (text = strstr(text, part)) != NULL; text++)
		count++;
	return count;
}

static void damage_leaves_names_and_one_warning(void **state)
{
	const struct spot spots[] = { { 0x48, RUN }, { 0x20, RUN }, { 0xd8, FILL } };
	struct ran ran = whole_file();
	struct capture capture;
	struct recording *recording;

	(void)state;
	ran.names[RUN] = "app!wasm-function[0]";
	write_recording(&ran, spots, ARRAY_SIZE(spots));
	write_damaged("bad.wasm", ".debug_info", NULL);
	assert_int_equal(symbolize(&capture, "bad.wasm"), COMMAND_OK);
	assert_int_equal(count_lines(capture.err, "damaged"), 1);
	assert_non_null(strstr(capture.err, "no lines for 3 positions"));
	recording = read_out();
	expect_line(&recording->locations[0], 0, "run", "", 0);
	assert_int_equal(recording->locations[0].line_count, 1);
	recording_free(recording);
	capture_free(&capture);
}

/* A file says where its debug information is: a FIFO would hold whoever opens it. */
static void references_are_told_and_not_followed(void **state)
{
	static const uint8_t preamble[] = { 0, 'a', 's', 'm', 1, 0, 0, 0 };
	const struct spot spots[] = { { 0x48, RUN } };
	const struct ran ran = whole_file();
	struct bytes file = { 0 };
	struct capture capture;
	size_t size, end;

	(void)state;
	write_recording(&ran, spots, ARRAY_SIZE(spots));
	assert_int_equal(mkfifo("fifo", 0600), 0);
	end = fixture_section(&wasm, CODE, NULL, &size);
	bytes_add(&file, preamble, sizeof(preamble));
	bytes_add(&file, wasm.bytes + sizeof(preamble), end + size - sizeof(preamble));
	bytes_custom(&file, "external_debug_info", "\4fifo", 5);
	free(write_bytes("stripped.wasm", file.bytes, file.size));
	free(file.bytes);
	assert_int_equal(symbolize(&capture, "stripped.wasm"), COMMAND_OK);
	assert_non_null(strstr(capture.err, "is in fifo, says the file; it is not opened"));
	capture_free(&capture);
	/* two files: the names of one, the lines of the other */
	assert_int_equal(run_command(&capture, symbolize_command,
				     (const char *[]){ "symbolize", "--wasm", "stripped.wasm",
						       "--wasm", wasm_path, "-o", OUT, REC, NULL }),
			 COMMAND_OK);
	assert_non_null(strstr(capture.err, "lines for 1 of 1"));
	capture_free(&capture);
	unlink("fifo");
}

static void reports_and_exports_take_files_too(void **state)
{
	const struct spot spots[] = { { 0x48, RUN }, { 0xd8, FILL } };
	const struct ran ran = whole_file();
	struct capture capture;

	(void)state;
	write_recording(&ran, spots, ARRAY_SIZE(spots));
	assert_int_equal(run_command(&capture, report_command,
				     (const char *[]){ "report", "--lines", "--wasm", wasm_path,
						       REC, NULL }),
			 COMMAND_OK);
	assert_non_null(strstr(capture.out, "inline.c:5\n"));
	assert_non_null(strstr(capture.out, "inline.c:7\n"));
	assert_non_null(strstr(capture.out, "inline.c:38\n"));
	capture_free(&capture);
	assert_int_equal(run_command(&capture, export_command,
				     (const char *[]){ "export", "--to", "folded", "--wasm",
						       wasm_path, "-o", "-", REC, NULL }),
			 COMMAND_OK);
	assert_string_equal(capture.out, "app.wasm;run;twice;mix 1\napp.wasm;fill;mix 2\n");
	capture_free(&capture);
	assert_int_equal(
		run_command(&capture, export_command,
			    (const char *[]){ "export", "--to", "firefox", "--wasm", wasm_path,
					      "-o", "profile.json", REC, NULL }),
		COMMAND_OK);
	capture_free(&capture);
	assert_int_equal(system("grep -q '\"/src/inline.c\"' profile.json && "
				"grep -q '\"inlineDepth\":\\[0,1,2,0,1\\]' profile.json"),
			 0);
}

/* ---- embedded ---------------------------------------------------------------------------------
 */

static void deflate_whole(struct ran *ran, uint8_t **deflated)
{
	uLongf size = compressBound(wasm.size);

	*deflated = malloc(size);
	assert_non_null(*deflated);
	assert_int_equal(compress(*deflated, &size, wasm.bytes, wasm.size), Z_OK);
	ran->debug = *deflated;
	ran->debug_size = size;
	ran->debug_inflated_size = wasm.size;
}

static int folded(struct capture *capture)
{
	return run_command(capture, export_command,
			   (const char *[]){ "export", "--to", "folded", "-o", "-", REC, NULL });
}

static void embedded_information_is_used_by_itself(void **state)
{
	const struct spot spots[] = { { 0x48, RUN }, { 0xd8, FILL } };
	struct ran ran = whole_file();
	struct recording *recording;
	struct capture capture;
	uint8_t *deflated;

	(void)state;
	deflate_whole(&ran, &deflated);
	write_recording(&ran, spots, ARRAY_SIZE(spots));
	assert_int_equal(folded(&capture), COMMAND_OK);
	assert_string_equal(capture.out, "app.wasm;run;twice;mix 1\napp.wasm;fill;mix 2\n");
	assert_null(strstr(capture.err, "lines"));
	capture_free(&capture);
	unlink(OUT);
	assert_int_equal(run_command(&capture, symbolize_command,
				     (const char *[]){ "symbolize", "--source-map", "/src=./here",
						       "-o", OUT, REC, NULL }),
			 COMMAND_OK);
	recording = read_out();
	expect_mix(&recording->locations[0], "./here/inline.c");
	assert_int_equal(recording->mappings[0].debug_size, ran.debug_size);
	recording_free(recording);
	capture_free(&capture);
	/* and what was written so stays so */
	assert_int_equal(rename(OUT, REC), 0);
	assert_int_equal(run_command(&capture, report_command,
				     (const char *[]){ "report", "--json", REC, NULL }),
			 COMMAND_OK);
	assert_non_null(strstr(capture.out, "\"./here/inline.c\""));
	assert_null(strstr(capture.out, "\"/src/inline.c\""));
	capture_free(&capture);
	free(deflated);
}

static void damaged_embedding_costs_the_lines_only(void **state)
{
	const struct spot spots[] = { { 0x48, RUN } };
	const size_t lies[] = { 0, 1, wasm.size - 1, wasm.size + 1, (size_t)1 << 30, SIZE_MAX };
	struct ran ran = whole_file();
	struct capture capture;
	uint8_t *deflated;

	(void)state;
	deflate_whole(&ran, &deflated);
	for (size_t i = 0; i < ARRAY_SIZE(lies) + 1; i++) {
		if (i < ARRAY_SIZE(lies))
			ran.debug_inflated_size = lies[i];
		else
			deflated[20] ^= 0x55;
		write_recording(&ran, spots, ARRAY_SIZE(spots));
		assert_int_equal(folded(&capture), COMMAND_OK);
		assert_string_equal(capture.out, "app.wasm;run 1\n");
		assert_int_equal(count_lines(capture.err, "names without lines"), 1);
		capture_free(&capture);
		ran.debug_inflated_size = wasm.size;
	}
	free(deflated);
}

static int enter(void **state)
{
	struct wasmbin *bin;
	size_t size;

	if (scratch_enter(state) != 0)
		return -1;
	snprintf(wasm_path, sizeof(wasm_path), "%s",
		 scratch_root("tests/data/lines/inline-4.wasm"));
	if (chdir(scratch_before) != 0)
		return -1;
	wasm = fixture_read("inline-4.wasm");
	code_at = fixture_section(&wasm, CODE, NULL, &size);
	bin = wasmbin_parse_bodies(wasm.bytes, wasm.size);
	wasmbin_identity(bin, &identity);
	wasmbin_unref(bin);
	return chdir(scratch_directory);
}

static int leave(void **state)
{
	free(wasm.bytes);
	return scratch_leave(state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(adds_lines_and_keeps_the_rest),
		cmocka_unit_test(is_the_same_a_second_time),
		cmocka_unit_test(names_what_was_stripped),
		cmocka_unit_test(shows_what_the_engine_inlined),
		cmocka_unit_test(refuses_other_files),
		cmocka_unit_test(looks_into_folders),
		cmocka_unit_test(maps_sources),
		cmocka_unit_test(damage_leaves_names_and_one_warning),
		cmocka_unit_test(references_are_told_and_not_followed),
		cmocka_unit_test(reports_and_exports_take_files_too),
		cmocka_unit_test(embedded_information_is_used_by_itself),
		cmocka_unit_test(damaged_embedding_costs_the_lines_only),
	};

	return cmocka_run_group_tests(tests, enter, leave);
}
