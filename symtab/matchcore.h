/* SPDX-License-Identifier: MIT */
/*
 * matchcore.h - one core module of a wasm file against one of what ran, function by function.
 */
#ifndef SYMTAB_MATCHCORE_H
#define SYMTAB_MATCHCORE_H

#include "symtab/match.h"
#include "symtab/wasmparts.h"

/* How a name was changed on its way to us. */
enum name_form {
	FORM_NONE,
	FORM_RAW,
	FORM_CLEANED, /* as the engine writes symbols: symbols_cleaned() */
	FORM_SHOWN,   /* as module_symbol_system_name() gives it, terminated */
};

/* What is known of one function that ran. */
struct match_fact {
	uint32_t function; /* index including imports */
	enum name_form form;
	const char *name;
	size_t name_length;
	bool has_extent; /* the lowest and the highest known position of its instructions */
	uint64_t low, high;
	const struct wasmbin_body *body; /* NULL: unknown */
};

struct matchcore {
	const struct wasmbin *file;
	uint32_t core;
	/* results so far */
	bool differs;
	uint32_t function;		 /* the first that differs; UINT32_MAX: no function */
	uint32_t highest;		 /* definition that the file has not; 0: none */
	uint32_t names, extents, bodies; /* that were compared, and equal */
	int64_t least_shift, most_shift;
	char why[200]; /* of a difference */
};

struct matchcore matchcore_begin(const struct wasmbin *file, uint32_t core);

/* Compares one more function. Returns false when it differs: MATCH says why, and is done. */
bool matchcore_add(struct matchcore *match, const struct match_fact *fact);

/*
 * At the end: what ran defines COUNT functions (UINT32_MAX: unknown). Returns the strength, which
 * is MATCH_EXACT where IS_SAME_CODE, and sets why where it is MATCH_NONE.
 */
enum match_strength matchcore_end(struct matchcore *match, uint32_t count, bool is_same_code);

#endif /* SYMTAB_MATCHCORE_H */
