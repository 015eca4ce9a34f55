/* SPDX-License-Identifier: MIT */
/* received.c - bytes from a socket to a file. Threads: one at a time. */
#include "preload/cmd/live/received.h"

#include "preload/cmd/say.h"
#include "preload/export/output.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PIECE = 64 * 1024, NAMES_MAX = 10000 };

static bool ends_in_gz(const char *path)
{
	size_t length = strlen(path);

	return length > 3 && strcmp(path + length - 3, ".gz") == 0;
}

/* A finished recording comes as the file that it is: compressed already (RFC 1952, 2.3.1). */
static bool is_gzip(const uint8_t *bytes, int size)
{
	return size >= 2 && bytes[0] == 0x1f && bytes[1] == 0x8b;
}

static int copy(struct dialogue *dialogue, const char *path, uint8_t *buffer, int got)
{
	struct output *output = output_open(path, ends_in_gz(path) && !is_gzip(buffer, got));
	int error;

	if (output == NULL)
		return -errno;
	while (got > 0) {
		output_bytes(output, buffer, (size_t)got);
		got = dialogue_read(dialogue, buffer, PIECE);
	}
	error = output_close(output, got == 0);
	return got < 0 ? got : error;
}

int received_save(struct dialogue *dialogue, const char *path)
{
	static uint8_t buffer[PIECE];
	int got, error;

	if (strcmp(path, "-") == 0 && isatty(STDOUT_FILENO)) {
		say_line("-o -: a recording is not for a terminal");
		return -EINVAL;
	}
	got = dialogue_read(dialogue, buffer, PIECE);
	error = got < 0 ? got : copy(dialogue, path, buffer, got);
	if (error != 0)
		say_line("%s: %s", path, strerror(-error));
	return error;
}

char *received_name(const char *program, uint64_t pid)
{
	char safe[64];
	char *name;
	size_t i;

	/* What a program calls itself is no path. */
	for (i = 0; program[i] != '\0' && i < sizeof(safe) - 1; i++)
		safe[i] = program[i] == '/' || program[i] < ' ' ? '_' : program[i];
	safe[i] = '\0';
	for (int number = 0; number < NAMES_MAX; number++) {
		char suffix[16] = "";

		if (number > 0)
			snprintf(suffix, sizeof(suffix), ".%d", number);
		if (asprintf(&name, "guestprof.%s.%llu%s.pb.gz", safe, (unsigned long long)pid,
			     suffix) < 0)
			return NULL;
		if (access(name, F_OK) != 0)
			return name;
		free(name);
	}
	return NULL;
}
