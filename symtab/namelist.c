/* SPDX-License-Identifier: MIT */
/* namelist.c - reads names files, bounded. Threads: one at a time. */
#include "symtab/namelist.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FILE_MAX = 4 << 20, FIRST_ROWS = 16, LEAST_DIGITS = 8, WORD_MAX = 512 };

/* Labels of ours, and what views take for times and weights. */
static const char *const own_keys[] = { "wasm_module", "wasm_instance", "wasm_state", "thread_name",
					"thread_id",   "descriptor",	"time" };

bool namelist_key_is_good(const char *key, size_t length)
{
	if (length == 0 || length >= LABEL_KEY_SIZE)
		return false;
	for (size_t i = 0; i < length; i++)
		if (!isalnum((unsigned char)key[i]) && strchr("_.-", key[i]) == NULL)
			return false;
	for (size_t i = 0; i < ARRAY_SIZE(own_keys); i++)
		if (strlen(own_keys[i]) == length && memcmp(own_keys[i], key, length) == 0)
			return false;
	return true;
}

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

static bool take_identity(const char **at, const char *end, struct namelist_row *row)
{
	char word[WORD_MAX];
	size_t length;

	if (!take_word(at, end, word))
		return false;
	length = strspn(word, "0123456789abcdefABCDEF");
	if (word[length] != '\0' || length < LEAST_DIGITS || length >= IDENTITY_SIZE)
		return false;
	for (size_t i = 0; i <= length; i++)
		row->identity[i] = (char)tolower((unsigned char)word[i]);
	return true;
}

static bool add_label(struct namelist_row *row, const char *word)
{
	const char *equals = strchr(word, '=');
	struct label *rows;

	if (equals == NULL || !namelist_key_is_good(word, (size_t)(equals - word)) ||
	    row->label_count == LABELS_MAX)
		return false;
	rows = realloc(row->labels, (row->label_count + 1) * sizeof(*rows));
	if (rows == NULL)
		return false;
	row->labels = rows;
	rows += row->label_count++;
	snprintf(rows->key, sizeof(rows->key), "%.*s", (int)(equals - word), word);
	snprintf(rows->value, sizeof(rows->value), "%s", equals + 1);
	return true;
}

static void free_row(struct namelist_row *row)
{
	free(row->name);
	free(row->labels);
}

/* Makes room for one row more. */
static struct namelist_row *next_row(struct namelist *list)
{
	size_t capacity = list->capacity == 0 ? FIRST_ROWS : 2 * list->capacity;
	struct namelist_row *rows;

	if (list->count == NAMELIST_ROWS_MAX)
		return NULL;
	if (list->count == list->capacity) {
		rows = realloc(list->rows, capacity * sizeof(*rows));
		if (rows == NULL)
			return NULL;
		list->rows = rows;
		list->capacity = capacity;
	}
	return &list->rows[list->count];
}

/* Reads the line from AT to END. False when it is not understood. */
static bool read_line(struct namelist *list, const char *at, const char *end)
{
	struct namelist_row row = { .name = NULL }, *next;
	char word[WORD_MAX];
	bool is_good = take_identity(&at, end, &row) && take_word(&at, end, word);

	if (is_good && strcmp(word, "-") != 0) {
		row.name = strdup(word);
		is_good = row.name != NULL;
	}
	while (is_good && take_word(&at, end, word))
		is_good = add_label(&row, word);
	next = is_good ? next_row(list) : NULL;
	if (next == NULL) {
		free_row(&row);
		return false;
	}
	*next = row;
	list->count++;
	return true;
}

static bool says_nothing(const char *at, const char *end)
{
	while (at < end && isspace((unsigned char)*at))
		at++;
	return at == end || *at == '#';
}

static void read_text(struct namelist *list, const char *text, size_t size)
{
	const char *end = text + size, *at = text, *next;
	unsigned int number = 1;

	for (; at < end; at = next + 1, number++) {
		next = memchr(at, '\n', (size_t)(end - at));
		if (next == NULL)
			next = end;
		if (says_nothing(at, next) || read_line(list, at, next))
			continue;
		if (list->bad++ == 0)
			list->first_bad = number;
	}
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

int namelist_read(struct namelist *list, const char *path)
{
	size_t size;
	char *text;

	*list = (struct namelist){ .count = 0 };
	text = read_file(path, &size);
	if (text == NULL)
		return -errno;
	read_text(list, text, size);
	free(text);
	return 0;
}

void namelist_free(struct namelist *list)
{
	for (size_t i = 0; i < list->count; i++)
		free_row(&list->rows[i]);
	free(list->rows);
	*list = (struct namelist){ .count = 0 };
}

const struct namelist_row *namelist_find(const struct namelist *list,
					 const struct identity *identity)
{
	for (size_t i = 0; i < list->count; i++) {
		const char *wanted = list->rows[i].identity;
		size_t length = strlen(wanted);

		if (strncmp(identity->wasm, wanted, length) == 0 ||
		    strncmp(identity->code, wanted, length) == 0 ||
		    strncmp(identity->image, wanted, length) == 0 ||
		    strncmp(identity->build_id, wanted, length) == 0)
			return &list->rows[i];
	}
	return NULL;
}
