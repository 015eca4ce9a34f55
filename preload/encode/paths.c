/* SPDX-License-Identifier: MIT */
/* paths.c - expands the pattern of a recording's name. Threads: any; reads no live environment. */
#include "preload/encode/paths.h"

#include "symtab/utf8.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

static const char default_name[] = "guestprof.%e.%p.pb";

enum { ENVIRONMENT_MAX = 4 << 20 };

/* ---- facts ----------------------------------------------------------------------------------- */

/*
 * The environment as the process got it: environ itself belongs to the host, which may be changing
 * it on another thread.
 */
static char *read_environment(size_t *size)
{
	int fd = open("/proc/self/environ", O_RDONLY | O_CLOEXEC);
	size_t capacity = 64 * 1024;
	char *bytes = NULL, *more;
	ssize_t got = 1;

	*size = 0;
	while (fd >= 0 && got > 0 && capacity <= ENVIRONMENT_MAX) {
		more = realloc(bytes, capacity);
		if (more == NULL)
			break;
		bytes = more;
		got = read(fd, bytes + *size, capacity - *size - 1);
		if (got > 0)
			*size += (size_t)got;
		if (*size == capacity - 1)
			capacity *= 2;
	}
	if (fd >= 0)
		close(fd);
	if (bytes != NULL)
		bytes[*size] = '\0';
	return bytes;
}

void paths_facts(struct path_facts *facts, uint64_t start_unix_ns)
{
	struct utsname names;

	*facts = (struct path_facts){ .pid = (uint64_t)getpid(),
				      .start_s = start_unix_ns / 1000000000 };
	snprintf(facts->program, sizeof(facts->program), "%.63s", program_invocation_short_name);
	if (facts->program[0] == '\0')
		strcpy(facts->program, "unknown");
	if (uname(&names) == 0)
		snprintf(facts->host, sizeof(facts->host), "%.64s", names.nodename);
	facts->environment = read_environment(&facts->environment_size);
}

const char *paths_variable(const struct path_facts *facts, const char *name, size_t name_size)
{
	size_t at = 0;

	while (at < facts->environment_size) {
		const char *row = facts->environment + at;
		size_t size = strnlen(row, facts->environment_size - at);

		if (at + size == facts->environment_size)
			return NULL; /* not terminated */
		if (size > name_size && row[name_size] == '=' && memcmp(row, name, name_size) == 0)
			return row + name_size + 1;
		at += size + 1;
	}
	return NULL;
}

/* ---- the pattern ----------------------------------------------------------------------------- */

struct text {
	char *out;
	size_t size, used; /* room and bytes so far, without the terminator */
	bool is_full;
};

static void put(struct text *text, char byte)
{
	if (text->used + 1 >= text->size) {
		text->is_full = true;
		return;
	}
	text->out[text->used++] = byte;
	text->out[text->used] = '\0';
}

static bool is_control(char byte)
{
	return (unsigned char)byte < 0x20 || byte == 0x7f;
}

/* A value from outside: it names no directory and hides no file, but where it begins the pattern.
 */
static void put_value(struct text *text, const char *value)
{
	bool begins = text->used == 0;

	for (size_t i = 0; value[i] != '\0'; i++) {
		bool is_bad = is_control(value[i]) ||
			      (!begins && (value[i] == '/' || (i == 0 && value[i] == '.')));

		put(text, is_bad ? '_' : value[i]);
	}
}

static void put_number(struct text *text, uint64_t value)
{
	char digits[24];

	snprintf(digits, sizeof(digits), "%llu", (unsigned long long)value);
	put_value(text, digits);
}

/* `%{VAR}` at AT; returns what is behind it, or NULL when it is not closed. */
static const char *put_variable(struct text *text, const char *at, const struct path_facts *facts)
{
	const char *name = at + 2, *end = strchr(name, '}'), *value;

	if (end == NULL)
		return NULL;
	value = paths_variable(facts, name, (size_t)(end - name));
	if (value != NULL)
		put_value(text, value);
	return end + 1;
}

/*
 * What a program or host calls itself is no path, wherever in the pattern it stands, and no file is
 * to be shown under another name than it has.
 */
static void put_name(struct text *text, const char *name)
{
	size_t left = strlen(name);

	for (size_t at = 0; left > 0;) {
		size_t length = utf8_printable(name + at, left);
		bool is_bad = length == 0 || name[at] == '/' || (at == 0 && name[at] == '.');
		size_t taken = length == 0 ? 1 : length;

		for (size_t i = 0; !is_bad && i < length; i++)
			put(text, name[at + i]);
		if (is_bad)
			put(text, '_');
		at += taken;
		left -= taken;
	}
}

/* One escape at AT; returns what is behind it. Unknown ones stay as they are. */
static const char *put_escape(struct text *text, const char *at, const struct path_facts *facts)
{
	const char *behind;

	switch (at[1]) {
	case 'e':
		put_name(text, facts->program);
		return at + 2;
	case 'h':
		put_name(text, facts->host);
		return at + 2;
	case 'p':
		put_number(text, facts->pid);
		return at + 2;
	case 't':
		put_number(text, facts->start_s);
		return at + 2;
	case 'n':
		put(text, PATHS_SEQUENCE);
		return at + 2;
	case '{':
		behind = put_variable(text, at, facts);
		if (behind != NULL)
			return behind;
		break;
	case '%':
		put(text, '%');
		return at + 2;
	}
	put(text, '%');
	return at + 1;
}

static void put_pattern(struct text *text, const char *pattern, const struct path_facts *facts,
			bool literal)
{
	for (const char *at = pattern; *at != '\0';) {
		if (*at == '%' && !literal) {
			at = put_escape(text, at, facts);
		} else {
			put(text, is_control(*at) ? '_' : *at);
			at++;
		}
	}
}

/* ---- its parts ------------------------------------------------------------------------------- */

static bool cut_suffix(char *name, const char *suffix)
{
	size_t size = strlen(name), suffix_size = strlen(suffix);

	if (size <= suffix_size || strcmp(name + size - suffix_size, suffix) != 0)
		return false;
	name[size - suffix_size] = '\0';
	return true;
}

/* A text that was cut may end within a character of UTF-8. */
static void drop_last_character(char *text, size_t size)
{
	while (size > 1 && ((unsigned char)text[size - 1] & 0xc0) == 0x80)
		size--;
	text[size - 1] = '\0';
}

/* NAME becomes stem and suffixes. In a container every process is pid 1: the host tells them apart.
 */
static void set_stem(struct path *path, char *name, bool add_host, const struct path_facts *facts)
{
	struct text text = { .out = path->stem, .size = sizeof(path->stem) };

	path->has_gz = cut_suffix(name, ".gz");
	path->has_pb = cut_suffix(name, ".pb");
	path->stem[0] = '\0';
	for (const char *at = name; *at != '\0'; at++)
		put(&text, *at);
	if (add_host) {
		put(&text, '.');
		put_name(&text, facts->host);
	}
	if (text.is_full)
		drop_last_character(path->stem, text.used);
}

static int set_directory(struct path *path, const char *directory, size_t size,
			 const char *working_directory)
{
	struct text text = { .out = path->directory, .size = sizeof(path->directory) };

	path->directory[0] = '\0';
	if (size == 0 || directory[0] != '/') {
		for (const char *at = working_directory; at != NULL && *at != '\0'; at++)
			put(&text, *at);
		if (text.used == 0 || path->directory[text.used - 1] != '/')
			put(&text, '/');
	}
	for (size_t i = 0; i < size; i++)
		put(&text, directory[i] == PATHS_SEQUENCE ? '1' : directory[i]);
	while (text.used > 1 && path->directory[text.used - 1] == '/')
		path->directory[--text.used] = '\0';
	return text.is_full ? -ENAMETOOLONG : 0;
}

int paths_expand(const char *pattern, const struct path_facts *facts, const char *working_directory,
		 bool literal, struct path *path)
{
	char whole[PATH_MAX];
	struct text text = { .out = whole, .size = sizeof(whole) };
	char *slash, *name = whole;
	bool has_host = strstr(pattern, "%h") != NULL;

	whole[0] = '\0';
	put_pattern(&text, pattern, facts, literal);
	slash = strrchr(whole, '/');
	if (slash != NULL)
		name = slash + 1;
	if (*name == '\0') {
		put_pattern(&text, default_name, facts, false);
		literal = false;
	}
	if (text.is_full)
		return -ENAMETOOLONG;
	set_stem(path, name, facts->pid == 1 && !has_host && !literal, facts);
	return set_directory(path, whole, (size_t)(name - whole), working_directory);
}

void paths_candidate(const struct path *path, unsigned int try, const char *suffix, char *out)
{
	const char *sequence = strchr(path->stem, PATHS_SEQUENCE);

	if (sequence != NULL)
		snprintf(out, NAME_MAX + 1, "%.*s%u%s%s", (int)(sequence - path->stem), path->stem,
			 try + 1, sequence + 1, suffix);
	else if (try == 0)
		snprintf(out, NAME_MAX + 1, "%s%s", path->stem, suffix);
	else
		snprintf(out, NAME_MAX + 1, "%s.%u%s", path->stem, try, suffix);
	/* A second sequence is the same number; it is only ever read by people. */
	for (char *at = out; *at != '\0'; at++)
		if (*at == PATHS_SEQUENCE)
			*at = '1';
}
