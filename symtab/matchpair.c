/* SPDX-License-Identifier: MIT */
/*
 * matchpair.c - which core module of what ran is which of the file.
 */
#include "symtab/matchpair.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static bool is_same(const char *a, const char *b)
{
	return *a != '\0' && strcmp(a, b) == 0;
}

/*
 * An image has a position at the end of nearly every function, so that the least shift is the one.
 * Of a recording the samples must leave one only.
 */
static void set_shift(struct match_core *place, const struct matchcore *core, bool is_whole,
		      const struct identity *file, const struct identity *other)
{
	place->shift_is_known =
		core->extents > 0 && (is_whole || core->least_shift == core->most_shift);
	place->shift = place->shift_is_known ? core->least_shift : 0;
	if (file->code_offset == 0 || other->code_offset == 0)
		return;
	place->shift_is_known = true;
	place->shift = (int64_t)(other->code_offset - file->code_offset);
}

static void say_equal(struct match *match, const struct matchcore *core)
{
	if (match->strength == MATCH_EXACT)
		snprintf(match->why, sizeof(match->why), "the same code section");
	else
		snprintf(match->why, sizeof(match->why),
			 "%" PRIu32 " functions: %" PRIu32 " by position, %" PRIu32
			 " by body, %" PRIu32 " by name",
			 wasmbin_defined_functions(core->file, core->core), core->extents,
			 core->bodies, core->names);
}

/* Compares core module CORE of FILE with OF of OTHER. Sets MATCH's strength, place and why. */
static enum match_strength compare(const struct wasmbin *file, uint32_t core,
				   const struct match_other *other, uint32_t of, bool is_same_code,
				   struct match *match)
{
	struct matchcore result = matchcore_begin(file, core);
	struct match_core place = { .core = MATCH_NO_CORE };
	struct identity mine, its;
	uint32_t count;

	wasmbin_core_identity(file, core, &mine);
	other->identify(other->what, of, &its);
	if (other->core_count == 1 && file->core_count == 1)
		its = other->identity;
	is_same_code |= is_same(mine.code, its.code);
	count = other->compare(other->what, of, &result);
	match->strength = matchcore_end(&result, count, is_same_code);
	/* both are known, and not equal: that what was sampled fits proves nothing */
	if (match->strength != MATCH_EXACT && result.bodies == 0 && mine.code[0] != '\0' &&
	    its.code[0] != '\0') {
		if (match->strength != MATCH_NONE)
			snprintf(result.why, sizeof(result.why),
				 "its code section is another, though no function that can be "
				 "compared differs");
		match->strength = MATCH_NONE;
	}
	if (match->strength == MATCH_NONE) {
		snprintf(match->why, sizeof(match->why), "%s", result.why);
	} else {
		place.core = of;
		set_shift(&place, &result, other->is_whole, &mine, &its);
		say_equal(match, &result);
	}
	if (core < MATCH_CORES_MAX)
		match->cores[core] = place;
	return match->strength;
}

/* All core modules of both, in their order. */
static void compare_all(const struct wasmbin *file, const struct match_other *other,
			bool is_same_code, struct match *match)
{
	struct match least = { .strength = MATCH_EXACT }, one = *match;
	uint32_t i;

	for (i = 0; i < file->core_count; i++) {
		if (compare(file, i, other, i, is_same_code, &one) < least.strength || i == 0)
			least = one;
		if (least.strength == MATCH_NONE)
			break;
	}
	match->strength = least.strength;
	if (least.strength != MATCH_NONE)
		memcpy(match->cores, one.cores, sizeof(match->cores));
	if (file->core_count == 1)
		memcpy(match->why, least.why, sizeof(match->why));
	else if (least.strength == MATCH_NONE)
		snprintf(match->why, sizeof(match->why), "core module %" PRIu32 ": %.200s", i,
			 least.why);
	else
		snprintf(match->why, sizeof(match->why),
			 "%" PRIu32 " core modules, the least sure: %.180s", i, least.why);
}

/* A core module against each one of a component. */
static void find_core(const struct wasmbin *file, const struct match_other *other,
		      struct match *match)
{
	struct match best = { .strength = MATCH_NONE };
	uint32_t i;

	for (i = 0; i < other->core_count && best.strength != MATCH_EXACT; i++) {
		struct match one = *match;

		/* where none is it: what is said of the first */
		if (compare(file, 0, other, i, false, &one) > best.strength || i == 0)
			best = one;
	}
	if (best.strength == MATCH_NONE)
		snprintf(match->why, sizeof(match->why),
			 "none of its %" PRIu32 " core modules; of the first, %.160s",
			 other->core_count, best.why);
	else
		*match = best;
}

void matchpair_run(const struct wasmbin *file, const struct match_other *other, struct match *match)
{
	struct identity identity;
	uint32_t i;

	*match = (struct match){ .strength = MATCH_NONE };
	for (i = 0; i < MATCH_CORES_MAX; i++)
		match->cores[i].core = MATCH_NO_CORE;
	wasmbin_identity(file, &identity);
	if (is_same(identity.wasm, other->identity.wasm)) {
		match->strength = MATCH_EXACT;
		snprintf(match->why, sizeof(match->why), "the same bytes");
		for (i = 0; i < MATCH_CORES_MAX && i < file->core_count; i++)
			match->cores[i] = (struct match_core){ .core = i, .shift_is_known = true };
	} else if (file->core_count == 0 || other->core_count == 0) {
		snprintf(match->why, sizeof(match->why), "there is no core module to compare");
	} else if (file->core_count == other->core_count) {
		compare_all(file, other, is_same(identity.code, other->identity.code), match);
	} else if (file->core_count == 1 && other->core_count <= MATCHPAIR_CORES_MAX) {
		find_core(file, other, match);
	} else {
		snprintf(match->why, sizeof(match->why),
			 "the file has %" PRIu32 " core modules, what ran %" PRIu32,
			 file->core_count, other->core_count);
	}
}
