/* SPDX-License-Identifier: MIT */
/*
 * layout.c - where in the wasm binary each function of an image is, as bytes for a recording.
 */
#include "symtab/layout.h"

#include "symtab/module.h"

#include <stdlib.h>

enum { MAX_ULEB = 10, ENTRY_SIZE = 5 * MAX_ULEB };

/* ---- writing -------------------------------------------------------------------------------- */

struct writer {
	uint8_t *bytes;
	size_t size;
};

static void add(struct writer *out, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		out->bytes[out->size++] = (uint8_t)(value | 0x80);
	out->bytes[out->size++] = (uint8_t)value;
}

/* Whether RECORDS[I] is a function whose index is known. */
static bool is_function(const struct module *module, uint32_t i)
{
	const struct symbol_record *records = module->symbols.records;

	return i < module->symbols.count && records[i].symbol.kind == SYMBOL_GUEST &&
	       records[i].symbol.function != UINT32_MAX;
}

/* Number of functions from the one at I on that follow each other. */
static uint32_t run_length(const struct module *module, uint32_t i)
{
	const struct symbol_record *records = module->symbols.records;
	uint32_t count = 1;

	while (is_function(module, i + count) &&
	       records[i + count].symbol.core == records[i].symbol.core &&
	       records[i + count].symbol.function == records[i].symbol.function + count)
		count++;
	return count;
}

static bool add_extent(struct writer *out, const struct module *module, const struct symbol *symbol,
		       uint64_t *before)
{
	uint32_t low, high;
	int64_t step;

	if (!addrmap_extent(&module->addrmap, symbol->start, symbol->end, &low, &high)) {
		add(out, 0);
		return false;
	}
	step = (int64_t)low - (int64_t)*before;
	add(out, 1 + ((uint64_t)step << 1 ^ (uint64_t)(step >> 63)));
	add(out, high - low);
	*before = high;
	return true;
}

uint8_t *module_layout(const struct module *module, size_t *size)
{
	const struct symbol_record *records = module->symbols.records;
	struct writer out = { .bytes = malloc((size_t)module->symbols.count * ENTRY_SIZE + 1) };
	bool any = false;
	uint8_t *bytes;
	uint32_t i;

	for (i = 0; out.bytes != NULL && i < module->symbols.count;) {
		uint32_t count = is_function(module, i) ? run_length(module, i) : 0;
		uint64_t before = 0;

		if (count > 0) {
			add(&out, records[i].symbol.core);
			add(&out, records[i].symbol.function);
			add(&out, count);
		} else {
			i++;
		}
		for (; count > 0; count--, i++)
			any |= add_extent(&out, module, &records[i].symbol, &before);
	}
	*size = any ? out.size : 0;
	bytes = any ? realloc(out.bytes, out.size) : NULL;
	if (bytes == NULL && any) /* it was to shrink: what is there does */
		return out.bytes;
	if (!any)
		free(out.bytes);
	return bytes;
}

/* ---- reading -------------------------------------------------------------------------------- */

bool layout_next(struct layout *layout, struct layout_entry *entry)
{
	uint64_t low;

	while (layout->left == 0) {
		if (cursor_left(&layout->bytes) == 0)
			return false;
		layout->core = cursor_uleb32(&layout->bytes);
		layout->function = cursor_uleb32(&layout->bytes);
		layout->left = cursor_uleb32(&layout->bytes);
		layout->before = 0;
	}
	*entry = (struct layout_entry){ .core = layout->core, .function = layout->function++ };
	layout->left--;
	low = cursor_uleb64(&layout->bytes);
	if (low != 0) {
		low--;
		entry->has_extent = true;
		entry->low = layout->before + (low >> 1 ^ -(low & 1));
		entry->high = entry->low + cursor_uleb64(&layout->bytes);
		layout->before = entry->high;
	}
	return !layout->bytes.failed;
}
