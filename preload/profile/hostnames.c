/* SPDX-License-Identifier: MIT */
/* hostnames.c - the objects that were asked about, with their symbol tables. Threads: ours. */
#include "preload/profile/hostnames.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "preload/base/guarded.h"
#include "preload/base/log.h"
#include "preload/load/mapping.h"
#include "preload/unwind/unwind.h"
#include "symtab/objsyms.h"
#include "symtab/symtab.h"

enum {
	MAX_OBJECTS = 128,  /* a descriptor each */
	SHORTEN_ABOVE = 96, /* C++ names up to this length keep their arguments */
	MAX_SPANS = 16,
};

struct known {
	char *path;
	uintptr_t low;
	struct objsyms *symbols; /* NULL: it has none */
};

struct span {
	uintptr_t start, end;
};

static struct {
	struct span spans[MAX_SPANS]; /* generated code that was asked about, as it was then */
	size_t next_span;
	struct known objects[MAX_OBJECTS];
	size_t count;
	size_t oldest; /* the next to make room */
} self;

/* ---- shorter names --------------------------------------------------------------------------- */

static bool starts(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

/* The place behind the bracket that closes the one at TEXT; NULL: none does. */
static const char *behind_arguments(const char *text)
{
	int depth = 0;

	for (; *text != '\0'; text++) {
		/* arrows and comparisons are no brackets */
		if (starts(text, "->") || starts(text, "=>"))
			text++;
		else if (*text == '<')
			depth++;
		else if (*text == '>' && --depth == 0)
			return text + 1;
		if (*text == '\0')
			break;
	}
	return NULL;
}

/* `operator<`, `operator<<`, `operator<=`: the bracket is the name. */
static bool is_operator(const char *name, const char *at)
{
	while (at > name && (at[-1] == '<' || at[-1] == '='))
		at--;
	return at - name >= 8 && strncmp(at - 8, "operator", 8) == 0;
}

/* A bracket at the start, or after something that ends a path, opens a type: `<T as Trait>::f`. */
static bool opens_type(const char *name, const char *at)
{
	return at == name || strchr("<(,&* [", at[-1]) != NULL;
}

/*
 * Drops arguments: brackets that follow a name. Those that hold a type stay, unless the type is all
 * that they hold: `<T>::f` becomes `T::f`.
 */
static void drop_arguments(char *name)
{
	const char *from = name;
	char *to = name;
	bool bare[64] = { 0 };
	size_t depth = 0;

	while (*from != '\0') {
		const char *behind;

		if (*from == '>' && (from == name || (from[-1] != '-' && from[-1] != '='))) {
			depth -= depth > 0;
			from++;
			if (depth >= ARRAY_SIZE(bare) || !bare[depth])
				*to++ = '>';
			continue;
		}
		if (*from != '<' || is_operator(name, from)) {
			*to++ = *from++;
			continue;
		}
		behind = behind_arguments(from);
		if (opens_type(name, from) || behind == NULL) {
			const char *as = strstr(from, " as ");

			if (depth < ARRAY_SIZE(bare))
				bare[depth] = behind != NULL && (as == NULL || as > behind);
			if (depth >= ARRAY_SIZE(bare) || !bare[depth])
				*to++ = '<';
			depth++;
			from++;
			continue;
		}
		/* Rust's turbofish goes with its colons */
		if (to - name >= 2 && to[-1] == ':' && to[-2] == ':')
			to -= 2;
		from = behind;
	}
	*to = '\0';
}

/* C++: the parameters say little, and are most of a long name. */
static void drop_parameters(char *name)
{
	char *open = strchr(name, '(');

	if (open != NULL && open != name && strchr(open, ')') != NULL &&
	    strncmp(open, "(anonymous", 10) != 0)
		*open = '\0';
}

static size_t hex_digits(const char *text)
{
	return strspn(text, "0123456789abcdef");
}

/* Rust's hashes: of a crate, `core[8c5ac2f034688f9a]::`, and of a function, `::h6a61138fe3501f37`.
 */
static void drop_hashes(char *name)
{
	const char *from = name;
	char *to = name;

	while (*from != '\0') {
		size_t digits = *from == '[' ? hex_digits(from + 1) : 0;

		if (digits >= 8 && from[1 + digits] == ']' && starts(from + digits + 2, "::"))
			from += digits + 2;
		else if (starts(from, "::h") && hex_digits(from + 3) == 16 && from[19] == '\0')
			break;
		else
			*to++ = *from++;
	}
	*to = '\0';
}

static bool is_rust(const char *name)
{
	return strstr(name, "::{") != NULL || strstr(name, " as ") != NULL ||
	       strstr(name, "::<") != NULL || name[0] == '<';
}

void hostnames_shorten(char *name)
{
	drop_hashes(name);
	if (!is_rust(name) && strlen(name) <= SHORTEN_ABOVE)
		return;
	if (!is_rust(name))
		drop_parameters(name);
	drop_arguments(name);
}

/* ---- objects --------------------------------------------------------------------------------- */

static struct objsyms *open_symbols(const struct unwind_object *object)
{
	uint8_t header[OBJSYMS_HEADER];
	struct objsyms *symbols;
	bool is_there = !object->is_gone && guarded_read(object->low, header, sizeof(header)) == 0;

	symbols = objsyms_open(object->path, is_there ? header : NULL);
	if (symbols == NULL)
		log_line(LOG_DEBUG, "%s: no names of functions (%s)", object->path,
			 strerror(errno));
	return symbols;
}

static struct known *know(const struct unwind_object *object)
{
	struct known *known;

	for (size_t i = 0; i < self.count; i++)
		if (self.objects[i].low == object->low &&
		    strcmp(self.objects[i].path, object->path) == 0)
			return &self.objects[i];
	if (self.count < MAX_OBJECTS) {
		known = &self.objects[self.count];
	} else {
		known = &self.objects[self.oldest];
		self.oldest = (self.oldest + 1) % MAX_OBJECTS;
		objsyms_close(known->symbols);
		free(known->path);
		known->path = NULL;
	}
	*known = (struct known){ .path = strdup(object->path), .low = object->low };
	if (known->path == NULL)
		return NULL;
	known->symbols = open_symbols(object);
	if (self.count < MAX_OBJECTS)
		self.count++;
	return known;
}

/* `_ZN..E.llvm.1234`: what the linker's optimizer put behind a name. */
static size_t length_without_suffix(const char *name)
{
	const char *suffix = strstr(name, ".llvm.");

	return suffix != NULL ? (size_t)(suffix - name) : strlen(name);
}

static void show(const char *symbol, struct hostname *name)
{
	static char text[OBJSYMS_NAME_MAX];
	size_t length;

	demangle(symbol, length_without_suffix(symbol), text, sizeof(text));
	hostnames_shorten(text);
	length = strlen(text);
	/* a long name's end says more than its middle */
	if (length < sizeof(name->shown))
		memcpy(name->shown, text, length + 1);
	else
		snprintf(name->shown, sizeof(name->shown), "%.250s~%s", text, text + length - 250);
}

/* ---- generated code -------------------------------------------------------------------------- */

/* The mapping that holds PC, if there can be code in it; NULL. */
static const struct span *span_around(uint64_t pc)
{
	struct span *span;
	uintptr_t start, end;

	for (size_t i = 0; i < MAX_SPANS; i++)
		if (pc >= self.spans[i].start && pc < self.spans[i].end)
			return &self.spans[i];
	if (!mapping_around(pc, &start, &end))
		return NULL;
	span = &self.spans[self.next_span++ % MAX_SPANS];
	*span = (struct span){ start, end };
	return span;
}

static void show_without_object(uint64_t pc, struct hostname *name)
{
	const struct span *span = span_around(pc);

	if (span != NULL)
		snprintf(name->shown, sizeof(name->shown), "[jit 0x%zx+0x%zx]", span->start,
			 span->end - span->start);
	else
		snprintf(name->shown, sizeof(name->shown), "0x%llx", (unsigned long long)pc);
}

void hostnames_find(uint64_t pc, struct hostname *name)
{
	struct unwind_object object;
	const char *slash, *symbol = NULL;
	struct known *known;

	*name = (struct hostname){ .object = "" };
	if (!unwind_find_object(pc, &object)) {
		show_without_object(pc, name);
		return;
	}
	slash = strrchr(object.path, '/');
	snprintf(name->object, sizeof(name->object), "%s", slash == NULL ? object.path : slash + 1);
	known = know(&object);
	if (known != NULL && known->symbols != NULL)
		symbol = objsyms_find(known->symbols, pc - object.base);
	name->is_symbol = symbol != NULL;
	if (symbol == NULL) {
		snprintf(name->shown, sizeof(name->shown), "%.120s+0x%llx", name->object,
			 (unsigned long long)(pc - object.base));
		return;
	}
	show(symbol, name);
}

void hostnames_forget(void)
{
	for (size_t i = 0; i < self.count; i++) {
		objsyms_close(self.objects[i].symbols);
		free(self.objects[i].path);
	}
	self.count = self.oldest = self.next_span = 0;
	memset(self.spans, 0, sizeof(self.spans));
}
