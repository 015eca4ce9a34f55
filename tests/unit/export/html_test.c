/* SPDX-License-Identifier: MIT */
/* html_test.c - the html page: what is in it, what cannot get out of its data, its tree. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "preload/export/html.h"
#include "preload/export/html_assets.h"
#include "preload/export/html_tree.h"
#include "tests/unit/encode/golden.h"
#include "tests/unit/encode/recordings.h"
#include "tests/unit/encode/scratch.h"
#include "tests/unit/encode/waiting.h"

static struct recording *read_built(struct built *built)
{
	char *why = NULL, *name = write_bytes(NULL, built->out.bytes, built->out.size);
	struct recording *recording = recording_read(name, &why);

	unlink(name);
	free(name);
	built_free(built);
	assert_non_null(recording);
	return recording;
}

static struct recording *read_small(void)
{
	struct built *built = calloc(1, sizeof(*built));

	build_small(built);
	return read_built(built);
}

/* The page of one recording or two (caller frees). */
static char *page_of(const struct recording *before, const struct recording *after,
		     struct html_options *options)
{
	struct output *output = output_open("page.html", false);
	char *text;

	assert_non_null(output);
	assert_int_equal(after != NULL ? html_write_change(before, after, options, output)
				       : html_write(before, options, output),
			 0);
	assert_int_equal(output_close(output, true), 0);
	text = slurp("page.html");
	unlink("page.html");
	return text;
}

static size_t count_of(const char *text, const char *part)
{
	size_t count = 0;

	while ((text = strstr(text, part)) != NULL) {
		text += strlen(part);
		count++;
	}
	return count;
}

/* The block of data, cut out of PAGE. */
static char *data_of(char *page)
{
	static const char begin[] = "<script type=\"application/json\" id=\"data\">";
	char *data = strstr(page, begin);

	assert_non_null(data);
	data += strlen(begin);
	*strstr(data, "</script>") = '\0';
	return data;
}

static void expect_in(const char *text, const char *part)
{
	if (strstr(text, part) == NULL)
		fail_msg("\"%s\" is not in \"%.3000s\"", part, text);
}

/* Also a reader of JSON must like it: Python's. */
static void expect_json(const char *data)
{
	free(write_bytes("data.json", (const uint8_t *)data, strlen(data)));
	assert_int_equal(system("python3 -m json.tool data.json >/dev/null"), 0);
	unlink("data.json");
}

static void is_one_file_that_asks_for_nothing(void **state)
{
	struct html_options options = { 0 };
	struct recording *recording = read_small();
	char *page = page_of(recording, NULL, &options);

	(void)state;
	expect_in(page, "content=\"default-src 'none'; script-src 'sha256-");
	assert_null(strstr(page, "{{"));
	assert_int_equal(count_of(page, "<script"), 2);
	assert_int_equal(count_of(page, "</script"), 2);
	assert_int_equal(count_of(page, " src="), 0);
	assert_int_equal(count_of(page, " href="), 0);
	assert_int_equal(count_of(page, "http://") + count_of(page, "https://"), 0);
	assert_int_equal(count_of(page, "innerHTML"), 0);
	free(page);
	recording_free(recording);
}

/* Nothing in a part may end the element that it is put into (HTML, 13.2.5.15 and following). */
static void expect_closed(const struct html_asset *asset)
{
	char *text = strndup(asset->begin, (size_t)(asset->end - asset->begin));

	assert_int_equal(strlen(text), asset->end - asset->begin);
	assert_true(text[0] != '\0' && text[strlen(text) - 1] == '\n');
	assert_null(strstr(text, "</"));
	assert_null(strstr(text, "<!"));
	free(text);
}

static void has_parts_that_end_where_they_should(void **state)
{
	(void)state;
	expect_closed(&html_assets_style);
	for (size_t i = 0; i < HTML_ASSET_SCRIPTS; i++)
		expect_closed(&html_assets_scripts[i]);
}

static void keeps_hostile_names_in_the_data(void **state)
{
	struct html_options options = { 0 };
	struct recording *recording = read_small();
	char *page = page_of(recording, NULL, &options), *data = data_of(page);

	(void)state;
	assert_null(strchr(data, '<'));
	for (const char *at = data; *at != '\0'; at++)
		assert_true((unsigned char)*at >= ' ');
	/* As the terminal shows it, quoted for JSON. */
	expect_in(data, "\"ev\\\\x1b[31mil;\\\\x0aroot \\\\u{202e}gnp.exe\\\\xff\\\\\\u003c/"
			"script>\"");
	expect_json(data);
	free(page);
	recording_free(recording);
}

/* Nothing that a recording may hold is left out of the head. */
static void says_what_was_lost(void **state)
{
	struct html_options options = { 0 };
	struct recording *recording = read_small();
	char *page = page_of(recording, NULL, &options), *data = data_of(page);

	(void)state;
	expect_in(data, "\"program\":\"python3\",\"pid\":4242");
	expect_in(data, "\"clock\":\"cpu timer\",\"clock_why\":\"perf_event: EPERM\"");
	expect_in(data, "\"requested_hz\":100");
	expect_in(data, "\"lost\":6,\"lost_by\":[[\"ring_full\",5],[\"nested\",1]]");
	expect_in(data, "\"truncated\":");
	expect_in(data, "\"engines\":[\"wasmtime 50\"]");
	free(page);
	recording_free(recording);
}

/* ---- the tree ---------------------------------------------------------------------------------
 */

static const char *name_of(const struct html_tree *tree, uint32_t node)
{
	const struct html_frame *frame = &tree->frames[tree->nodes.list[node].second];

	return tree->texts.texts[tree->functions[frame->function].name];
}

/* Root to NODE, separated by `;`. */
static void path_of(const struct html_tree *tree, uint64_t node, char *path, size_t size)
{
	size_t used = 0;

	path[0] = '\0';
	if (tree->nodes.list[node].first != HTML_TREE_NONE) {
		path_of(tree, tree->nodes.list[node].first, path, size);
		used = strlen(path);
		snprintf(path + used, size - used, ";");
		used++;
	}
	snprintf(path + used, size - used, "%s", name_of(tree, (uint32_t)node));
}

static const struct html_row *row_at(const struct html_tree *tree, const char *path,
				     const char *instance)
{
	char found[512];

	for (uint32_t i = 0; i < tree->row_count; i++) {
		const struct html_scope *scope = &tree->scopes[tree->rows[i].scope];

		path_of(tree, tree->rows[i].node, found, sizeof(found));
		if (strcmp(found, path) == 0 &&
		    strcmp(tree->texts.texts[scope->instance], instance) == 0)
			return &tree->rows[i];
	}
	fail_msg("no row %s of %s", path, instance);
	return NULL;
}

static void makes_a_tree_of_stacks(void **state)
{
	struct recording *recording = read_small();
	const struct html_tree_names names = { 0 };
	struct html_tree tree = { 0 };
	const struct html_row *row;
	const struct html_frame *inlined;

	(void)state;
	assert_int_equal(html_tree_add(&tree, recording, 0, &names), 0);
	row = row_at(&tree, "_start;math::kernel<[u8; 32]>", "app.wasm#1");
	assert_int_equal(row->samples, 10);
	assert_int_equal(row->cpu_ns, 100000000);
	row = row_at(&tree, "_start;math::kernel<[u8; 32]>;math::helper", "app.wasm#1");
	assert_int_equal(row->samples, 50);
	inlined = &tree.frames[tree.nodes.list[row->node].second];
	assert_true(inlined->is_inlined);
	assert_true(inlined->line > 0);
	row = row_at(&tree, "_start;memory.grow", "app.wasm#*");
	assert_int_equal(tree.scopes[row->scope].state, STATE_BUILTIN);
	for (uint32_t i = 0; i < tree.nodes.count; i++)
		assert_true(tree.nodes.list[i].first == HTML_TREE_NONE ||
			    tree.nodes.list[i].first < i);
	html_tree_free(&tree);
	recording_free(recording);
}

/* Every sample counts once: what the rows hold is what the recording holds. */
static void adds_up(void **state)
{
	struct recording *recording = read_waiting();
	const struct html_tree_names names = { 0 };
	struct html_tree tree = { 0 };
	uint64_t samples = 0, cpu_ns = 0, wall_ns = 0;

	(void)state;
	assert_int_equal(html_tree_add(&tree, recording, 0, &names), 0);
	for (uint32_t i = 0; i < tree.row_count; i++) {
		samples += tree.rows[i].samples;
		cpu_ns += tree.rows[i].cpu_ns;
		wall_ns += tree.rows[i].wall_ns;
	}
	for (size_t i = 0; i < recording->sample_count; i++) {
		samples -= recording->samples[i].count;
		cpu_ns -= recording->samples[i].cpu_ns;
		wall_ns -= recording->samples[i].wall_ns;
	}
	assert_int_equal(samples | cpu_ns | wall_ns, 0);
	html_tree_free(&tree);
	recording_free(recording);
}

static void merges_equal_stacks(void **state)
{
	struct built *built = calloc(1, sizeof(*built));
	struct built_sample sample = { .module = "m", .instance = "m#1", .count = 3 };
	const struct html_tree_names names = { 0 };
	struct html_tree tree = { 0 };
	struct recording *recording;
	uint64_t function, mapping;

	(void)state;
	built_begin(built);
	mapping = built_mapping(built, "m", "");
	function = built_function(built, "f", "f.c");
	/* Two addresses on one line are one place; the second thread is of no interest. */
	sample.locations[0] =
		built_location(built, mapping, 9, FRAME_GUEST, (uint64_t[]){ function, 0 });
	built_add_sample(built, &sample);
	sample.locations[0] =
		built_location(built, mapping, 10, FRAME_GUEST, (uint64_t[]){ function, 0 });
	sample.thread_id = 7;
	built_add_sample(built, &sample);
	sample.instance = "m#2";
	built_add_sample(built, &sample);
	recording = read_built(built);
	assert_int_equal(html_tree_add(&tree, recording, 0, &names), 0);
	assert_int_equal(tree.nodes.count, 1);
	assert_int_equal(tree.row_count, 2);
	assert_int_equal(tree.rows[0].samples, 6);
	html_tree_free(&tree);
	recording_free(recording);
}

static void takes_samples_without_a_stack(void **state)
{
	struct built *built = calloc(1, sizeof(*built));
	const struct html_tree_names names = { 0 };
	struct html_tree tree = { 0 };
	struct recording *recording;

	(void)state;
	built_begin(built);
	built_add_sample(built, &(struct built_sample){ .module = "m", .count = 3 });
	recording = read_built(built);
	assert_int_equal(html_tree_add(&tree, recording, 0, &names), 0);
	assert_int_equal(tree.row_count, 1);
	assert_string_equal(name_of(&tree, tree.rows[0].node), "(no stack)");
	html_tree_free(&tree);
	recording_free(recording);
}

/* ---- two recordings ---------------------------------------------------------------------------
 */

static const char *call_it_same(const void *context, const char *name, unsigned side)
{
	assert_string_equal(context, "context");
	return side == 1 && strcmp(name, "app2.wasm") == 0 ? "app.wasm" : name;
}

static struct recording *read_later(void)
{
	struct built *built = calloc(1, sizeof(*built));
	uint64_t mapping, start;

	built_begin(built);
	mapping = built_mapping(built, "app2.wasm", "");
	start = built_function(built, "_start", "src/main.rs");
	start = built_location(built, mapping, 300, FRAME_GUEST, (uint64_t[]){ start, 0 });
	built_add_sample(built, &(struct built_sample){ .module = "app2.wasm",
							.locations = { start },
							.count = 9 });
	return read_built(built);
}

static void puts_two_recordings_into_one_tree(void **state)
{
	const struct html_tree_names names = { call_it_same, "context" };
	struct html_options options = { .module_name = call_it_same, .context = "context" };
	struct recording *before = read_small(), *after = read_later();
	struct html_tree tree = { 0 };
	uint32_t nodes;
	char *page;

	(void)state;
	assert_int_equal(html_tree_add(&tree, before, 0, &names), 0);
	nodes = tree.nodes.count;
	assert_int_equal(html_tree_add(&tree, after, 1, &names), 0);
	assert_int_equal(tree.nodes.count, nodes);
	assert_int_equal(tree.scopes[tree.scope_count - 1].side, 1);
	assert_int_equal(row_at(&tree, "_start", "")->samples, 9);
	html_tree_free(&tree);
	page = page_of(before, after, &options);
	assert_int_equal(count_of(data_of(page), "\"requested_hz\""), 2);
	free(page);
	recording_free(before);
	recording_free(after);
}

/* An edit above a function moves it: it is the same one. */
static void knows_a_function_that_moved(void **state)
{
	struct recording *recording = read_small();
	const struct html_tree_names names = { 0 };
	struct html_tree tree = { .is_change = true };
	uint32_t functions;

	(void)state;
	assert_int_equal(html_tree_add(&tree, recording, 0, &names), 0);
	functions = tree.function_count;
	for (size_t i = 0; i < recording->function_count; i++)
		recording->functions[i].start_line += 2;
	assert_int_equal(html_tree_add(&tree, recording, 1, &names), 0);
	assert_int_equal(tree.function_count, functions);
	html_tree_free(&tree);
	recording_free(recording);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(is_one_file_that_asks_for_nothing),
		cmocka_unit_test(has_parts_that_end_where_they_should),
		cmocka_unit_test(keeps_hostile_names_in_the_data),
		cmocka_unit_test(says_what_was_lost),
		cmocka_unit_test(makes_a_tree_of_stacks),
		cmocka_unit_test(adds_up),
		cmocka_unit_test(merges_equal_stacks),
		cmocka_unit_test(takes_samples_without_a_stack),
		cmocka_unit_test(puts_two_recordings_into_one_tree),
		cmocka_unit_test(knows_a_function_that_moved),
	};

	return cmocka_run_group_tests(tests, scratch_enter, scratch_leave);
}
