/* SPDX-License-Identifier: MIT */
/* label_lines.c - GUESTPROF_NAMES: a file that names modules by their identity. Threads: ours. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "preload/base/log.h"
#include "preload/profile/array.h"
#include "preload/profile/label_rules.h"

enum { FILE_MAX = 4 << 20, LEAST_DIGITS = 8, WORD_MAX = 512 };

/*
 * Takes the next word off *AT (a `#` ends the line), without the double quotes that may be around
 * it or around what follows a `=`. False: there is none, or it is too long.
 */
static bool take_word(const char **at, const char *end, char word[WORD_MAX])
{
	bool is_quoted = false;
	size_t length = 0;

	while (*at < end && isblank((unsigned char)**at))
		++*at;
	if (*at < end && **at == '#')
		*at = end;
	for (; *at < end && (is_quoted || !isspace((unsigned char)**at)); ++*at) {
		if (**at == '"')
			is_quoted = !is_quoted;
		else if (length < WORD_MAX)
			word[length++] = **at;
	}
	if (length == 0 || length == WORD_MAX)
		return false;
	word[length] = '\0';
	return true;
}

static bool take_identity(const char **at, const char *end, struct label_line *line)
{
	char word[WORD_MAX];
	size_t length;

	if (!take_word(at, end, word))
		return false;
	length = strspn(word, "0123456789abcdefABCDEF");
	if (word[length] != '\0' || length < LEAST_DIGITS || length >= IDENTITY_SIZE)
		return false;
	for (size_t i = 0; i <= length; i++)
		line->identity[i] = (char)tolower((unsigned char)word[i]);
	return true;
}

static bool add_label(struct label_line *line, const char *word)
{
	const char *equals = strchr(word, '=');
	struct label *rows;

	if (equals == NULL || !label_key_is_good(word, (size_t)(equals - word)) ||
	    line->label_count == LABELS_MAX)
		return false;
	rows = realloc(line->labels, (line->label_count + 1) * sizeof(*rows));
	if (rows == NULL)
		return false;
	line->labels = rows;
	rows += line->label_count++;
	snprintf(rows->key, sizeof(rows->key), "%.*s", (int)(equals - word), word);
	snprintf(rows->value, sizeof(rows->value), "%s", equals + 1);
	return true;
}

static void free_line(struct label_line *line)
{
	free(line->name);
	free(line->labels);
}

/* Reads the line from AT to END. False when it is not understood. */
static bool read_line(struct label_lines *lines, const char *at, const char *end)
{
	struct label_line line = { .name = NULL }, *rows;
	char word[WORD_MAX];
	bool is_good = take_identity(&at, end, &line) && take_word(&at, end, word);

	if (is_good && strcmp(word, "-") != 0) {
		line.name = strdup(word);
		is_good = line.name != NULL;
	}
	while (is_good && take_word(&at, end, word))
		is_good = add_label(&line, word);
	rows = !is_good || lines->count == LABEL_LINES_MAX
		       ? NULL
		       : array_room(lines->rows, &lines->capacity, lines->count, sizeof(*rows));
	if (rows == NULL) {
		free_line(&line);
		return false;
	}
	lines->rows = rows;
	rows[lines->count++] = line;
	return true;
}

static bool says_nothing(const char *at, const char *end)
{
	while (at < end && isspace((unsigned char)*at))
		at++;
	return at == end || *at == '#';
}

static void read_text(struct label_lines *lines, const char *path, const char *text, size_t size)
{
	const char *end = text + size, *at = text, *next;
	unsigned int number = 1, bad = 0;

	for (; at < end; at = next + 1, number++) {
		next = memchr(at, '\n', (size_t)(end - at));
		if (next == NULL)
			next = end;
		if (says_nothing(at, next) || read_line(lines, at, next))
			continue;
		if (bad++ == 0)
			log_line(LOG_ERROR, "GUESTPROF_NAMES: %.200s:%u: not understood; left out",
				 path, number);
	}
	if (bad > 1)
		log_line(LOG_ERROR, "GUESTPROF_NAMES: %.200s: %u such lines", path, bad);
}

/* The whole of a regular file; NULL with errno set. */
static char *read_file(const char *path, size_t *size)
{
	/* a name may be a pipe's: we are in a host, and wait for nobody */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	char *text = fd >= 0 ? malloc(FILE_MAX) : NULL;
	ssize_t got = 1;

	*size = 0;
	while (text != NULL && got > 0 && *size < FILE_MAX) {
		got = read(fd, text + *size, FILE_MAX - *size);
		if (got > 0)
			*size += (size_t)got;
	}
	if (text != NULL && (got < 0 || *size == FILE_MAX)) {
		if (got >= 0)
			errno = EFBIG;
		free(text);
		text = NULL;
	}
	if (fd >= 0)
		close(fd);
	return text;
}

void label_lines_read(struct label_lines *lines, const char *path)
{
	size_t size;
	char *text;

	*lines = (struct label_lines){ .count = 0 };
	if (path == NULL || *path == '\0')
		return;
	text = read_file(path, &size);
	if (text == NULL)
		log_line(LOG_ERROR, "GUESTPROF_NAMES: %.200s: %s", path, strerror(errno));
	else
		read_text(lines, path, text, size);
	free(text);
}

void label_lines_free(struct label_lines *lines)
{
	for (size_t i = 0; i < lines->count; i++)
		free_line(&lines->rows[i]);
	free(lines->rows);
	*lines = (struct label_lines){ .count = 0 };
}

const struct label_line *label_lines_find(const struct label_lines *lines,
					  const struct identity *identity)
{
	for (size_t i = 0; i < lines->count; i++) {
		const char *wanted = lines->rows[i].identity;
		size_t length = strlen(wanted);

		if (strncmp(identity->wasm, wanted, length) == 0 ||
		    strncmp(identity->code, wanted, length) == 0 ||
		    strncmp(identity->image, wanted, length) == 0 ||
		    strncmp(identity->build_id, wanted, length) == 0)
			return &lines->rows[i];
	}
	return NULL;
}
