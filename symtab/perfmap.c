/* SPDX-License-Identifier: MIT */
/* perfmap.c - two numbers and a name. */
#include "symtab/perfmap.h"

struct rest {
	const char *at, *end;
};

static int digit_of(char letter)
{
	if (letter >= '0' && letter <= '9')
		return letter - '0';
	letter |= 0x20;
	return letter >= 'a' && letter <= 'f' ? letter - 'a' + 10 : -1;
}

/* Some writers put 0x before their numbers. */
static void skip_prefix(struct rest *rest)
{
	if (rest->end - rest->at > 2 && rest->at[0] == '0' && (rest->at[1] | 0x20) == 'x')
		rest->at += 2;
}

/* A number of at most 16 digits, and the blanks behind it, of which there is one at least. */
static bool number(struct rest *rest, uint64_t *value)
{
	const char *first;

	skip_prefix(rest);
	first = rest->at;
	*value = 0;
	while (rest->at < rest->end && digit_of(*rest->at) >= 0)
		*value = *value << 4 | (uint64_t)digit_of(*rest->at++);
	if (rest->at == first || rest->at - first > 16 || rest->at == rest->end || *rest->at != ' ')
		return false;
	while (rest->at < rest->end && *rest->at == ' ')
		rest->at++;
	return true;
}

bool perfmap_line(const char *line, size_t length, struct perfmap_entry *entry)
{
	struct rest rest = { line, line + length };
	uint64_t start, size;

	if (!number(&rest, &start) || !number(&rest, &size))
		return false;
	while (rest.end > rest.at && (rest.end[-1] == '\r' || rest.end[-1] == ' '))
		rest.end--;
	if (rest.at == rest.end || start == 0 || size == 0 || start + size < start)
		return false;
	*entry = (struct perfmap_entry){
		.start = start,
		.size = size,
		.name = rest.at,
		.name_length = (size_t)(rest.end - rest.at),
	};
	return true;
}
