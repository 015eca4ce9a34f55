/* SPDX-License-Identifier: MIT */
/*
 * funckeys.c - what each code range of an image without symbols is, from the engine's own table.
 *
 * wasmtime's CompiledFunctionsTable (crates/environ, 37 to 50), all numbers uleb:
 *	n, namespace[n]         kind << 28 | core module, ascending
 *	n, start[n]             where the namespace begins in the list of functions
 *	n, n numbers            not needed
 *	n, n numbers            not needed
 *	m, m numbers            not needed
 *	l, { offset, size }[l]  the functions, ascending; size 0: a number that has no code
 * It is somewhere in .wasmtime.info. That its functions are the ranges of .eh_frame, all of them in
 * their order, leaves no doubt about which bytes it is.
 */
#include "symtab/funckeys.h"

#include "symtab/cursor.h"

enum {
	KIND_FUNCTION = 0,
	KIND_ENTRY = 1,
	KIND_BUILTIN = 3,
	KIND_PATCHABLE_BUILTIN = 4,
	KIND_STARTUP = 9, /* of a module: called by wasm, then by the host */
	WORK_PER_BYTE = 12,
};

struct table {
	struct cursor namespaces, starts, functions; /* at the first number */
	uint32_t namespace_count, function_count;
};

struct finder {
	struct cursor info;
	uint64_t work; /* numbers that may still be looked at */
};

/* Counts one number; false when too many were looked at. */
static bool work(struct finder *finder)
{
	if (finder->work == 0)
		return false;
	finder->work--;
	return true;
}

static void skip(struct finder *finder, struct cursor *cursor, uint32_t count)
{
	for (; count > 0 && !cursor->failed; count--) {
		cursor_uleb32(cursor);
		if (!work(finder))
			cursor_fail(cursor);
	}
}

/* Takes a count and that many numbers, each larger than the one before. Returns the count, or 0. */
static uint32_t take_ascending(struct finder *finder, struct cursor *cursor, struct cursor *first)
{
	uint32_t count = cursor_uleb32(cursor), i, number, before = 0;

	*first = *cursor;
	if (count == 0 || count > cursor_left(cursor))
		return 0;
	for (i = 0; i < count; i++) {
		number = cursor_uleb32(cursor);
		if (cursor->failed || (i > 0 && number <= before) || !work(finder))
			return 0;
		before = number;
	}
	return count;
}

static bool read_table(struct finder *finder, size_t at, struct table *table)
{
	struct cursor cursor = finder->info;
	uint32_t i, count;

	cursor.at = at;
	count = take_ascending(finder, &cursor, &table->namespaces);
	if (count == 0 || take_ascending(finder, &cursor, &table->starts) != count)
		return false;
	for (i = 0; i < 2; i++) {
		if (cursor_uleb32(&cursor) != count)
			return false;
		skip(finder, &cursor, count);
	}
	skip(finder, &cursor, cursor_uleb32(&cursor));
	table->namespace_count = count;
	table->function_count = cursor_uleb32(&cursor);
	table->functions = cursor;
	return !cursor.failed && table->function_count <= cursor_left(&cursor) / 2;
}

/* Whether the functions of TABLE that have code are the ranges of SYMBOLS. */
static bool is_of(struct finder *finder, const struct table *table, const struct symbols *symbols)
{
	struct cursor functions = table->functions;
	uint32_t i, next = 0;

	for (i = 0; i < table->function_count; i++) {
		uint32_t offset = cursor_uleb32(&functions), size = cursor_uleb32(&functions);
		const struct symbol *symbol;

		if (functions.failed || !work(finder))
			return false;
		if (size == 0)
			continue;
		if (next == symbols->count)
			return false;
		symbol = &symbols->records[next++].symbol;
		if (symbol->start != offset || symbol->end != (uint64_t)offset + size)
			return false;
	}
	return next == symbols->count;
}

/* Sets what SYMBOL is: number INDEX of NAMESPACE. */
static void set_key(struct symbol *symbol, uint32_t name_space, uint32_t index)
{
	uint32_t kind = name_space >> 28;

	symbol->kind = SYMBOL_TRAMPOLINE;
	symbol->core = 0;
	symbol->function = UINT32_MAX;
	if (kind == KIND_FUNCTION || kind == KIND_ENTRY || kind == KIND_STARTUP)
		symbol->core = name_space & 0xfffffff;
	if (kind == KIND_FUNCTION) {
		symbol->kind = SYMBOL_GUEST;
		symbol->function = index;
	} else if (kind == KIND_ENTRY || (kind == KIND_STARTUP && index == 1)) {
		symbol->kind = SYMBOL_ENTRY;
	} else if (kind == KIND_BUILTIN || kind == KIND_PATCHABLE_BUILTIN) {
		symbol->kind = SYMBOL_BUILTIN;
	}
}

static void apply(const struct table *table, struct symbols *symbols)
{
	struct cursor namespaces = table->namespaces, starts = table->starts;
	struct cursor functions = table->functions;
	uint32_t name_space = cursor_uleb32(&namespaces), start = cursor_uleb32(&starts);
	uint32_t left = table->namespace_count - 1, i, next = 0;
	uint32_t next_start = left > 0 ? cursor_uleb32(&starts) : UINT32_MAX;

	for (i = 0; i < table->function_count; i++) {
		if (i == next_start) {
			name_space = cursor_uleb32(&namespaces);
			start = next_start;
			next_start = --left > 0 ? cursor_uleb32(&starts) : UINT32_MAX;
		}
		cursor_uleb32(&functions);
		if (cursor_uleb32(&functions) > 0)
			set_key(&symbols->records[next++].symbol, name_space, i - start);
	}
}

bool funckeys_apply(const struct blob *info, struct symbols *symbols)
{
	struct finder finder = { .info = cursor_of(info->bytes, info->size),
				 .work = 1000 + WORK_PER_BYTE * (uint64_t)info->size };
	struct table table;
	size_t at;

	if (symbols->count == 0)
		return false;
	for (at = 0; at < info->size && finder.work > 0; at++) {
		if (!read_table(&finder, at, &table) || !is_of(&finder, &table, symbols))
			continue;
		apply(&table, symbols);
		return true;
	}
	return false;
}
