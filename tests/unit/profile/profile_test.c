/* SPDX-License-Identifier: MIT */
/*
 * profile_test.c - samples in, chunks out: rows, ids, groups, instances, and what is counted
 * instead.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <malloc.h>

#include "preload/base/stats.h"
#include "preload/profile/groups.h"
#include "preload/profile/members.h"
#include "preload/profile/profile.h"
#include "preload/profile/tables.h"
#include "tests/unit/profile/fakes.h"
#include "tests/unit/symtab/failing.h"

enum { PERIOD_NS = 10000000 };

static struct config config;
static struct profile *profile;
static uintptr_t code;

/* All strings that chunks brought so far, by id. */
static const char *texts[100000];
static size_t text_count;

static void begin(void)
{
	const struct profile_options options = {
		.config = &config,
		.start_ns = 500,
		.period_ns = PERIOD_NS,
	};

	profile = profile_new(&options);
	assert_non_null(profile);
	text_count = 0;
}

static int start(void **unused)
{
	forget_fakes(unused);
	config = (struct config){ .memory = 64 << 20, .stacks = STACKS_HOSTCALLS };
	for (size_t i = 0; i < STAT_COUNT; i++)
		stats[i] = 0;
	code = fake_module("a.wasm", "aaaaaaaa");
	begin();
	return 0;
}

static int end(void **unused)
{
	(void)unused;
	profile_free(profile);
	return 0;
}

static void begin_again(void)
{
	profile_free(profile);
	begin();
}

static void take(struct sample *sample)
{
	profile_take(profile, sample, 42, "worker");
	free(sample);
}

static void take_as(uint32_t instance, uint64_t pc)
{
	struct sample *sample = GUEST_SAMPLE(pc);

	sample->instance = instance;
	take(sample);
}

static const struct chunk *next_chunk(void)
{
	const struct chunk *chunk = profile_chunk(profile, 2500);

	if (chunk->string_count != 0)
		assert_int_equal(chunk->first_string, text_count);
	for (size_t i = 0; i < chunk->string_count; i++)
		texts[text_count++] = chunk->strings[i];
	return chunk;
}

/* ---- rows and tables ------------------------------------------------------------------------- */

static void test_one_sample(void **unused)
{
	const struct chunk *chunk;

	(void)unused;
	take(GUEST_SAMPLE(code + WORK + 0x18, code + MAIN + 9, code + ENTRY + 9));
	chunk = next_chunk();
	assert_string_equal(texts[0], "");
	assert_string_equal(texts[STRING_WASM_MODULE], "wasm_module");
	assert_string_equal(texts[STRING_WAITING], "waiting");
	assert_int_equal(chunk->duration_ns, 2000);
	assert_int_equal(chunk->sample_count, 1);
	assert_int_equal(chunk->samples[0].location_count, 2);
	assert_int_equal(chunk->samples[0].count, 1);
	assert_int_equal(chunk->samples[0].cpu_ns, PERIOD_NS);
	assert_int_equal(chunk->samples[0].time_ns, 500);
	assert_int_equal(chunk->samples[0].thread_id, 42);
	assert_int_equal(chunk->samples[0].instance, 0);
	assert_string_equal(texts[chunk->samples[0].thread_name], "worker");
	assert_string_equal(texts[chunk->samples[0].module], "a.wasm");
	assert_string_equal(texts[chunk->samples[0].state], "guest");
	assert_int_equal(chunk->mapping_count, 1);
	assert_true(chunk->mappings[0].start == code &&
		    chunk->mappings[0].limit == code + TEXT_SIZE);
	assert_int_equal(chunk->mappings[0].loading, 1);
	assert_string_equal(texts[chunk->mappings[0].filename], "a.wasm");
	assert_string_equal(texts[chunk->mappings[0].engine], "wasmtime 50");
	assert_int_equal(strlen(texts[chunk->mappings[0].build_id]), 64);
}

static void test_locations_and_functions(void **unused)
{
	const struct chunk *chunk;
	const struct chunk_location *leaf;
	const struct chunk_function *function;

	(void)unused;
	take(GUEST_SAMPLE(code + WORK + 0x18, code + MAIN + 9));
	chunk = next_chunk();
	leaf = &chunk->locations[chunk->samples[0].locations[0] - 1];
	assert_int_equal(leaf->address, 0x10000 + WORK + 0x10);
	assert_true(leaf->address_is_wasm);
	assert_int_equal(leaf->kind, FRAME_GUEST);
	assert_int_equal(leaf->mapping, 1);
	function = &chunk->functions[leaf->function - 1];
	assert_string_equal(texts[function->name], "work");
	assert_string_equal(texts[function->system_name], "_ZN4demo");
	assert_string_equal(texts[function->filename], "a.wasm");
	assert_int_equal(function->wasm_index, 6);
	for (size_t i = 0; i < chunk->location_count; i++)
		assert_int_equal(chunk->locations[i].id, i + 1);
	for (size_t i = 0; i < chunk->function_count; i++)
		assert_int_equal(chunk->functions[i].id, i + 1);
}

static void test_chunks_bring_only_what_is_new(void **unused)
{
	const struct chunk *chunk;
	size_t locations;

	(void)unused;
	take(GUEST_SAMPLE(code + WORK));
	locations = next_chunk()->location_count;
	chunk = next_chunk();
	assert_int_equal(chunk->string_count + chunk->mapping_count + chunk->function_count, 0);
	assert_int_equal(chunk->location_count + chunk->sample_count + chunk->group_count, 0);
	take(GUEST_SAMPLE(code + WORK, code + MAIN + 1));
	chunk = next_chunk();
	assert_int_equal(chunk->mapping_count, 0);
	assert_int_equal(chunk->function_count, 1);
	assert_int_equal(chunk->location_count, 1);
	assert_int_equal(chunk->locations[0].id, locations + 1);
	assert_int_equal(chunk->sample_count, 1);
	assert_int_equal(chunk->group_count, 1);
	assert_int_equal(chunk->groups[0].samples, 2);
}

/* A chunk without samples may be thrown away: no definition is in it alone. */
static void test_chunks_without_samples_are_empty(void **unused)
{
	const struct chunk *chunk = profile_chunk(profile, 1000);

	(void)unused;
	assert_int_equal(chunk->string_count + chunk->function_count + chunk->location_count, 0);
	assert_int_equal(chunk->group_count, 0);
	take(GUEST_SAMPLE(code + WORK));
	chunk = next_chunk();
	assert_int_equal(chunk->sample_count, 1);
	assert_int_equal(chunk->first_string, 0);
	assert_int_equal(chunk->group_count, 1);
}

/* One row for what differs in nothing that is recorded; weights are summed. */
static void test_rows_are_merged(void **unused)
{
	const struct chunk *chunk;
	struct sample *late = GUEST_SAMPLE(code + WORK + 4), *early = GUEST_SAMPLE(code + WORK + 8);

	(void)unused;
	late->time_ns = 3000;
	late->weight = 4;
	early->time_ns = 700;
	early->weight = 0; /* stands for one all the same */
	profile_take(profile, late, 42, "worker");
	profile_take(profile, early, 42, "worker");
	profile_take(profile, late, 43, "worker");
	profile_take(profile, late, 42, "renamed");
	late->flags = SAMPLE_TRUNCATED;
	profile_take(profile, late, 42, "worker");
	chunk = next_chunk();
	assert_int_equal(chunk->sample_count, 4);
	assert_int_equal(chunk->samples[0].count, 5);
	assert_int_equal(chunk->samples[0].cpu_ns, 5 * PERIOD_NS);
	assert_int_equal(chunk->samples[0].time_ns, 200);
	assert_false(chunk->samples[0].is_truncated);
	assert_true(chunk->samples[3].is_truncated);
	assert_int_equal(chunk->groups[0].samples, 17);
	assert_int_equal(stat_get(STAT_TRUNCATED), 1);
	assert_int_equal(profile_totals(profile).samples, 17);
	free(late);
	free(early);
}

/* The same bytes loaded ten times are one group with one set of functions, at ten places. */
static void test_loadings_share_functions(void **unused)
{
	const struct chunk *chunk;

	(void)unused;
	for (int i = 0; i < 9; i++)
		fake_module("a.wasm", "aaaaaaaa");
	for (size_t i = 0; i < fake.count; i++)
		take(GUEST_SAMPLE(fake.entries[i].text + WORK, fake.entries[i].text + MAIN + 1));
	chunk = next_chunk();
	assert_int_equal(chunk->function_count, 1 + 2); /* (other), work, main */
	assert_int_equal(chunk->location_count, 1 + 20);
	assert_int_equal(chunk->mapping_count, 10);
	assert_int_equal(chunk->group_count, 1);
	assert_int_equal(chunk->groups[0].samples, 10);
	assert_int_equal(profile_totals(profile).modules, 1);
}

static void test_states(void **unused)
{
	static const uint64_t slice[2];
	uint64_t pcs[] = { code + WORK + 4 };
	const struct chunk *chunk;
	const struct chunk_location *host;

	(void)unused;
	take(GUEST_SAMPLE(code + WORK));
	take(GUEST_SAMPLE(code + BUILTIN, code + WORK + 1));
	take(make_sample(SAMPLE_HOST, SAMPLE_EXIT_RECORD, pcs, 1, slice, 2));
	chunk = next_chunk();
	assert_int_equal(chunk->groups[0].samples_by_state[STATE_GUEST], 1);
	assert_int_equal(chunk->groups[0].samples_by_state[STATE_BUILTIN], 1);
	assert_int_equal(chunk->groups[0].samples_by_state[STATE_HOST], 1);
	assert_string_equal(texts[chunk->samples[1].state], "builtin");
	assert_string_equal(texts[chunk->samples[2].state], "host");
	host = &chunk->locations[chunk->samples[2].locations[0] - 1];
	assert_int_equal(host->kind, FRAME_HOST);
	assert_string_equal(texts[chunk->functions[host->function - 1].name], "(host)");
	assert_string_equal(texts[chunk->mappings[host->mapping - 1].filename], "[host]");
}

static void test_full_stacks_name_host_code(void **unused)
{
	static const uint64_t slice[2];
	uint64_t pcs[] = { code + WORK + 4 };
	const struct chunk *chunk;
	const struct chunk_location *host;

	(void)unused;
	config.stacks = STACKS_FULL;
	begin_again();
	fake_unwind(UNWIND_COMPLETE, WORDS(0x400123, 0x700000, code + TRAMPOLINE + 4, 0));
	take(make_sample(SAMPLE_HOST, SAMPLE_EXIT_RECORD, pcs, 1, slice, 2));
	chunk = next_chunk();
	assert_int_equal(chunk->samples[0].location_count, 4);
	host = &chunk->locations[chunk->samples[0].locations[0] - 1];
	assert_string_equal(texts[chunk->functions[host->function - 1].name], "host+0x123");
	assert_int_equal(host->address, 0x400123);
	host = &chunk->locations[chunk->samples[0].locations[1] - 1];
	assert_string_equal(texts[chunk->functions[host->function - 1].name], "0x6fffff");
}

static void test_unnamed_leaves_are_counted(void **unused)
{
	const struct chunk *chunk;

	(void)unused;
	take(GUEST_SAMPLE(code + NOTHING + 1));
	take(GUEST_SAMPLE(code + NOTHING + 0x40));
	take(GUEST_SAMPLE(code + WORK, code + NOTHING + 2));
	take(GUEST_SAMPLE(0x12345));
	chunk = next_chunk();
	assert_int_equal(stat_get(STAT_UNNAMED), 3);
	assert_int_equal(chunk->sample_count, 4);
	assert_string_equal(texts[chunk->functions[1].name], "[unnamed]");
	assert_string_equal(texts[chunk->functions[3].name], "[jit 0x12000+0x1000]");
	assert_string_equal(texts[chunk->samples[3].module], "(other)");
}

static void test_no_guest_is_counted(void **unused)
{
	static const uint64_t slice[4];

	(void)unused;
	take(make_sample(SAMPLE_HOST, 0, NULL, 0, slice, 4));
	assert_int_equal(stat_get(STAT_NO_GUEST_FOUND), 1);
	assert_int_equal(next_chunk()->sample_count, 0);
	assert_int_equal(profile_totals(profile).samples, 0);
}

static void test_thread_names_are_made_text(void **unused)
{
	const struct chunk *chunk;
	struct sample *sample = GUEST_SAMPLE(code + WORK);

	(void)unused;
	profile_take(profile, sample, 1, "a\xff\n\xc3\xa9\xc3");
	free(sample);
	chunk = next_chunk();
	assert_string_equal(texts[chunk->samples[0].thread_name], "a\\xff\\x0a\xc3\xa9\\xc3");
}

/* ---- the list of modules --------------------------------------------------------------------- */

static void test_only_listed_modules(void **unused)
{
	uintptr_t secret = fake_module("secret", "bb");
	const struct chunk *chunk;

	(void)unused;
	config.modules = "b*, a.wasm";
	begin_again();
	take(GUEST_SAMPLE(secret + WORK, code + MAIN + 1, secret + MAIN + 1));
	take(GUEST_SAMPLE(secret + WORK));
	take(GUEST_SAMPLE(0x12345)); /* code that nobody described is on no list */
	take(GUEST_SAMPLE(secret + WORK, 0, code + MAIN + 1, 0, secret + MAIN + 1));
	chunk = next_chunk();
	assert_int_equal(stat_get(STAT_UNLISTED), 2);
	assert_int_equal(chunk->sample_count, 2);
	assert_int_equal(chunk->samples[0].location_count, 1);
	assert_int_equal(chunk->samples[1].location_count, 2); /* (host) a.wasm */
	assert_string_equal(texts[chunk->samples[0].module], "a.wasm");
	for (size_t i = 0; i < text_count; i++)
		assert_null(strstr(texts[i], "secret"));
}

/* Guests' own names carry a hash of ours, which a list need not know. */
static void test_guests_names_are_listed_without_their_hash(void **unused)
{
	uintptr_t guest = fake_module("resize@bbbbbb", "bbbbbb");

	(void)unused;
	fake.modules[1].origin = NAME_GUEST;
	config.modules = "resize";
	begin_again();
	take(GUEST_SAMPLE(guest + WORK));
	take(GUEST_SAMPLE(code + WORK));
	assert_int_equal(next_chunk()->sample_count, 1);
	fake.modules[1].origin = NAME_GIVEN; /* then the whole of it is the name */
	begin_again();
	take(GUEST_SAMPLE(guest + WORK));
	assert_int_equal(next_chunk()->sample_count, 0);
}

/* ---- groups and instances -------------------------------------------------------------------- */

static void test_one_name_for_two_identities(void **unused)
{
	uintptr_t other = fake_module("a.wasm", "bcdefa99");
	const struct chunk *chunk;

	(void)unused;
	take(GUEST_SAMPLE(code + WORK));
	take(GUEST_SAMPLE(other + WORK));
	take(GUEST_SAMPLE(code + WORK));
	chunk = next_chunk();
	assert_int_equal(chunk->group_count, 2);
	assert_string_equal(texts[chunk->groups[0].module], "a.wasm");
	assert_string_equal(texts[chunk->groups[1].module], "a.wasm@bcdefa");
	assert_int_equal(chunk->groups[0].samples, 2);
	assert_int_equal(chunk->groups[1].samples, 1);
	assert_string_equal(texts[chunk->mappings[1].filename], "a.wasm@bcdefa");
	assert_int_equal(profile_totals(profile).modules, 2);
}

static const char *label_of_next(uint32_t instance, uint64_t pc)
{
	const struct chunk *chunk;

	take_as(instance, pc);
	chunk = next_chunk();
	assert_int_equal(chunk->sample_count, 1);
	return texts[chunk->samples[0].instance];
}

static void test_a_name_from_the_tenth_sample_on(void **unused)
{
	uint32_t first = fake_instance(1), second = fake_instance(1);

	(void)unused;
	for (int i = 1; i < MEMBER_NAMED_AT; i++)
		assert_string_equal(label_of_next(second, code + WORK), "a.wasm#*");
	assert_string_equal(label_of_next(second, code + WORK), "a.wasm#2");
	assert_string_equal(label_of_next(second, code + WORK), "a.wasm#2");
	assert_string_equal(label_of_next(first, code + WORK), "a.wasm#*");
	assert_string_equal(label_of_next(0, code + WORK), "");
	assert_string_equal(label_of_next(99, code + WORK), ""); /* nobody knows it */
	take_as(first, code + WORK);
	assert_int_equal(next_chunk()->groups[0].instances_sampled, 2);
	assert_int_equal(next_chunk()->group_count, 0);
	fake_instance(1);
	assert_int_equal(next_chunk()->groups[0].instances_created, 3);
	assert_int_equal(profile_totals(profile).instances, 2);
}

static void test_all_or_none_are_named(void **unused)
{
	uint32_t instance = fake_instance(1);

	(void)unused;
	config.instances = INSTANCES_ALL;
	begin_again();
	assert_string_equal(label_of_next(instance, code + WORK), "a.wasm#1");
	config.instances = INSTANCES_NONE;
	begin_again();
	for (int i = 0; i < 20; i++)
		assert_string_equal(label_of_next(instance, code + WORK), "");
	take_as(instance, code + WORK);
	assert_int_equal(next_chunk()->groups[0].instances_sampled, 1);
}

static void test_instances_of_a_second_loading(void **unused)
{
	uintptr_t second = fake_module("a.wasm", "aaaaaaaa");
	uint32_t old = fake_instance(1), new = fake_instance(2);

	(void)unused;
	config.instances = INSTANCES_ALL;
	begin_again();
	assert_string_equal(label_of_next(old, code + WORK), "a.wasm#1");
	assert_string_equal(label_of_next(new, second + WORK), "a.wasm#2.1");
}

/* The instance that was entered gives the group, also when another module's code runs. */
static void test_the_instance_gives_the_group(void **unused)
{
	uintptr_t library = fake_module("library", "bb");
	uint32_t instance = fake_instance(1);
	struct sample *sample = GUEST_SAMPLE(library + WORK, code + MAIN + 1);
	const struct chunk *chunk;

	(void)unused;
	sample->instance = instance;
	take(sample);
	take(GUEST_SAMPLE(library + WORK, code + MAIN + 1));
	chunk = next_chunk();
	assert_string_equal(texts[chunk->samples[0].module], "a.wasm");
	assert_string_equal(texts[chunk->samples[1].module], "library");
}

/* ---- labels of instances --------------------------------------------------------------------- */

static void label_instance(uint32_t instance, const char *key, const char *value)
{
	static uint64_t numbers;

	fake_instances.infos[instance - 1].has_labels = true;
	fake_labels.labels.number = ++numbers;
	fake_labels.labels.count = 1;
	snprintf(fake_labels.labels.rows[0].key, sizeof(fake_labels.labels.rows[0].key), "%s", key);
	snprintf(fake_labels.labels.rows[0].value, sizeof(fake_labels.labels.rows[0].value), "%s",
		 value);
}

static void take_at(uint32_t instance, uint64_t time_ns)
{
	struct sample *sample = GUEST_SAMPLE(code + WORK);

	sample->instance = instance;
	sample->time_ns = time_ns;
	take(sample);
}

static void test_labels_of_instances_make_groups(void **unused)
{
	uint32_t instance = fake_instance(1);
	const struct chunk *chunk;

	(void)unused;
	fake_labels.since_ns = 2000;
	label_instance(instance, "tenant", "acme");
	take_at(instance, 2000);
	take_at(instance, 1999);
	label_instance(instance, "tenant", "acme"); /* the same, said again */
	take_at(instance, 2001);
	chunk = next_chunk();
	assert_int_equal(chunk->sample_count, 2);
	assert_string_equal(texts[chunk->samples[0].module], "a.wasm{tenant=acme}");
	assert_int_equal(chunk->samples[0].count, 2);
	assert_int_equal(chunk->samples[0].label_count, 1);
	assert_string_equal(texts[chunk->samples[0].labels[0].key], "tenant");
	assert_string_equal(texts[chunk->samples[0].labels[0].value], "acme");
	assert_string_equal(texts[chunk->samples[1].module], "a.wasm");
	assert_int_equal(chunk->samples[1].label_count, 0);
	assert_int_equal(chunk->group_count, 2);
	assert_int_equal(chunk->groups[0].identity, chunk->groups[1].identity);
	assert_int_equal(chunk->groups[0].samples + chunk->groups[1].samples, 3);
	assert_int_equal(profile_totals(profile).modules, 1);
}

/* A group of which all instances are labelled says nothing of its own. */
static void test_only_labelled_instances(void **unused)
{
	uint32_t instance = fake_instance(1);
	const struct chunk *chunk;

	(void)unused;
	label_instance(instance, "tenant", "acme");
	for (int i = 0; i < 20; i++)
		take_at(instance, 1000);
	chunk = next_chunk();
	assert_int_equal(chunk->group_count, 1);
	assert_string_equal(texts[chunk->groups[0].module], "a.wasm{tenant=acme}");
	assert_int_equal(chunk->groups[0].instances_created, 1);
	assert_string_equal(texts[chunk->samples[chunk->sample_count - 1].instance],
			    "a.wasm{tenant=acme}#1");
}

/* Names go with the group: the tenth sample counts from the label on. */
static void test_a_relabelled_instance_changes_its_name(void **unused)
{
	uint32_t instance = fake_instance(1);
	const struct chunk *chunk;

	(void)unused;
	fake_labels.since_ns = 2000;
	label_instance(instance, "tenant", "acme");
	for (int i = 0; i < 10; i++)
		take_at(instance, 1999);
	for (int i = 0; i < 10; i++)
		take_at(instance, 2000);
	chunk = next_chunk();
	assert_int_equal(chunk->sample_count, 4);
	assert_string_equal(texts[chunk->samples[0].instance], "a.wasm#*");
	assert_string_equal(texts[chunk->samples[1].instance], "a.wasm#1");
	assert_string_equal(texts[chunk->samples[2].instance], "a.wasm{tenant=acme}#*");
	assert_string_equal(texts[chunk->samples[3].instance], "a.wasm{tenant=acme}#1");
}

/* Labels that tell requests apart leave room for other modules' groups. */
static void test_too_many_labels_count_for_the_module(void **unused)
{
	uint32_t instance = fake_instance(1);
	uintptr_t other = fake_module("other", "bb");
	const struct chunk *chunk;
	char value[16];

	(void)unused;
	for (int i = 0; i < 2000; i++) {
		snprintf(value, sizeof(value), "%d", i);
		label_instance(instance, "request", value);
		take_at(instance, 1000);
	}
	take(GUEST_SAMPLE(other + WORK));
	chunk = next_chunk();
	assert_int_equal(chunk->group_count, GROUPS_LABELLED_MAX + 2);
	for (size_t i = 0; i < chunk->group_count; i++)
		if (strcmp(texts[chunk->groups[i].module], "a.wasm") == 0)
			assert_int_equal(chunk->groups[i].samples, 2000 - GROUPS_LABELLED_MAX);
	assert_string_equal(texts[chunk->samples[chunk->sample_count - 1].module], "other");
}

/* Bytes allocated, the large ones too. 0 where a sanitizer brings its own allocator. */
static size_t heap_bytes(void)
{
	struct mallinfo2 info = mallinfo2();

	return info.uordblks + info.hblkhd;
}

static size_t names_in(const struct chunk *chunk)
{
	size_t count = 0;

	for (size_t i = 0; i < chunk->string_count; i++)
		count += strchr(chunk->strings[i], '#') != NULL &&
			 strchr(chunk->strings[i], '*') == NULL;
	return count;
}

static void test_names_are_few(void **unused)
{
	const struct chunk *chunk;

	(void)unused;
	for (int i = 0; i < 100; i++) {
		uint32_t instance = fake_instance(1);

		for (int k = 0; k < 10; k++)
			take_as(instance, code + WORK);
	}
	chunk = next_chunk();
	assert_int_equal(names_in(chunk), GROUP_NAMED_MAX);
	assert_int_equal(chunk->groups[0].samples, 1000);
	assert_int_equal(chunk->groups[0].instances_sampled, 100);
	/* One that is much heavier takes a name over; those that are gone give theirs back. */
	for (int k = 0; k < 30; k++)
		take_as(100, code + WORK);
	assert_int_equal(names_in(next_chunk()), 1);
	for (int i = 0; i < 50; i++)
		fake_instances.is_gone[i] = true;
	for (uint32_t i = 60; i < 90; i++)
		for (int k = 0; k < 10; k++)
			take_as(i, code + WORK);
	assert_true(names_in(next_chunk()) >= 25);
}

static void test_names_in_all_are_few(void **unused)
{
	size_t named = 0;

	(void)unused;
	for (int i = 0; i < 40; i++) {
		char name[32], identity[32];

		snprintf(name, sizeof(name), "m%d", i);
		snprintf(identity, sizeof(identity), "c%02d", i);
		fake_module(name, identity);
	}
	for (size_t module = 1; module < fake.count; module++)
		for (int i = 0; i < 20; i++) {
			uint32_t instance = fake_instance((uint32_t)module + 1);

			for (int k = 0; k < 10; k++)
				take_as(instance, fake.entries[module].text + WORK);
		}
	named = names_in(next_chunk());
	assert_int_equal(named, MEMBERS_NAMED_MAX);
}

/* A platform: 100,000 instances with few samples each, the older ones gone. */
static void test_a_hundred_thousand_instances(void **unused)
{
	uint64_t counted = 0;
	size_t before;

	(void)unused;
	config.memory = 8 << 20;
	begin_again();
	before = heap_bytes();
	for (int i = 0; i < 100000; i++) {
		struct instance_info *info = &fake_instances.infos[i];

		*info = (struct instance_info){ .id = (uint32_t)i + 1, .loading = 1, .serial = 7 };
		fake_instances.count++;
		if (i >= 1000)
			fake_instances.is_gone[i - 1000] = true;
		take_as((uint32_t)i + 1, code + WORK);
	}
	counted = next_chunk()->groups[0].instances_sampled;
	assert_int_equal(counted, 100000);
	assert_true(heap_bytes() - before < 4 << 20);
	assert_int_equal(stat_get(STAT_LOST_MEMORY), 0);
}

static uintptr_t numbered_module(int number)
{
	char name[32], identity[32];

	snprintf(name, sizeof(name), "m%d", number);
	snprintf(identity, sizeof(identity), "d%04d", number);
	return fake_module(name, identity);
}

/* 1,000 groups, then (other) until the next chunk; nothing is lost. */
static void test_too_many_groups(void **unused)
{
	const struct chunk *chunk;
	uint64_t total = 0;

	(void)unused;
	for (int i = 0; i < 2000; i++)
		take(GUEST_SAMPLE(numbered_module(i) + WORK));
	chunk = next_chunk();
	assert_int_equal(chunk->group_count, GROUPS_MAX + 1);
	assert_string_equal(texts[chunk->groups[0].module], "(other)");
	assert_int_equal(chunk->groups[0].samples, 1000);
	for (size_t i = 0; i < chunk->group_count; i++)
		total += chunk->groups[i].samples;
	assert_int_equal(total, 2000);
	assert_int_equal(chunk->sample_count, 2000);
}

static const struct chunk_group *group_called(const struct chunk *chunk, const char *name)
{
	const struct chunk_group *found = NULL;

	for (size_t i = 0; i < chunk->group_count; i++)
		if (strcmp(texts[chunk->groups[i].module], name) == 0)
			found = &chunk->groups[i];
	return found;
}

/* Who comes late, and is heavy, gets a row: the lightest become part of (other). */
static void test_the_lightest_make_room(void **unused)
{
	const struct chunk *chunk;
	uint64_t told = 0;
	uintptr_t late;

	(void)unused;
	for (int i = 0; i < GROUPS_MAX; i++) {
		uintptr_t module = numbered_module(i);

		take(GUEST_SAMPLE(module + WORK));
		if (i > 0)
			take(GUEST_SAMPLE(module + WORK));
	}
	late = numbered_module(1500);
	take(GUEST_SAMPLE(late + WORK));
	chunk = next_chunk();
	assert_null(group_called(chunk, "m1500"));
	assert_int_equal(group_called(chunk, "(other)")->samples, 1);
	for (int i = 0; i < 50; i++)
		take(GUEST_SAMPLE(late + WORK));
	chunk = next_chunk();
	assert_int_equal(group_called(chunk, "m1500")->samples, 50);
	/* m0, which had one sample, is part of (other), and the recording is told */
	assert_int_equal(group_called(chunk, "(other)")->samples, 2);
	assert_int_equal(group_called(chunk, "(other)")->merged, 1);
	assert_string_equal(texts[group_called(chunk, "m0")->into], "(other)");
	for (size_t i = 0; i < chunk->group_count; i++)
		told += chunk->groups[i].into != 0;
	assert_int_equal(told, 1);
	assert_int_equal(profile_totals(profile).samples, 2 * GROUPS_MAX + 50);
}

/* A name that samples carry is not given to somebody else, whatever became of its group. */
static void test_names_of_the_gone_are_not_given_again(void **unused)
{
	const struct chunk *chunk;
	uintptr_t module = 0;

	(void)unused;
	take(GUEST_SAMPLE(fake_module("main", "aaaa0000") + WORK));
	for (int i = 0; i < GROUPS_MAX; i++) {
		module = numbered_module(i);
		take(GUEST_SAMPLE(module + WORK));
		take(GUEST_SAMPLE(module + WORK));
	}
	next_chunk();
	take(GUEST_SAMPLE(module + WORK));
	chunk = next_chunk();
	assert_string_equal(texts[group_called(chunk, "main")->into], "(other)");
	/* one more, of the same name: it is told apart from what is gone */
	module = fake_module("main", "bbbb1111");
	take(GUEST_SAMPLE(module + WORK));
	next_chunk();
	take(GUEST_SAMPLE(module + WORK));
	chunk = next_chunk();
	assert_null(group_called(chunk, "main"));
	assert_int_equal(group_called(chunk, "main@bbbb11")->samples, 1);
}

/* Where tables fill, what ran once takes no room; what goes on gets its group all the same. */
static void test_the_heavy_get_in_when_tables_are_nearly_full(void **unused)
{
	const struct chunk *chunk = NULL;
	uint64_t samples = 0;
	uintptr_t late;

	(void)unused;
	config.memory = 1 << 20;
	begin_again();
	for (int i = 0; i < 2900; i++) {
		take(GUEST_SAMPLE(numbered_module(i) + WORK, code + MAIN + 9));
		if (i % 50 == 49)
			chunk = next_chunk();
	}
	assert_false(profile_is_full(profile));
	late = numbered_module(2950);
	for (int i = 0; i < 1000; i++)
		take(GUEST_SAMPLE(late + WORK, late + MAIN + 9));
	for (int i = 0; i < 3; i++) {
		take(GUEST_SAMPLE(late + WORK, late + MAIN + 9));
		chunk = next_chunk();
	}
	assert_non_null(group_called(chunk, "m2950"));
	assert_string_equal(texts[chunk->samples[0].module], "m2950");
	samples = profile_totals(profile).samples;
	assert_int_equal(samples, 2900 + 1003);
	assert_int_equal(stat_get(STAT_LOST_MEMORY), 0);
}

/* ---- bounds ---------------------------------------------------------------------------------- */

static void test_memory_is_bounded(void **unused)
{
	size_t before;
	uint64_t total = 0, other = 0, pcs[40];

	(void)unused;
	config.memory = 1 << 20;
	begin_again();
	fake.modules[0].has_no_map = true;
	before = heap_bytes();
	for (uint64_t i = 0; i < 200000; i++) {
		const struct chunk *chunk;

		for (size_t k = 0; k < ARRAY_SIZE(pcs); k++)
			pcs[k] = code + MAIN + 1 + (i * 7919 + k * i) % 0x1fe;
		take(make_sample(SAMPLE_GUEST, 0, pcs, ARRAY_SIZE(pcs), NULL, 0));
		if (i % 500 != 499)
			continue;
		chunk = profile_chunk(profile, 1000);
		for (size_t k = 0; k < chunk->sample_count; k++) {
			total += chunk->samples[k].count;
			if (chunk->samples[k].location_count == 1 &&
			    chunk->samples[k].locations[0] == LOCATION_OTHER)
				other += chunk->samples[k].count;
		}
	}
	assert_int_equal(total + stat_get(STAT_LOST_MEMORY), 200000);
	assert_int_equal(stat_get(STAT_LOST_MEMORY), 0);
	assert_true(other > 100000);
	assert_true(heap_bytes() - before < 1 << 20);
}

/* Takes and hands out with the NTH allocation failing. False when there were fewer. */
static bool run_failing(long nth, uint64_t *counted)
{
	struct sample *samples[40];
	const struct chunk *chunk;
	uint32_t instance = fake_instance(1);
	uint64_t pcs[3] = { 0, code + MAIN + 1, code + ENTRY + 1 };

	for (size_t i = 0; i < ARRAY_SIZE(samples); i++) {
		pcs[0] = code + WORK + i;
		samples[i] = make_sample(SAMPLE_GUEST, 0, pcs, 3, NULL, 0);
		samples[i]->instance = instance;
	}
	*counted = 0;
	failing_start(nth);
	for (size_t i = 0; i < ARRAY_SIZE(samples); i++) {
		profile_take(profile, samples[i], i, "worker");
		if (i % 20 != 19)
			continue;
		chunk = profile_chunk(profile, 1000);
		for (size_t k = 0; k < chunk->sample_count; k++)
			*counted += chunk->samples[k].count;
	}
	for (size_t i = 0; i < ARRAY_SIZE(samples); i++)
		free(samples[i]);
	return failing_stop();
}

/* Every id that the next recording mentions is there. */
static void expect_whole_tables(void)
{
	const struct chunk *chunk;

	profile_restart(profile, 0);
	text_count = 0;
	take(GUEST_SAMPLE(code + WORK));
	chunk = next_chunk();
	assert_int_equal(chunk->sample_count, 1);
	for (size_t i = 0; i < chunk->location_count; i++) {
		assert_in_range(chunk->locations[i].function, 1, chunk->function_count);
		assert_in_range(chunk->locations[i].mapping, 0, chunk->mapping_count);
	}
	for (size_t i = 0; i < chunk->function_count; i++)
		assert_in_range(chunk->functions[i].name, 1, text_count - 1);
}

static void test_no_memory_loses_no_count(void **unused)
{
	const struct profile_options options = { .config = &config };
	uint64_t counted;
	long nth = 1;

	(void)unused;
	if (!failing_works) {
		print_message("the sanitizer has an allocator of its own\n");
		skip();
	}
	for (;; nth++) {
		profile_free(profile);
		failing_start(nth);
		profile = profile_new(&options);
		if (!failing_stop())
			break;
		/* A label that could not be kept is `(other)`; everything else is needed. */
		if (profile == NULL)
			assert_int_equal(errno, ENOMEM);
	}
	assert_true(nth > 10);
	for (nth = 1;; nth++) {
		bool has_failed;

		stats[STAT_LOST_MEMORY] = 0;
		begin_again();
		has_failed = run_failing(nth, &counted);
		assert_int_equal(counted + stat_get(STAT_LOST_MEMORY), 40);
		expect_whole_tables();
		if (!has_failed)
			break;
	}
	assert_true(nth > 8);
}

static void test_another_recording(void **unused)
{
	const struct chunk *chunk;
	uint32_t instance = fake_instance(1);

	(void)unused;
	for (int i = 0; i < 10; i++)
		take_as(instance, code + WORK);
	next_chunk();
	take(GUEST_SAMPLE(code + MAIN)); /* before: not in the next one */
	profile_restart(profile, 900);
	text_count = 0;
	chunk = profile_chunk(profile, 2500);
	assert_int_equal(chunk->sample_count + chunk->string_count + chunk->group_count, 0);
	assert_int_equal(profile_totals(profile).samples, 0);
	take_as(instance, code + WORK);
	chunk = next_chunk();
	assert_string_equal(texts[0], "");
	assert_int_equal(chunk->locations[0].id, 1);
	assert_int_equal(chunk->mappings[0].id, 1);
	assert_int_equal(chunk->location_count, 3);
	assert_int_equal(chunk->duration_ns, 1600);
	assert_string_equal(texts[chunk->samples[0].instance], "a.wasm#1");
	take_as(instance, code + WORK);
	chunk = next_chunk();
	assert_int_equal(chunk->groups[0].samples, 2);
	assert_int_equal(chunk->groups[0].instances_sampled, 1);
	assert_int_equal(chunk->samples[0].time_ns, 100);
}

static void test_losses_are_in_the_totals(void **unused)
{
	(void)unused;
	stat_add(STAT_LOST_RING_FULL, 3);
	stat_add(STAT_LOST_WRITE, 4);
	stat_add(STAT_HOST_ONLY, 100);
	assert_int_equal(profile_totals(profile).lost, 7);
}

#define PROFILE_TEST(test) cmocka_unit_test_setup_teardown(test, start, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		PROFILE_TEST(test_one_sample),
		PROFILE_TEST(test_locations_and_functions),
		PROFILE_TEST(test_chunks_bring_only_what_is_new),
		PROFILE_TEST(test_chunks_without_samples_are_empty),
		PROFILE_TEST(test_rows_are_merged),
		PROFILE_TEST(test_loadings_share_functions),
		PROFILE_TEST(test_states),
		PROFILE_TEST(test_full_stacks_name_host_code),
		PROFILE_TEST(test_unnamed_leaves_are_counted),
		PROFILE_TEST(test_no_guest_is_counted),
		PROFILE_TEST(test_thread_names_are_made_text),
		PROFILE_TEST(test_only_listed_modules),
		PROFILE_TEST(test_guests_names_are_listed_without_their_hash),
		PROFILE_TEST(test_one_name_for_two_identities),
		PROFILE_TEST(test_a_name_from_the_tenth_sample_on),
		PROFILE_TEST(test_all_or_none_are_named),
		PROFILE_TEST(test_instances_of_a_second_loading),
		PROFILE_TEST(test_the_instance_gives_the_group),
		PROFILE_TEST(test_labels_of_instances_make_groups),
		PROFILE_TEST(test_only_labelled_instances),
		PROFILE_TEST(test_a_relabelled_instance_changes_its_name),
		PROFILE_TEST(test_too_many_labels_count_for_the_module),
		PROFILE_TEST(test_names_are_few),
		PROFILE_TEST(test_names_in_all_are_few),
		PROFILE_TEST(test_a_hundred_thousand_instances),
		PROFILE_TEST(test_too_many_groups),
		PROFILE_TEST(test_the_lightest_make_room),
		PROFILE_TEST(test_names_of_the_gone_are_not_given_again),
		PROFILE_TEST(test_the_heavy_get_in_when_tables_are_nearly_full),
		PROFILE_TEST(test_memory_is_bounded),
		PROFILE_TEST(test_no_memory_loses_no_count),
		PROFILE_TEST(test_another_recording),
		PROFILE_TEST(test_losses_are_in_the_totals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
