/* SPDX-License-Identifier: MIT */
/* audit_test.c - what is found in a shared file that should not be there, and that nothing else is.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "preload/export/firefox.h"
#include "preload/export/html.h"
#include "preload/read/source.h"
#include "preload/share/audit.h"
#include "preload/share/audit_texts.h"
#include "tests/unit/encode/tenants.h"

#include <errno.h>

static const struct shared_options with_time = { .has_time = true };

struct findings {
	struct audit audit;
	struct selection selection;
	char text[8192];
};

static void note(void *context, const char *where, const char *what)
{
	struct findings *findings = context;
	size_t used = strlen(findings->text);

	snprintf(findings->text + used, sizeof(findings->text) - used, "%s: %s\n", where, what);
}

/* What audit_bytes() says of BYTES; what it found is in FINDINGS->text. */
static int look(struct findings *findings, const struct audit_texts *texts, const void *bytes,
		size_t size)
{
	int error;

	*findings = (struct findings){ 0 };
	tenant_selection(&findings->selection);
	findings->audit = (struct audit){
		.selection = &findings->selection,
		.texts = texts,
		.found = note,
		.context = findings,
	};
	error = audit_bytes(&findings->audit, bytes, size);
	selection_free(&findings->selection);
	return error;
}

static void expect_found(const void *bytes, size_t size, const char *what)
{
	struct findings findings;

	assert_int_equal(look(&findings, NULL, bytes, size), 0);
	if (strstr(findings.text, what) == NULL)
		fail_msg("not \"%s\" in: %s", what, findings.text);
	assert_true(findings.audit.found_count != 0);
}

static void expect_clean(const struct audit_texts *texts, const void *bytes, size_t size)
{
	struct findings findings;

	assert_int_equal(look(&findings, texts, bytes, size), 0);
	assert_string_equal(findings.text, "");
	assert_int_equal(findings.audit.found_count, 0);
}

/* ---- profiles -------------------------------------------------------------------------------- */

static void a_shared_file_is_clean(void **state)
{
	struct pb_writer bytes = share_with_acme(&busy_host, &with_time);
	struct pb_writer timeless = share_with_acme(&busy_host, &(struct shared_options){ 0 });
	size_t size;
	uint8_t *packed = gzip_bytes(bytes.bytes, bytes.size, &size);

	(void)state;
	expect_clean(NULL, bytes.bytes, bytes.size);
	expect_clean(NULL, timeless.bytes, timeless.size);
	expect_clean(NULL, packed, size);
	free(packed);
	pb_free(&timeless);
	pb_free(&bytes);
}

static void a_recording_is_not(void **state)
{
	struct built *built = calloc(1, sizeof(*built));

	(void)state;
	build_tenants(built, &busy_host);
	expect_found(built->out.bytes, built->out.size, "info: field 2: not on the list");
	expect_found(built->out.bytes, built->out.size, "mapping 1: field 2: not on the list");
	expect_found(built->out.bytes, built->out.size, "sample 1: not labelled tenant=acme");
	expect_found(built->out.bytes, built->out.size, "host code by name: \"crm::lookup\"");
	built_free(built);
}

/* Fields that are added behind a clean file. */
static void added_fields_are_found(void **state)
{
	static const struct {
		uint32_t field;
		const char *text, *what;
	} rows[] = {
		{ 6, "rival", "not used: \"rival\"" },
		{ 13, "comment", "field 13: not on the list" },
		{ 1004, "x", "field 1004: not on the list" },
		{ 2000, "x", "field 2000: not on the list" },
		{ 3, "", "of no sample" },
		{ 4, "", "location 6: not used" },
		{ 5, "", "function 6: not used" },
		{ 1001, "", "info: there twice" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct pb_writer bytes = share_with_acme(&busy_host, &with_time);

		pb_string(&bytes, rows[i].field, rows[i].text);
		expect_found(bytes.bytes, bytes.size, rows[i].what);
		pb_free(&bytes);
	}
}

static void a_torn_tail_is_found(void **state)
{
	struct pb_writer bytes = share_with_acme(&busy_host, &with_time);

	(void)state;
	expect_found(bytes.bytes, bytes.size - 1, "bytes behind the last whole field");
	pb_free(&bytes);
}

/* No byte can be changed without the walk ending well, whatever it says. */
static void damage_is_survived(void **state)
{
	struct pb_writer bytes = share_with_acme(&busy_host, &with_time);
	struct findings findings;

	(void)state;
	for (size_t i = 0; i < bytes.size; i++) {
		uint8_t before = bytes.bytes[i];

		for (unsigned flip = 1; flip < 256; flip <<= 1) {
			int error;

			bytes.bytes[i] = before ^ (uint8_t)flip;
			error = look(&findings, NULL, bytes.bytes, bytes.size);
			assert_true(error == 0 || error == -EBADMSG);
		}
		bytes.bytes[i] = before;
	}
	pb_free(&bytes);
}

/* ---- gzip ------------------------------------------------------------------------------------ */

static void gzip_headers_are_looked_at(void **state)
{
	static const char name[] = "host-17";
	struct pb_writer bytes = share_with_acme(&busy_host, &with_time);
	size_t size;
	uint8_t *packed = gzip_bytes(bytes.bytes, bytes.size, &size);
	uint8_t *named = malloc(size + sizeof(name));
	struct findings findings;

	(void)state;
	memcpy(named, packed, 10);
	memcpy(named + 10, name, sizeof(name));
	memcpy(named + 10 + sizeof(name), packed + 10, size - 10);
	named[3] = 8; /* FNAME */
	expect_found(named, size + sizeof(name), "gzip header: the name of a file");
	packed[4] = 1; /* MTIME */
	expect_found(packed, size, "gzip header: a time");
	packed[4] = 0;
	memcpy(named, packed, size);
	memcpy(named + size, name, sizeof(name));
	expect_found(named, size + sizeof(name), "gzip: 8 bytes behind the end");
	assert_int_equal(look(&findings, NULL, packed, size - 9), -EBADMSG);
	assert_string_equal(findings.audit.why, "a damaged gzip file");
	free(named);
	free(packed);
	pb_free(&bytes);
}

/* ---- exports --------------------------------------------------------------------------------- */

static void json_is_walked(void **state)
{
	static const char *const rows[][2] = {
		{ "{\"a\": [{\"pid\": 17}]}", "a[0].pid: a fact of the process: \"17\"" },
		{ "{\"pid\": \"4242.1\"}", "pid: a fact of the process" },
		{ "{\"meta\": {\"product\": \"nginx\"}}", "meta.product: a fact of the process" },
		{ "{\"meta\": {\"startTime\": 1764525600000.5}}", "meta.startTime: a fact" },
		{ "[{\"label\": \"Clock\", \"value\": \"cpu timer\"}]", "[0].value: a fact" },
		{ "{\"counters\": {\"signals\": 0}}", "a counter of the whole process" },
		{ "{\"labels\": {\"tier\": \"free\"}}", "labels.tier: a label that was not" },
		{ "{\"labels\": {\"tenant\": \"rival\"}}", "labels.tenant: another's label" },
		{ "{\"duration_ns\": 100000001}", "duration_ns: a time that is not rounded" },
		{ "{\"processShutdownTime\": 1250.000}", "a time that is not rounded" },
		{ "{\"markers\": {\"length\": 3}}", "markers.length: marks of single calls" },
		{ "{\"x\": \"\\u0030x7f0012345678\"}", "x: an address" },
		{ "{\"path\": \"/home/op/acme.pb\"}", "path: a path" },
		{ "{\"engines\": [\"wasmtime 50\"]}", "engines[0]: a fact of the process" },
	};
	static const char *const clean[] = {
		"{\"pid\": 0, \"tid\": \"0.3\", \"program\": \"\", \"duration_ns\": 300000000}",
		"[{\"label\": \"Clock\", \"value\": \"\"}, {\"value\": \"cpu timer\"}]",
		"{\"counters\": {\"samples\": 7}, \"counters2\": [], \"labels\": {\"tenant\": "
		"\"acme\"}}",
		"{\"states\": {\"host\": 12}, \"processShutdownTime\": 1200.000, \"b\": true}",
	};
	static const char *const damaged[] = { "{",	    "{\"a\"}",	   "[1,]",  "{} x",
					       "[\"a\n\"]", "[\"\\u12\"]", "[nul]", "{\"a\":}" };
	struct findings findings;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		expect_found(rows[i][0], strlen(rows[i][0]), rows[i][1]);
	for (size_t i = 0; i < ARRAY_SIZE(clean); i++)
		expect_clean(NULL, clean[i], strlen(clean[i]));
	for (size_t i = 0; i < ARRAY_SIZE(damaged); i++)
		assert_int_equal(look(&findings, NULL, damaged[i], strlen(damaged[i])), -EBADMSG);
}

static void modules_go_by_name(void **state)
{
	static const struct {
		enum selection_by by;
		const char *value;
		bool is_it;
	} rows[] = {
		{ SELECTION_MODULE, "app", true },
		{ SELECTION_MODULE, "app@3f9a2c", true },
		{ SELECTION_MODULE, "app@3f9a2c@3f9a2c", true },
		{ SELECTION_MODULE, "app{tenant=acme}", true },
		{ SELECTION_MODULE, "app@123456", false },
		{ SELECTION_MODULE, "ap", false },
		{ SELECTION_MODULE, "apple", false },
		{ SELECTION_INSTANCE, "app#3", true },
		{ SELECTION_INSTANCE, "app@3f9a2c#2.3", true },
		{ SELECTION_INSTANCE, "rival#3", false },
		{ SELECTION_LABEL, "acme", true },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct selection selection = { .by = rows[i].by, .value = rows[i].value };
		const struct audit audit = { .selection = &selection };

		assert_int_equal(audit_is_module(&audit, "app@3f9a2c"), rows[i].is_it);
	}
}

static void deep_json_is_refused(void **state)
{
	char text[1000];
	struct findings findings;

	(void)state;
	memset(text, '[', sizeof(text));
	assert_int_equal(look(&findings, NULL, text, sizeof(text)), -EBADMSG);
}

static int write_firefox(const struct recording *recording, struct output *output)
{
	uint64_t merged;

	return firefox_write(recording, FIREFOX_SIZE_MAX, output, &merged);
}

static int write_html(const struct recording *recording, struct output *output)
{
	struct html_options options = { 0 };

	return html_write(recording, &options, output);
}

/* BYTES, a profile, by WRITE. */
static struct source export_bytes(const struct pb_writer *bytes,
				  int (*write)(const struct recording *recording,
					       struct output *output))
{
	char *path = write_bytes(NULL, bytes->bytes, bytes->size), *why = NULL;
	struct recording *recording = recording_read(path, &why);
	struct output *output = output_open(path, false);
	struct source source;

	assert_int_equal(write(recording, output), 0);
	assert_int_equal(output_close(output, true), 0);
	assert_int_equal(source_read(path, &source, &why), 0);
	recording_free(recording);
	unlink(path);
	free(path);
	return source;
}

static void pages_are_compared(void **state)
{
	struct pb_writer bytes = share_with_acme(&busy_host, &with_time);
	struct source page = export_bytes(&bytes, write_html);
	char *title = memmem(page.bytes, page.size, "<title>", 7);
	struct findings findings;

	(void)state;
	expect_clean(NULL, page.bytes, page.size);
	title[7] ^= 1;
	expect_found(page.bytes, page.size, "page, before its data: not what this version");
	title[7] ^= 1;
	page.bytes[page.size - 3] ^= 1;
	expect_found(page.bytes, page.size, "page, behind its data: not what this version");
	assert_int_equal(look(&findings, NULL, "<html></html>", 13), -EBADMSG);
	source_free(&page);
	pb_free(&bytes);
}

static void what_is_nothing_is_unreadable(void **state)
{
	struct findings findings;

	(void)state;
	assert_int_equal(look(&findings, NULL, "", 0), -EBADMSG);
	assert_int_equal(look(&findings, NULL, " \n", 2), -EBADMSG);
	assert_int_equal(look(&findings, NULL, "\1\2\3", 3), -EBADMSG);
}

/* ---- texts of others ------------------------------------------------------------------------- */

static struct audit_texts *texts_of(const struct neighbours *neighbours)
{
	struct built *built = calloc(1, sizeof(*built));
	struct pb_writer told = share_with_acme(neighbours, &with_time);
	struct audit_texts *texts = audit_texts_new();

	build_tenants(built, neighbours);
	assert_int_equal(
		audit_texts_add(texts, built->out.bytes, built->out.size, told.bytes, told.size),
		0);
	assert_int_equal(audit_texts_finish(texts), 0);
	pb_free(&told);
	built_free(built);
	return texts;
}

static void others_texts_are_known(void **state)
{
	struct audit_texts *texts = texts_of(&busy_host);

	(void)state;
	assert_string_equal(audit_texts_find(texts, "rival-worker"), "rival-worker");
	assert_string_equal(audit_texts_find(texts, "see rival::charge_card!"),
			    "rival::charge_card");
	assert_string_equal(audit_texts_find(texts, "python3"), "python3");
	assert_string_equal(audit_texts_find(texts, "free"), "free");
	assert_null(audit_texts_find(texts, "a free one")); /* too short to be a part */
	assert_null(audit_texts_find(texts, "serve"));
	assert_null(audit_texts_find(texts, "acme::render"));
	assert_null(audit_texts_find(texts, "nanoseconds"));
	assert_null(audit_texts_find(texts, ""));
	assert_true(audit_texts_is_told(texts, "acme::render"));
	assert_false(audit_texts_is_told(texts, "rival-app"));
	assert_true(audit_texts_has_number(texts, 1764525600000000000 + 0) == false);
	assert_false(audit_texts_has_number(texts, 4242));
	audit_texts_free(texts);
}

static void others_texts_are_found(void **state)
{
	static const char folded[] = "acme;serve;rival::charge_card 3\n";
	struct audit_texts *texts = texts_of(&busy_host);
	struct pb_writer bytes = share_with_acme(&busy_host, &with_time);
	struct source json = export_bytes(&bytes, write_firefox);
	struct source page = export_bytes(&bytes, write_html);
	struct findings findings;

	(void)state;
	expect_clean(texts, bytes.bytes, bytes.size);
	expect_clean(texts, json.bytes, json.size);
	expect_clean(texts, page.bytes, page.size);
	assert_int_equal(look(&findings, texts, folded, sizeof(folded) - 1), 0);
	assert_non_null(strstr(findings.text, "line 1: a text of somebody else's"));
	source_free(&page);
	source_free(&json);
	pb_free(&bytes);
	audit_texts_free(texts);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_shared_file_is_clean),
		cmocka_unit_test(a_recording_is_not),
		cmocka_unit_test(added_fields_are_found),
		cmocka_unit_test(a_torn_tail_is_found),
		cmocka_unit_test(damage_is_survived),
		cmocka_unit_test(gzip_headers_are_looked_at),
		cmocka_unit_test(json_is_walked),
		cmocka_unit_test(deep_json_is_refused),
		cmocka_unit_test(modules_go_by_name),
		cmocka_unit_test(pages_are_compared),
		cmocka_unit_test(what_is_nothing_is_unreadable),
		cmocka_unit_test(others_texts_are_known),
		cmocka_unit_test(others_texts_are_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
