/* SPDX-License-Identifier: MIT */
/* marks.c - host calls that the host marks itself: those open by thread, the longest of those done.
 */
#include "preload/marks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "preload/base/clock.h"

enum { CALL_DEPTH = 32 };

/* A thread's host calls that have begun. */
struct calling {
	struct calling *next;
	uint64_t tid;
	uint32_t depth;
	struct chunk_interval open[CALL_DEPTH];
};

static struct calling *calling_of(struct marks *marks, uint64_t tid)
{
	struct calling *calling;

	for (calling = marks->callings; calling != NULL; calling = calling->next) {
		if (calling->tid == tid)
			return calling;
	}
	calling = calloc(1, sizeof(*calling));
	if (calling == NULL)
		return NULL;
	calling->tid = tid;
	calling->next = marks->callings;
	marks->callings = calling;
	return calling;
}

/* Lets the heap's element AT sink to its place. */
static void sink(struct chunk_interval *heap, size_t count, size_t at)
{
	for (size_t child; (child = 2 * at + 1) < count; at = child) {
		struct chunk_interval lower = heap[at];

		if (child + 1 < count && heap[child + 1].duration_ns < heap[child].duration_ns)
			child++;
		if (heap[at].duration_ns <= heap[child].duration_ns)
			return;
		heap[at] = heap[child];
		heap[child] = lower;
	}
}

static void rise(struct chunk_interval *heap, size_t at)
{
	while (at > 0 && heap[at].duration_ns < heap[(at - 1) / 2].duration_ns) {
		struct chunk_interval upper = heap[(at - 1) / 2];

		heap[(at - 1) / 2] = heap[at];
		heap[at] = upper;
		at = (at - 1) / 2;
	}
}

/* Keeps CALL, or of all so far the longest; its name is taken over. */
static int keep_call(struct marks *marks, const struct chunk_interval *call)
{
	if (marks->calls == NULL) {
		marks->calls = calloc(MARKS_MOST, sizeof(*marks->calls));
		if (marks->calls == NULL) {
			free(call->name);
			return -ENOMEM;
		}
	}
	if (marks->count < MARKS_MOST) {
		marks->calls[marks->count] = *call;
		rise(marks->calls, marks->count++);
		return 0;
	}
	marks->dropped++;
	if (call->duration_ns <= marks->calls[0].duration_ns) {
		free(call->name);
		return 0;
	}
	free(marks->calls[0].name);
	marks->calls[0] = *call;
	sink(marks->calls, marks->count, 0);
	return 0;
}

static int begin_call(const struct marks *marks, struct calling *calling, const char *name)
{
	struct chunk_interval *call = &calling->open[calling->depth];

	if (calling->depth == CALL_DEPTH)
		return -ENOMEM;
	*call = (struct chunk_interval){
		.name = strdup(name),
		.start_ns = clock_ns(CLOCK_MONOTONIC) - marks->start_ns,
		.thread_id = calling->tid,
	};
	if (call->name == NULL)
		return -ENOMEM;
	calling->depth++;
	return 0;
}

static int end_call(struct marks *marks, struct calling *calling)
{
	struct chunk_interval *call;

	if (calling->depth == 0)
		return -EINVAL;
	call = &calling->open[--calling->depth];
	call->duration_ns = clock_ns(CLOCK_MONOTONIC) - marks->start_ns - call->start_ns;
	return keep_call(marks, call);
}

int marks_begin(struct marks *marks, uint64_t tid, const char *name)
{
	struct calling *calling = calling_of(marks, tid);

	return calling != NULL ? begin_call(marks, calling, name) : -ENOMEM;
}

int marks_end(struct marks *marks, uint64_t tid)
{
	struct calling *calling = calling_of(marks, tid);

	return calling != NULL ? end_call(marks, calling) : -ENOMEM;
}

void marks_free(struct marks *marks)
{
	struct calling *calling, *next;

	for (calling = marks->callings; calling != NULL; calling = next) {
		next = calling->next;
		for (uint32_t i = 0; i < calling->depth; i++)
			free(calling->open[i].name);
		free(calling);
	}
	for (size_t i = 0; i < marks->count; i++)
		free(marks->calls[i].name);
	free(marks->calls);
}
