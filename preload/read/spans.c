/* SPDX-License-Identifier: MIT */
/* spans.c - measures the union of spans of time. Threads: any. */
#include "preload/read/spans.h"

#include <stdlib.h>

static int compare_spans(const void *a, const void *b)
{
	const struct span *left = a, *right = b;

	return left->start < right->start ? -1 : left->start > right->start;
}

uint64_t spans_covered(struct span *spans, size_t count)
{
	uint64_t sum = 0, end = 0;

	if (count != 0)
		qsort(spans, count, sizeof(*spans), compare_spans);
	for (size_t i = 0; i < count; i++) {
		uint64_t start = spans[i].start > end ? spans[i].start : end;

		if (spans[i].end > start)
			sum += spans[i].end - start;
		if (spans[i].end > end)
			end = spans[i].end;
	}
	return sum;
}
