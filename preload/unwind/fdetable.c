/* SPDX-License-Identifier: MIT */
/*
 * fdetable.c - walks CIEs and FDEs (LSB 5.0 core, 10.6; DWARF 4, 6.4.1) and keeps where each
 * starts.
 *
 *   length u32 [u64 if 0xffffffff] | id u32: 0 = CIE, else distance back to the CIE | ...
 *   CIE: version, augmentation\0, code align, data align, return column, [z: size, R L P S B]
 *   FDE: start, size (as the CIE's R says), ...
 */
#include "preload/unwind/fdetable.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "symtab/cursor.h"

enum {
	PE_ABSPTR = 0x00,
	PE_ULEB = 0x01,
	PE_FORMAT = 0x0f,
	PE_SIGNED = 0x08,
	PE_APPLICATION = 0x70,
	PE_PCREL = 0x10,
	PE_ALIGNED = 0x50,
	PE_INDIRECT = 0x80,
	PE_OMIT = 0xff,
};

enum { MAX_AUGMENTATION = 16 };

struct indexer {
	const struct fdetable_source *source;
	struct fdetable *table;
	size_t capacity;
	size_t cie; /* offset of the CIE that was read last, SIZE_MAX: none */
	int cie_encoding;
};

/* One length-prefixed record: its body starts at the id, which is at offset ID. */
struct record {
	size_t offset, id;
	struct cursor body;
	uint32_t distance;
};

size_t fdetable_pointer_size(uint8_t encoding)
{
	static const uint8_t sizes[8] = { 8, 0, 2, 4, 8, 0, 0, 0 };

	return sizes[encoding & (PE_FORMAT ^ PE_SIGNED)];
}

static uint64_t read_sized(struct cursor *cursor, size_t size, bool is_signed)
{
	uint64_t value = size == 8 ? cursor_u64le(cursor) : 0;

	if (size == 4)
		value = cursor_u32le(cursor);
	if (size == 2) {
		value = cursor_u8(cursor);
		value |= (uint64_t)cursor_u8(cursor) << 8;
	}
	if (is_signed && size == 4)
		value = (uint64_t)(int64_t)(int32_t)value;
	if (is_signed && size == 2)
		value = (uint64_t)(int64_t)(int16_t)value;
	return value;
}

bool fdetable_pointer(struct cursor *cursor, uint8_t encoding, uintptr_t address, uint64_t *value)
{
	uint8_t application = encoding & PE_APPLICATION;
	size_t size = fdetable_pointer_size(encoding);

	if ((encoding & PE_INDIRECT) != 0 || size == 0)
		return false;
	if (application != PE_ABSPTR && application != PE_PCREL)
		return false;
	*value = read_sized(cursor, size, (encoding & PE_SIGNED) != 0);
	if (application == PE_PCREL)
		*value += address;
	return !cursor->failed;
}

/* Reads the record at OFFSET. False at the terminator, at the end, and when its length is a lie. */
static bool read_record(const struct fdetable_source *source, size_t offset, struct record *record,
			bool *damaged)
{
	struct cursor cursor = cursor_of(source->bytes, source->size);
	uint64_t length;

	cursor.at = offset;
	length = cursor_u32le(&cursor);
	if (length == 0xffffffff)
		length = cursor_u64le(&cursor);
	if (cursor.failed || length > cursor_left(&cursor)) {
		*damaged = true;
		return false;
	}
	if (length == 0)
		return false;
	record->offset = offset;
	record->id = cursor.at;
	record->body = cursor_sub(&cursor, (size_t)length);
	record->distance = cursor_u32le(&record->body);
	return true;
}

/* Skips a personality pointer; its value is of no use to us. */
static void skip_personality(struct cursor *cursor)
{
	uint8_t encoding = cursor_u8(cursor);

	if (encoding == PE_OMIT)
		return;
	if ((encoding & (PE_FORMAT ^ PE_SIGNED)) == PE_ULEB)
		(void)cursor_uleb64(cursor);
	else if ((encoding & PE_APPLICATION) == PE_ALIGNED || fdetable_pointer_size(encoding) == 0)
		cursor_fail(cursor); /* nobody emits these; the rest could only be guessed */
	else
		(void)cursor_bytes(cursor, fdetable_pointer_size(encoding));
}

/* Reads what the letters of AUGMENTATION announce, up to the program. */
static bool read_augmentation(struct cursor *body, const char *augmentation,
			      struct fdetable_cie *cie)
{
	struct cursor values;
	const char *letter;

	if (augmentation[0] == '\0')
		return true;
	if (augmentation[0] != 'z')
		return false;
	cie->sized = true;
	values = cursor_sub(body, (size_t)cursor_uleb64(body));
	for (letter = augmentation + 1; *letter != '\0' && !values.failed; letter++) {
		if (*letter == 'R')
			cie->encoding = cursor_u8(&values);
		else if (*letter == 'L')
			(void)cursor_u8(&values);
		else if (*letter == 'P')
			skip_personality(&values);
		else if (*letter == 'S')
			cie->is_signal = true;
		else if (*letter != 'B')
			return false;
	}
	return !values.failed;
}

bool fdetable_read_cie(struct cursor *body, struct fdetable_cie *cie)
{
	char augmentation[MAX_AUGMENTATION];
	uint8_t version = cursor_u8(body);
	size_t i = 0;

	*cie = (struct fdetable_cie){ .encoding = PE_ABSPTR };
	if (version != 1 && version != 3 && version != 4)
		return false;
	do {
		augmentation[i] = (char)cursor_u8(body);
	} while (augmentation[i] != '\0' && ++i < sizeof(augmentation));
	if (i == sizeof(augmentation) || body->failed)
		return false;
	if (version == 4)
		(void)cursor_bytes(body, 2); /* address and segment size */
	cie->code_align = cursor_uleb64(body);
	cie->data_align = cursor_sleb64(body);
	cie->return_register = version == 1 ? cursor_u8(body) : cursor_uleb64(body);
	return read_augmentation(body, augmentation, cie) && !body->failed;
}

/* Pointer encoding that the CIE at OFFSET lays down; -1 when there is no CIE or an unknown one. */
static int read_cie(const struct fdetable_source *source, size_t offset)
{
	struct fdetable_cie cie;
	struct record record;
	bool damaged = false;

	if (!read_record(source, offset, &record, &damaged) || record.distance != 0 ||
	    !fdetable_read_cie(&record.body, &cie))
		return -1;
	return cie.encoding;
}

static int cie_encoding(struct indexer *indexer, size_t offset)
{
	/* FDEs of one CIE usually stand together */
	if (indexer->cie != offset) {
		indexer->cie_encoding = read_cie(indexer->source, offset);
		indexer->cie = offset;
	}
	return indexer->cie_encoding;
}

static bool fits(uint64_t address, uintptr_t base, int32_t *offset)
{
	int64_t distance = (int64_t)(address - base);

	*offset = (int32_t)distance;
	return distance == *offset;
}

/* True when the FDE describes code inside the text; ENTRY is set then. */
static bool read_fde(struct indexer *indexer, struct record *record, struct fdetable_entry *entry)
{
	const struct fdetable_source *source = indexer->source;
	uintptr_t base = indexer->table->base;
	uint64_t start, size;
	int encoding;

	if (record->distance > record->id)
		return false;
	encoding = cie_encoding(indexer, record->id - record->distance);
	if (encoding < 0)
		return false;
	if (!fdetable_pointer(&record->body, (uint8_t)encoding,
			      source->address + cursor_offset(&record->body), &start))
		return false;
	if (!fdetable_pointer(&record->body, (uint8_t)encoding & PE_FORMAT, 0, &size))
		return false;
	if (size == 0 || start < source->text || start - source->text >= source->text_size)
		return false;
	return fits(start, base, &entry->start) &&
	       fits(source->address + record->offset, base, &entry->fde);
}

static int append(struct indexer *indexer, struct fdetable_entry entry)
{
	struct fdetable *table = indexer->table;

	if (table->count == indexer->capacity) {
		size_t capacity = indexer->capacity == 0 ? 64 : indexer->capacity * 2;
		struct fdetable_entry *entries;

		entries = realloc(table->entries, capacity * sizeof(*entries));
		if (entries == NULL)
			return -ENOMEM;
		table->entries = entries;
		indexer->capacity = capacity;
	}
	table->entries[table->count++] = entry;
	return 0;
}

static int compare_entries(const void *left, const void *right)
{
	const struct fdetable_entry *a = left, *b = right;

	return (a->start > b->start) - (a->start < b->start);
}

static void sort(struct fdetable *table)
{
	size_t i;

	/* compilers emit them in order; then nothing needs to be done */
	for (i = 1; i < table->count; i++) {
		if (table->entries[i - 1].start > table->entries[i].start) {
			qsort(table->entries, table->count, sizeof(*table->entries),
			      compare_entries);
			return;
		}
	}
}

int fdetable_index(struct fdetable *table, const struct fdetable_source *source)
{
	struct indexer indexer = { .source = source, .table = table, .cie = SIZE_MAX };
	struct record record;
	size_t offset = 0;

	*table = (struct fdetable){ .base = source->address };
	while (offset < source->size && read_record(source, offset, &record, &table->damaged)) {
		struct fdetable_entry entry;

		offset = record.id + record.body.size;
		if (!record.body.failed && record.distance == 0)
			continue;
		if (record.body.failed || !read_fde(&indexer, &record, &entry)) {
			table->rejected++;
			continue;
		}
		if (append(&indexer, entry) != 0) {
			fdetable_free(table);
			return -ENOMEM;
		}
	}
	sort(table);
	return 0;
}

void fdetable_free(struct fdetable *table)
{
	free(table->entries);
	*table = (struct fdetable){ 0 };
}

bool fdetable_find(const struct fdetable *table, uintptr_t pc, uintptr_t *fde)
{
	size_t low = 0, high = table->count;
	int32_t key;

	if (!fits(pc, table->base, &key))
		return false;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (table->entries[middle].start <= key)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0)
		return false;
	*fde = table->base + (uintptr_t)(intptr_t)table->entries[low - 1].fde;
	return true;
}
