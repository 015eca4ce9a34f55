/* SPDX-License-Identifier: MIT */
/*
 * apart.c - asks in a child process, and reads its answers from a pipe.
 *
 *   answer: u8 flags, u32 core, u32 function, u32 frames; frame: u32 line, column, start line, two
 * texts text: u32 size with the zero, bytes, zero; size 0: none
 *
 * Threads: of a process without threads, for it forks and goes on.
 */
#include "preload/lines/apart.h"

#include "preload/lines/array.h"

#include "symtab/cursor.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { IS_KNOWN = 1, IS_DAMAGED = 2 };
enum { SECONDS_MAX = 60, CHUNK = 1 << 16, TEXT_MAX = 1 << 16 };
#define MESSAGE_MAX ((size_t)1 << 30)
#define MEMORY_MAX ((rlim_t)8 << 30)

/* ---- the child --------------------------------------------------------------------------------
 */

static void put_number(FILE *out, uint32_t number)
{
	fwrite(&number, sizeof(number), 1, out);
}

static void put_text(FILE *out, const char *text)
{
	size_t size = text != NULL ? strnlen(text, TEXT_MAX) : 0;

	put_number(out, text != NULL ? (uint32_t)size + 1 : 0);
	if (text == NULL)
		return;
	fwrite(text, 1, size, out);
	putc(0, out);
}

static void put_answer(FILE *out, int error, const struct lines_place *place)
{
	putc((error == 0 ? IS_KNOWN : 0) | (place->is_damaged ? IS_DAMAGED : 0), out);
	put_number(out, place->core);
	put_number(out, place->function);
	put_number(out, (uint32_t)place->frame_count);
	for (size_t i = 0; i < place->frame_count; i++) {
		const struct lines_frame *frame = &place->frames[i];

		put_number(out, frame->line);
		put_number(out, frame->column);
		put_number(out, frame->start_line);
		put_text(out, frame->name);
		put_text(out, frame->file);
	}
}

static void limit(int resource, rlim_t value)
{
	struct rlimit limits;

	if (getrlimit(resource, &limits) != 0 || limits.rlim_cur <= value)
		return;
	limits.rlim_cur = value;
	setrlimit(resource, &limits);
}

static _Noreturn void answer_all(struct lines *lines, const uint64_t *positions, size_t count,
				 int fd)
{
	static const int deadly[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGPIPE, SIGXCPU };
	FILE *out = fdopen(fd, "w");
	struct lines_place *place = calloc(1, sizeof(*place));

	limit(RLIMIT_CORE, 0);
	limit(RLIMIT_CPU, SECONDS_MAX);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && !defined(__clang__)
	limit(RLIMIT_AS, MEMORY_MAX); /* sanitizers reserve terabytes */
#endif
	/* whoever handles these in the parent does not mean the child */
	for (size_t i = 0; i < ARRAY_SIZE(deadly); i++)
		signal(deadly[i], SIG_DFL);
	if (out == NULL || place == NULL)
		_exit(1);
	for (size_t i = 0; i < count; i++) {
		int error = lines_find(lines, positions[i], place);

		if (error == -ENOMEM)
			_exit(1);
		put_answer(out, error, place);
	}
	/* not exit(): the buffers of stdio are also the parent's */
	_exit(fflush(out) == 0 ? 0 : 1);
}

/* ---- the parent -------------------------------------------------------------------------------
 */

struct reading {
	struct apart *apart;
	size_t size, room; /* of the message */
	size_t frame_count, frame_room;
};

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Whether something came before DEADLINE. */
static bool wait_for(int fd, int64_t deadline_ms)
{
	struct pollfd poll_fd = { .fd = fd, .events = POLLIN };
	int64_t left = deadline_ms - now_ms();
	int ready;

	if (left <= 0)
		return false;
	do
		ready = poll(&poll_fd, 1, (int)left);
	while (ready < 0 && errno == EINTR);
	return ready > 0;
}

/* 0 at the end of the message, -ETIME, -EFBIG, -ENOMEM, or what read() gives. */
static int receive(struct reading *reading, int fd)
{
	int64_t deadline_ms = now_ms() + SECONDS_MAX * 1000;

	for (;;) {
		ssize_t more;

		if (!wait_for(fd, deadline_ms))
			return -ETIME;
		if (reading->size > MESSAGE_MAX)
			return -EFBIG;
		if (array_reserve(&reading->apart->message, &reading->room, reading->size + CHUNK,
				  1) != 0)
			return -ENOMEM;
		more = read(fd, reading->apart->message + reading->size, CHUNK);
		if (more == 0)
			return 0;
		if (more < 0 && errno != EINTR)
			return -errno;
		if (more > 0)
			reading->size += (size_t)more;
	}
}

static const char *read_text(struct cursor *cursor)
{
	uint32_t size = cursor_u32le(cursor);
	const uint8_t *bytes = cursor_bytes(cursor, size);

	if (size == 0 || bytes == NULL)
		return NULL;
	if (bytes[size - 1] != 0)
		cursor_fail(cursor);
	return cursor->failed ? NULL : (const char *)bytes;
}

static int read_frame(struct reading *reading, struct cursor *cursor)
{
	struct lines_frame *frame;

	if (array_reserve(&reading->apart->frames, &reading->frame_room, reading->frame_count,
			  sizeof(*reading->apart->frames)) != 0)
		return -ENOMEM;
	frame = &reading->apart->frames[reading->frame_count++];
	frame->line = cursor_u32le(cursor);
	frame->column = cursor_u32le(cursor);
	frame->start_line = cursor_u32le(cursor);
	frame->name = read_text(cursor);
	frame->file = read_text(cursor);
	return 0;
}

/* An answer that the child did not finish is none. */
static int read_answer(struct reading *reading, struct cursor *cursor, struct apart_answer *answer)
{
	uint8_t flags = cursor_u8(cursor);
	uint32_t core = cursor_u32le(cursor), function = cursor_u32le(cursor);
	uint32_t frames = cursor_u32le(cursor);
	int error = 0;

	for (uint32_t i = 0; i < frames && error == 0 && !cursor->failed; i++)
		error = read_frame(reading, cursor);
	if (error != 0 || cursor->failed)
		return error;
	*answer = (struct apart_answer){
		.is_known = (flags & IS_KNOWN) != 0,
		.is_damaged = (flags & IS_DAMAGED) != 0,
		.core = core,
		.function = function,
		.frame_count = frames,
	};
	return 0;
}

/* Frames follow each other as their answers do; only now they stay where they are. */
static void set_frames(struct apart *apart)
{
	size_t at = 0;

	for (size_t i = 0; i < apart->count; i++) {
		apart->answers[i].frames = apart->frames + at;
		at += apart->answers[i].frame_count;
	}
}

static int read_answers(struct reading *reading)
{
	struct apart *apart = reading->apart;
	struct cursor cursor = cursor_of(apart->message, reading->size);
	int error = 0;

	for (size_t i = 0; i < apart->count && error == 0 && !cursor.failed; i++)
		error = read_answer(reading, &cursor, &apart->answers[i]);
	set_frames(apart);
	return error;
}

static void end_child(struct apart *apart, pid_t child, int error)
{
	int status = 0;

	if (error != 0)
		kill(child, SIGKILL);
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	if (error == -ETIME || (WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU))
		snprintf(apart->problem, sizeof(apart->problem), "reading it takes too long");
	else if (error != 0)
		snprintf(apart->problem, sizeof(apart->problem), "%s", strerror(-error));
	else if (WIFSIGNALED(status))
		snprintf(apart->problem, sizeof(apart->problem), "reading it crashes (signal %d)",
			 WTERMSIG(status));
	else if (WEXITSTATUS(status) != 0)
		snprintf(apart->problem, sizeof(apart->problem),
			 "reading it takes too much memory");
}

int apart_find(struct apart *apart, struct lines *lines, const uint64_t *positions, size_t count)
{
	struct reading reading = { .apart = apart };
	int ends[2], error;
	pid_t child;

	*apart = (struct apart){ .count = count };
	apart->answers = calloc(count != 0 ? count : 1, sizeof(*apart->answers));
	if (apart->answers == NULL || pipe(ends) != 0)
		return -ENOMEM;
	child = fork();
	if (child == 0) {
		close(ends[0]);
		answer_all(lines, positions, count, ends[1]);
	}
	close(ends[1]);
	if (child > 0) {
		error = receive(&reading, ends[0]);
		end_child(apart, child, error);
	}
	close(ends[0]);
	return child < 0 ? -ENOMEM : read_answers(&reading);
}

void apart_free(struct apart *apart)
{
	free(apart->answers);
	free(apart->frames);
	free(apart->message);
	*apart = (struct apart){ 0 };
}
