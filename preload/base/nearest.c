/* SPDX-License-Identifier: MIT */
/* nearest.c - the variable whose name is most like another. Threads: any. */
#include "preload/base/nearest.h"

#include <string.h>

#include "preload/base/config.h"

/* Edit distance of two short names, for "did you mean". */
static size_t distance(const char *a, const char *b)
{
	size_t row[64], length = strlen(b);

	if (length >= ARRAY_SIZE(row))
		return SIZE_MAX;
	for (size_t j = 0; j <= length; j++)
		row[j] = j;
	for (size_t i = 1; a[i - 1] != '\0'; i++) {
		size_t diagonal = row[0];

		row[0] = i;
		for (size_t j = 1; j <= length; j++) {
			size_t change = diagonal + (a[i - 1] != b[j - 1]);
			size_t best = row[j] < row[j - 1] ? row[j] + 1 : row[j - 1] + 1;

			diagonal = row[j];
			row[j] = change < best ? change : best;
		}
	}
	return row[length];
}

const char *nearest_variable(const char *name)
{
	size_t best = SIZE_MAX;
	const char *found = config_variables[0].name;

	for (size_t i = 0; i < config_variable_count; i++) {
		size_t d = distance(name, config_variables[i].name);

		if (d < best) {
			best = d;
			found = config_variables[i].name;
		}
	}
	return found;
}
