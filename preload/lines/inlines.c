/* SPDX-License-Identifier: MIT */
/* inlines.c - walks over a function's entries once (DWARF 5, 3.3.8). Threads: one at a time. */
#include "preload/lines/inlines.h"

#include "preload/lines/array.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH_MAX = 512, ENTRIES_MAX = 20000000, SEGMENTS_MAX = 1 << 17 };

struct walk {
	struct inlines *inlines;
	uint32_t left; /* entries that may still be looked at */
};

/* How many segments begin at or before ADDRESS. */
static size_t count_before(const struct inlines *inlines, uint64_t address)
{
	size_t low = 0, high = inlines->segment_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (inlines->segments[middle].low <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Adds SEGMENT in its place; it replaces one that begins where it does. */
static int put_segment(struct inlines *inlines, const struct inline_segment *segment)
{
	size_t at = count_before(inlines, segment->low);
	int error;

	if (at != 0 && inlines->segments[at - 1].low == segment->low) {
		inlines->segments[at - 1] = *segment;
		return 0;
	}
	error = array_reserve(&inlines->segments, &inlines->segment_room, inlines->segment_count,
			      sizeof(*inlines->segments));
	if (error != 0)
		return error;
	memmove(&inlines->segments[at + 1], &inlines->segments[at],
		(inlines->segment_count - at) * sizeof(*inlines->segments));
	inlines->segments[at] = *segment;
	inlines->segment_count++;
	return 0;
}

/* Takes [LOW, HIGH) for CALL out of the segment that LOW is in. */
static int add_segment(struct inlines *inlines, uint64_t low, uint64_t high, uint32_t call)
{
	size_t before = count_before(inlines, low);
	struct inline_segment rest;
	int error = 0;

	if (before != 0 && low < inlines->segments[before - 1].high) {
		rest = inlines->segments[before - 1];
		if (low > rest.low)
			inlines->segments[before - 1].high = low;
		rest.low = high;
		if (rest.low < rest.high)
			error = put_segment(inlines, &rest);
	}
	return error != 0 ? error
			  : put_segment(inlines, &(struct inline_segment){ low, high, call });
}

static int add_ranges(struct inlines *inlines, Dwarf_Die *entry, uint32_t call)
{
	Dwarf_Addr base, low, high;
	ptrdiff_t at = 0;
	int error = 0;

	while (error == 0 && (at = dwarf_ranges(entry, at, &base, &low, &high)) > 0) {
		if (inlines->segment_count > SEGMENTS_MAX)
			return -EBADMSG;
		if (low < high)
			error = add_segment(inlines, low, high, call);
	}
	return error;
}

static int add_call(struct inlines *inlines, Dwarf_Die *entry, uint32_t parent)
{
	uint32_t call = (uint32_t)inlines->call_count;
	int error =
		array_reserve(&inlines->calls, &inlines->call_room, call, sizeof(*inlines->calls));

	if (error != 0)
		return error;
	inlines->calls[inlines->call_count++] = (struct inline_call){ *entry, parent };
	return add_ranges(inlines, entry, call);
}

static bool is_block(int tag)
{
	return tag == DW_TAG_lexical_block || tag == DW_TAG_try_block || tag == DW_TAG_catch_block;
}

/* CALL: the one that PARENT is, or is inside of. */
static int walk_inside(struct walk *walk, Dwarf_Die *parent, uint32_t call, unsigned int depth)
{
	Dwarf_Die entry;
	int result = dwarf_child(parent, &entry), error = 0;

	if (depth > DEPTH_MAX)
		return -EBADMSG;
	while (result == 0 && error == 0) {
		int tag = dwarf_tag(&entry);
		uint32_t inside = call;

		if (walk->left-- == 0)
			return -EBADMSG;
		if (tag == DW_TAG_inlined_subroutine) {
			inside = (uint32_t)walk->inlines->call_count;
			error = add_call(walk->inlines, &entry, call);
		}
		if (error == 0 && (inside != call || is_block(tag)))
			error = walk_inside(walk, &entry, inside, depth + 1);
		if (error == 0)
			result = dwarf_siblingof(&entry, &entry);
	}
	return error != 0 ? error : result < 0 ? -EBADMSG : 0;
}

int inlines_read(struct inlines *inlines, Dwarf_Die *function)
{
	struct walk walk = { .inlines = inlines, .left = ENTRIES_MAX };
	int error;

	if (inlines->function == dwarf_dieoffset(function))
		return 0;
	inlines->function = 0;
	inlines->call_count = 0;
	inlines->segment_count = 0;
	error = add_ranges(inlines, function, INLINES_NONE);
	if (error == 0)
		error = walk_inside(&walk, function, INLINES_NONE, 0);
	if (error == 0)
		inlines->function = dwarf_dieoffset(function);
	return error;
}

void inlines_free(struct inlines *inlines)
{
	free(inlines->calls);
	free(inlines->segments);
	*inlines = (struct inlines){ 0 };
}

uint32_t inlines_find(const struct inlines *inlines, uint64_t address)
{
	size_t before = count_before(inlines, address);

	if (before == 0 || address >= inlines->segments[before - 1].high)
		return INLINES_NONE;
	return inlines->segments[before - 1].call;
}

static const char *text_of(Dwarf_Die *entry, unsigned int attribute)
{
	Dwarf_Attribute found;
	const char *text = NULL;

	if (dwarf_attr_integrate(entry, attribute, &found) != NULL)
		text = dwarf_formstring(&found);
	return text != NULL && text[0] != '\0' ? text : NULL;
}

const char *inlines_name(Dwarf_Die *entry)
{
	static const unsigned int attributes[] = { DW_AT_linkage_name, DW_AT_MIPS_linkage_name,
						   DW_AT_name };
	const char *name = NULL;

	for (size_t i = 0; name == NULL && i < ARRAY_SIZE(attributes); i++)
		name = text_of(entry, attributes[i]);
	return name;
}

uint64_t inlines_number(Dwarf_Die *entry, unsigned int attribute)
{
	Dwarf_Attribute found;
	Dwarf_Word number;

	if (dwarf_attr_integrate(entry, attribute, &found) == NULL ||
	    dwarf_formudata(&found, &number) != 0)
		return 0;
	return number;
}
