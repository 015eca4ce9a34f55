/* SPDX-License-Identifier: MIT */
/*
 * golden.h - compares what was written with a file of tests/data/, or writes it there anew when
 * GUESTPROF_TEST_GOLDEN=update: then `git diff` shows what changed.
 */
#ifndef TESTS_UNIT_ENCODE_GOLDEN_H
#define TESTS_UNIT_ENCODE_GOLDEN_H

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* All of PATH, terminated (caller frees); NULL. */
static inline char *slurp(const char *path)
{
	FILE *file = fopen(path, "r");
	char *text = calloc(1, 1 << 20);
	size_t size = file != NULL ? fread(text, 1, (1 << 20) - 1, file) : 0;

	if (file == NULL) {
		free(text);
		return NULL;
	}
	fclose(file);
	text[size] = '\0';
	return text;
}

/* FOUND is the path of what was written, NAME that of the golden file. */
static inline void expect_golden(const char *found, const char *name)
{
	const char *update = getenv("GUESTPROF_TEST_GOLDEN");
	char *text = slurp(found), *golden;
	FILE *file;

	assert_non_null(text);
	if (update != NULL && strcmp(update, "update") == 0) {
		file = fopen(name, "w");
		assert_non_null(file);
		fputs(text, file);
		fclose(file);
	}
	golden = slurp(name);
	assert_non_null(golden);
	assert_string_equal(text, golden);
	free(golden);
	free(text);
}

#endif /* TESTS_UNIT_ENCODE_GOLDEN_H */
