/* SPDX-License-Identifier: MIT */
/*
 * matchcore.c - one core module of a wasm file against one of what ran, function by function.
 *
 * Positions may all be shifted by one constant: custom sections before the code come and go, and in
 * a component a core module lies somewhere. Each function whose positions are known allows shifts
 * from one number to another; when none is left for all functions, it is another module.
 */
#include "symtab/matchcore.h"

#include "symtab/symbols.h"
#include "symtab/utf8.h"

#include <inttypes.h>
#include <stdio.h>

enum { MAX_SHOWN = 8192, MAX_IN_WHY = 60 };

struct matchcore matchcore_begin(const struct wasmbin *file, uint32_t core)
{
	return (struct matchcore){
		.file = file,
		.core = core,
		.function = UINT32_MAX,
		.least_shift = INT64_MIN,
		.most_shift = INT64_MAX,
	};
}

/* The name of FUNCTION in the file, quoted for a message; "" when it has none. */
static void quote_file_name(const struct matchcore *match, uint32_t function, char *out,
			    size_t size)
{
	size_t length = 0;
	const char *name = wasmbin_function_name(match->file, match->core, function, &length);
	char text[MAX_IN_WHY];

	*out = '\0';
	if (name == NULL)
		return;
	utf8_fit(name, length, name, length, text, sizeof(text));
	snprintf(out, size, " `%s`", text);
}

static bool differ(struct matchcore *match, uint32_t function, const char *how)
{
	char name[MAX_IN_WHY + 8];

	quote_file_name(match, function, name, sizeof(name));
	match->differs = true;
	match->function = function;
	snprintf(match->why, sizeof(match->why), "function[%" PRIu32 "]%s %s", function, name, how);
	return false;
}

/* ---- names ---------------------------------------------------------------------------------- */

/* A name that we made ourselves for want of one says nothing. */
static bool is_made_up(const char *name)
{
	return strstr(name, "!wasm-function[") != NULL || strstr(name, "!wasm-code[") != NULL;
}

static bool shows_as(const char *name, size_t length, const char *shown)
{
	char text[MAX_SHOWN];

	utf8_fit(name, length, name, length, text, sizeof(text));
	return strcmp(text, shown) == 0;
}

static bool is_equal(const struct match_fact *fact, const char *name, size_t length)
{
	if (fact->form == FORM_CLEANED)
		return symbols_cleaned((const uint8_t *)name, length, fact->name,
				       fact->name_length);
	if (fact->form == FORM_SHOWN)
		return shows_as(name, length, fact->name);
	return length == fact->name_length && memcmp(name, fact->name, length) == 0;
}

/*
 * Only names of the name section are held against an image's, which has no others. What a recording
 * says may be an export's name where the module that ran had no name section.
 */
static bool check_name(struct matchcore *match, const struct match_fact *fact)
{
	char how[MAX_IN_WHY + 32], text[MAX_IN_WHY];
	size_t length = 0;
	const char *name;

	if (fact->form == FORM_NONE || fact->name_length == 0 ||
	    (fact->form == FORM_SHOWN && is_made_up(fact->name)))
		return true;
	name = wasmbin_section_name(match->file, match->core, fact->function, &length);
	if (name == NULL)
		return true;
	if (is_equal(fact, name, length)) {
		match->names++;
		return true;
	}
	utf8_fit(fact->name, fact->name_length, fact->name, fact->name_length, text, sizeof(text));
	snprintf(how, sizeof(how), "is `%s` in what ran", text);
	return differ(match, fact->function, how);
}

/* ---- positions ------------------------------------------------------------------------------ */

static bool check_extent(struct matchcore *match, const struct match_fact *fact,
			 const struct wasmbin_body *body)
{
	int64_t least, most;

	if (!fact->has_extent || body == NULL)
		return true;
	least = (int64_t)(fact->high - body->start - body->size) + 1;
	/* the first byte of a body counts its local variables: no engine gives it as a position */
	most = (int64_t)(fact->low - body->start) - 1;
	if (least > match->least_shift)
		match->least_shift = least;
	if (most < match->most_shift)
		match->most_shift = most;
	if (least > most)
		return differ(match, fact->function, "is shorter than what ran");
	if (match->least_shift > match->most_shift)
		return differ(match, fact->function, "is not where it was in what ran");
	match->extents++;
	return true;
}

static bool check_body(struct matchcore *match, const struct match_fact *fact,
		       const struct wasmbin_body *body)
{
	if (fact->body == NULL || body == NULL)
		return true;
	if (body->size != fact->body->size || body->hash != fact->body->hash)
		return differ(match, fact->function, "has another body in what ran");
	match->bodies++;
	return true;
}

bool matchcore_add(struct matchcore *match, const struct match_fact *fact)
{
	const struct wasmbin_core *core = &match->file->cores[match->core];
	const struct wasmbin_body *body = NULL;
	uint32_t number = fact->function - core->imported;

	if (match->differs)
		return false;
	if (fact->function < core->imported)
		return differ(match, fact->function, "is imported in the file");
	/* what only one of them has is told last: an earlier difference says more */
	if (number >= core->defined) {
		match->highest = number;
		return true;
	}
	if (number < core->body_count)
		body = &core->bodies[number];
	return check_name(match, fact) && check_extent(match, fact, body) &&
	       check_body(match, fact, body);
}

/* ---- the result ----------------------------------------------------------------------------- */

/* Counts differ, but nothing that both have does: the first that only one of them has. */
static void differ_in_count(struct matchcore *match, uint32_t count)
{
	uint32_t imported = wasmbin_imported_functions(match->file, match->core);
	uint32_t defined = wasmbin_defined_functions(match->file, match->core);
	uint32_t first = imported + (count < defined ? count : defined);
	char how[80];

	snprintf(how, sizeof(how), "is only in %s: %" PRIu32 " functions, %" PRIu32 " in what ran",
		 count < defined ? "the file" : "what ran", defined, count);
	differ(match, first, how);
}

enum match_strength matchcore_end(struct matchcore *match, uint32_t count, bool is_same_code)
{
	uint32_t imported = wasmbin_imported_functions(match->file, match->core);
	uint32_t defined = wasmbin_defined_functions(match->file, match->core);

	/* as alike as can be: the modules that tie a component together may have no function */
	if (is_same_code || (defined == 0 && count == 0))
		return MATCH_EXACT;
	if (!match->differs && count != UINT32_MAX && count != defined)
		differ_in_count(match, count);
	else if (!match->differs && match->highest >= defined)
		differ(match, imported + match->highest, "is not in the file");
	if (match->differs)
		return MATCH_NONE;
	/* one function's positions fit into too many others */
	if (match->bodies > 0 || match->extents > 1 ||
	    (match->extents == 1 && (defined == 1 || match->names > 0)))
		return MATCH_BY_LAYOUT;
	if (match->names > 0 && match->names >= defined / 2)
		return MATCH_BY_NAMES;
	snprintf(match->why, sizeof(match->why),
		 "too little is known of what ran: positions of %" PRIu32 ", names of %" PRIu32
		 " of %" PRIu32 " functions",
		 match->extents, match->names, defined);
	return MATCH_NONE;
}
