/* SPDX-License-Identifier: MIT */
/*
 * symbols.c - the functions of an image from its .symtab, or from .eh_frame where it has none.
 *
 * Names seen in wasmtime 14 to 50: wasm[N]::function[M] (from 22 on with ::NAME),
 * wasm[N]::array_to_wasm_trampoline[M], signatures[T]::wasm_to_array_trampoline,
 * module_start[N]::Array, component-trampolines[I]-wasm-call-..., wasmtime_builtin_memory_grow,
 * wasmtime_patchable_builtin_breakpoint.
 */
#include "symtab/symbols.h"

#include "symtab/cursor.h"
#include "symtab/ehframe.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>

/*
 * Engines cut names at 96 characters. Many symbols may name one long text, so without this bound
 * reading them would take time in the square of the image's size.
 */
enum { MAX_SYMBOL_NAME = 1024, MAX_CLEAN = 96 };

/* Takes PREFIX off *TEXT. */
static bool take(const char **text, const char *prefix)
{
	size_t length = strlen(prefix);

	/* mostly it is not: a call of strncmp() for each is a third of reading the symbols */
	if (**text != *prefix || strncmp(*text, prefix, length) != 0)
		return false;
	*text += length;
	return true;
}

/* Takes "NUMBER]" off *TEXT. */
static bool take_index(const char **text, uint32_t *index)
{
	const char *digit = *text;
	uint64_t value = 0;

	for (; *digit >= '0' && *digit <= '9' && value <= UINT32_MAX; digit++)
		value = value * 10 + (uint64_t)(*digit - '0');
	if (digit == *text || *digit != ']' || value >= UINT32_MAX)
		return false;
	*index = (uint32_t)value;
	*text = digit + 1;
	return true;
}

/* TEXT is what follows "wasm[N]::" in NAME. Returns the name that is kept; NULL: none. */
static const char *classify_core(struct symbol *symbol, const char *text, const char *name)
{
	if (take(&text, "function[") && take_index(&text, &symbol->function)) {
		symbol->kind = SYMBOL_GUEST;
		return take(&text, "::") ? text : NULL;
	}
	if (take(&text, "array_to_wasm"))
		symbol->kind = SYMBOL_ENTRY;
	return name;
}

/* Fills kind, core, function and name from the symbol's NAME, a terminated text of STRINGS. */
static void classify(struct symbol_record *record, const char *name, const char *strings)
{
	struct symbol *symbol = &record->symbol;
	const char *text = name;

	symbol->kind = SYMBOL_TRAMPOLINE;
	symbol->core = 0;
	symbol->function = UINT32_MAX;
	if (take(&text, "wasm[")) {
		if (take_index(&text, &symbol->core) && take(&text, "::"))
			name = classify_core(symbol, text, name);
	} else if (take(&text, "module_start[")) {
		if (take_index(&text, &symbol->core) && take(&text, "::Array"))
			symbol->kind = SYMBOL_ENTRY;
	} else if (take(&text, "wasmtime_builtin_") || take(&text, "wasm_builtin_") ||
		   take(&text, "wasmtime_patchable_builtin_")) {
		symbol->kind = SYMBOL_BUILTIN;
	}
	record->name = (struct span){ .offset = SYMBOLS_NO_NAME };
	if (name != NULL)
		record->name = (struct span){ .offset = (uint32_t)(name - strings),
					      .length = (uint32_t)strnlen(name, MAX_SYMBOL_NAME) };
}

static int by_start(const void *left, const void *right)
{
	const struct symbol *a = &((const struct symbol_record *)left)->symbol;
	const struct symbol *b = &((const struct symbol_record *)right)->symbol;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return (int)a->kind - (int)b->kind;
}

/* Sorts unless the engine did, cuts overlaps (the later start wins), and numbers. */
static void put_in_order(struct symbols *symbols)
{
	struct symbol_record *records = symbols->records;
	uint32_t i, kept = 0;

	for (i = 1; i < symbols->count; i++)
		if (by_start(&records[i - 1], &records[i]) > 0)
			break;
	if (i < symbols->count)
		qsort(records, symbols->count, sizeof(*records), by_start);
	for (i = 0; i < symbols->count; i++) {
		struct symbol *before = kept > 0 ? &records[kept - 1].symbol : NULL;

		if (before != NULL && before->start == records[i].symbol.start)
			continue;
		if (before != NULL && before->end > records[i].symbol.start)
			before->end = records[i].symbol.start;
		records[kept] = records[i];
		records[kept].symbol.id = kept;
		kept++;
	}
	symbols->count = kept;
}

static bool read_symbol(struct cursor *table, const struct blob *strtab, size_t text_size,
			struct symbol_record *record)
{
	uint32_t name = cursor_u32le(table);
	uint8_t type = ELF64_ST_TYPE(cursor_u8(table));
	uint64_t value, size;

	cursor_bytes(table, 3); /* st_other, st_shndx */
	value = cursor_u64le(table);
	size = cursor_u64le(table);
	if (table->failed || type != STT_FUNC || name >= strtab->size)
		return false;
	if (size == 0 || value >= text_size || size > text_size - value)
		return false;
	record->symbol.start = value;
	record->symbol.end = value + size;
	classify(record, (const char *)strtab->bytes + name, (const char *)strtab->bytes);
	return true;
}

static int read_table(const struct image_tables *tables, size_t text_size, struct symbols *symbols)
{
	size_t count = tables->symtab.size / sizeof(Elf64_Sym), i;
	struct cursor table = cursor_of(tables->symtab.bytes, tables->symtab.size);

	/* without a terminator at its end no text of .strtab is safe to read */
	if (count == 0 || count >= UINT32_MAX || tables->strtab.size == 0 ||
	    tables->strtab.size >= UINT32_MAX ||
	    tables->strtab.bytes[tables->strtab.size - 1] != '\0')
		return 0;
	symbols->records = calloc(count, sizeof(*symbols->records));
	if (symbols->records == NULL)
		return -ENOMEM;
	for (i = 0; i < count; i++) {
		struct symbol_record *record = &symbols->records[symbols->count];

		if (!read_symbol(&table, &tables->strtab, text_size, record))
			continue;
		if (record->symbol.kind == SYMBOL_GUEST && record->name.offset != SYMBOLS_NO_NAME)
			symbols->have_names = true;
		symbols->count++;
	}
	return 0;
}

struct frames {
	struct symbols *symbols;
	uint64_t text, text_size;
	uint32_t room;
	uint32_t place;
	int error;
};

static bool add_frame(void *context, const struct ehframe_range *range)
{
	struct frames *frames = context;
	struct symbols *symbols = frames->symbols;
	uint64_t start = range->start - frames->text;
	struct symbol_record *records;

	if (range->size == 0 || start >= frames->text_size ||
	    range->size > frames->text_size - start)
		return true;
	if (symbols->count == frames->room) {
		frames->room = frames->room == 0 ? 64 : 2 * frames->room;
		records = realloc(symbols->records, frames->room * sizeof(*records));
		if (records == NULL) {
			frames->error = -ENOMEM;
			return false;
		}
		symbols->records = records;
	}
	symbols->records[symbols->count++] = (struct symbol_record){
		.symbol = { .kind = SYMBOL_TRAMPOLINE,
			    .function = UINT32_MAX,
			    .start = start,
			    .end = start + range->size },
		.name = { .offset = SYMBOLS_NO_NAME, .length = frames->place++ },
	};
	return symbols->count < UINT32_MAX / 2;
}

static int read_frames(const struct image_tables *tables, uintptr_t text, size_t text_size,
		       struct symbols *symbols)
{
	struct frames frames = { .symbols = symbols, .text = text, .text_size = text_size };

	symbols->from_frames = true;
	if (tables->eh_frame.bytes != NULL)
		ehframe_each(tables->eh_frame.bytes, tables->eh_frame.size,
			     tables->eh_frame_address, add_frame, &frames);
	return frames.error;
}

int symbols_read(const struct image_tables *tables, uintptr_t text, size_t text_size,
		 struct symbols *symbols)
{
	int error;

	*symbols = (struct symbols){ 0 };
	error = read_table(tables, text_size, symbols);
	/* wasmtime 47 and later can be told to write none */
	if (error == 0 && symbols->count == 0) {
		symbols_free(symbols);
		error = read_frames(tables, text, text_size, symbols);
	}
	if (error < 0) {
		symbols_free(symbols);
		return error;
	}
	put_in_order(symbols);
	return 0;
}

void symbols_free(struct symbols *symbols)
{
	free(symbols->records);
	*symbols = (struct symbols){ 0 };
}

const struct symbol_record *symbols_find(const struct symbols *symbols, uint64_t offset)
{
	uint32_t low = 0, high = symbols->count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (symbols->records[middle].symbol.start <= offset)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0 || offset >= symbols->records[low - 1].symbol.end)
		return NULL;
	return &symbols->records[low - 1];
}

static bool is_graphic(uint8_t byte)
{
	return byte > 0x20 && byte < 0x7f;
}

bool symbols_cleaned(const uint8_t *name, size_t length, const char *clean, size_t clean_length)
{
	size_t i, made = length < MAX_CLEAN ? length : MAX_CLEAN;
	bool all_graphic = true, was_mark = false;

	/* most names by far: nothing to replace in what is kept */
	if (made == clean_length && memcmp(name, clean, made) == 0 &&
	    memchr(clean, '?', clean_length) == NULL)
		return true;
	for (i = 0; i < length && all_graphic; i++)
		all_graphic = is_graphic(name[i]);
	if (all_graphic)
		return made == clean_length && memcmp(name, clean, made) == 0;
	for (i = 0, made = 0; i < length && made < MAX_CLEAN; i++) {
		uint8_t byte = is_graphic(name[i]) ? name[i] : '?';

		if (byte == '?' && was_mark)
			continue;
		was_mark = byte == '?';
		if (made >= clean_length || clean[made] != (char)byte)
			return false;
		made++;
	}
	return made == clean_length;
}
