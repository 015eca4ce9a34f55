/* SPDX-License-Identifier: MIT */
/* owners_test.c - what becomes of samples whose instance is not told, by engine and version. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "preload/owners.h"
#include "preload/runtime/wasmtime_layout.h"
#include "preload/sig/anchor.h"
#include "preload/sig/sample.h"
#include "preload/sig/thread.h"

/* In place of the engines' own table. */
bool runtime_has_contexts(const char *engine)
{
	return strcmp(engine, "engine") == 0;
}

bool runtime_contexts_fill(const char *version, struct context_layout *layout)
{
	*layout = (struct context_layout){ .entry_fp = 72 };
	return strcmp(version, "1") == 0;
}

static struct sample sample;

static void make_untold(void)
{
	memset(&sample, 0, sizeof(sample));
	sample.size = sizeof(sample);
	sample.kind = SAMPLE_GUEST;
	sample.flags = SAMPLE_NO_ENTRY;
}

/* How many lines a thousand such samples make. */
static int lines(void)
{
	char path[] = "/tmp/guestprof-owners-XXXXXX", text[4096] = "";
	int file = mkstemp(path), before = dup(2), count = 0;
	ssize_t size;

	assert_true(file >= 0 && before >= 0);
	unlink(path);
	dup2(file, 2);
	for (int i = 0; i < 1000; i++) {
		make_untold();
		owners_fill(&sample, 1);
		assert_true(sample.flags & SAMPLE_MODULE_ONLY);
		assert_int_equal(sample.instance, 0);
	}
	dup2(before, 2);
	close(before);
	size = pread(file, text, sizeof(text) - 1, 0);
	close(file);
	for (ssize_t i = 0; i < size; i++)
		count += text[i] == '\n';
	return count;
}

static void test_versions(void **unused)
{
	(void)unused;
	make_untold();
	/* no engine of which anybody would know */
	owners_note_engine("other", "1");
	owners_fill(&sample, 1);
	assert_int_equal(sample.flags, SAMPLE_NO_ENTRY);
	owners_note_engine("engine", "99");
	assert_false(atomic_load(&anchor_setup.is_ready));
	assert_int_equal(lines(), 1);
	owners_note_engine("engine", "text");
	assert_false(atomic_load(&anchor_setup.is_ready));
	assert_int_equal(lines(), 0);
	/* one that has an entry, or an instance, is told by that */
	make_untold();
	sample.flags = 0;
	owners_fill(&sample, 1);
	assert_int_equal(sample.flags, 0);
	make_untold();
	sample.instance = 3;
	owners_fill(&sample, 1);
	assert_int_equal(sample.flags, SAMPLE_NO_ENTRY);
	/* and in a process that says what it enters nothing else is */
	atomic_store(&thread_table.has_entries, true);
	make_untold();
	owners_fill(&sample, 1);
	assert_int_equal(sample.flags, SAMPLE_NO_ENTRY);
	atomic_store(&thread_table.has_entries, false);
	owners_note_engine("engine", "1");
	assert_true(atomic_load(&anchor_setup.is_ready));
	owners_tidy();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_versions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
