/* SPDX-License-Identifier: MIT */
/*
 * ehframe.c - the code ranges that a copied .eh_frame describes (LSB core, "Exception Frames").
 */
#include "symtab/ehframe.h"

#include "symtab/cursor.h"

/* Pointer encodings (LSB core, "DWARF Exception Header Encoding"). */
enum {
	ENCODING_ABSOLUTE = 0x00,
	ENCODING_ULEB = 0x01,
	ENCODING_UDATA2 = 0x02,
	ENCODING_UDATA4 = 0x03,
	ENCODING_UDATA8 = 0x04,
	ENCODING_SLEB = 0x09,
	ENCODING_SDATA2 = 0x0a,
	ENCODING_SDATA4 = 0x0b,
	ENCODING_SDATA8 = 0x0c,
	ENCODING_FORMAT = 0x0f,
	ENCODING_PCREL = 0x10,
	ENCODING_RELATION = 0x70,
};

struct reader {
	struct cursor all;
	uint64_t address; /* of its first byte */
	size_t cie;	  /* offset of the CIE that was read last */
	bool cie_is_good;
	uint8_t encoding; /* of pointers in that CIE's FDEs */
};

static uint16_t read_half(struct cursor *cursor)
{
	uint16_t low = cursor_u8(cursor);

	return (uint16_t)(low | cursor_u8(cursor) << 8);
}

static uint64_t read_pointer(struct cursor *cursor, uint64_t section, uint8_t encoding)
{
	uint64_t here = section + cursor_offset(cursor), value = 0;

	switch (encoding & ENCODING_FORMAT) {
	case ENCODING_ABSOLUTE:
	case ENCODING_UDATA8:
	case ENCODING_SDATA8:
		value = cursor_u64le(cursor);
		break;
	case ENCODING_UDATA4:
		value = cursor_u32le(cursor);
		break;
	case ENCODING_ULEB:
		value = cursor_uleb64(cursor);
		break;
	case ENCODING_SLEB:
		value = (uint64_t)cursor_sleb64(cursor);
		break;
	case ENCODING_UDATA2:
		value = read_half(cursor);
		break;
	case ENCODING_SDATA2:
		value = (uint64_t)(int64_t)(int16_t)read_half(cursor);
		break;
	case ENCODING_SDATA4:
		value = (uint64_t)(int64_t)(int32_t)cursor_u32le(cursor);
		break;
	default:
		cursor_fail(cursor);
	}
	if ((encoding & ENCODING_RELATION) == ENCODING_PCREL)
		return here + value;
	if ((encoding & ENCODING_RELATION) != 0)
		cursor_fail(cursor);
	return value;
}

/* Skips the terminated augmentation string; returns it, or NULL. */
static const char *read_string(struct cursor *cursor)
{
	const uint8_t *start = cursor->bytes + cursor->at;
	const uint8_t *end = memchr(start, 0, cursor_left(cursor));

	if (end == NULL) {
		cursor_fail(cursor);
		return NULL;
	}
	return (const char *)cursor_bytes(cursor, (size_t)(end - start) + 1);
}

/* Reads the CIE whose body, after its id, is BODY, for its FDEs' pointer encoding. */
static bool read_cie(struct reader *reader, struct cursor body)
{
	uint8_t version = cursor_u8(&body);
	const char *augmentation = read_string(&body);

	reader->encoding = ENCODING_ABSOLUTE;
	if (augmentation == NULL || (version != 1 && version != 3 && version != 4))
		return false;
	if (version == 4) /* sizes of an address and of a segment selector */
		cursor_bytes(&body, 2);
	cursor_uleb64(&body);
	cursor_sleb64(&body);
	if (version == 1)
		cursor_u8(&body);
	else
		cursor_uleb64(&body);
	if (*augmentation == '\0')
		return !body.failed;
	if (*augmentation++ != 'z')
		return false;
	cursor_uleb64(&body);
	for (; *augmentation != '\0'; augmentation++) {
		if (*augmentation == 'R')
			reader->encoding = cursor_u8(&body);
		else if (*augmentation == 'L')
			cursor_u8(&body);
		else if (*augmentation == 'P')
			read_pointer(&body, reader->address, cursor_u8(&body));
		else if (*augmentation != 'S' && *augmentation != 'B')
			return false;
	}
	return !body.failed;
}

/* Takes the next entry; false at the terminator, at the end and when its length is damaged. */
static bool next_entry(struct cursor *all, struct cursor *entry)
{
	uint64_t length = cursor_u32le(all);

	if (length == UINT32_MAX)
		length = cursor_u64le(all);
	if (all->failed || length == 0)
		return false;
	*entry = cursor_sub(all, length);
	return !entry->failed;
}

/* Makes the CIE at offset AT the current one. */
static bool select_cie(struct reader *reader, size_t at)
{
	struct cursor all = reader->all, entry;

	if (reader->cie_is_good && reader->cie == at)
		return true;
	reader->cie_is_good = false;
	if (at >= all.size)
		return false;
	all.at = at;
	if (!next_entry(&all, &entry) || cursor_u32le(&entry) != 0 || entry.failed)
		return false;
	reader->cie = at;
	reader->cie_is_good = read_cie(reader, entry);
	return reader->cie_is_good;
}

void ehframe_each(const uint8_t *bytes, size_t size, uint64_t address,
		  bool (*visit)(void *context, const struct ehframe_range *range), void *context)
{
	struct reader reader = { .all = cursor_of(bytes, size), .address = address };
	struct cursor entry, all = reader.all;
	bool more = true;

	while (more && next_entry(&all, &entry)) {
		struct ehframe_range range;
		size_t here = cursor_offset(&entry);
		uint32_t back = cursor_u32le(&entry);

		if (back == 0 || entry.failed) /* a CIE */
			continue;
		if (back > here || !select_cie(&reader, here - back))
			return;
		range.start = read_pointer(&entry, address, reader.encoding);
		range.size = read_pointer(&entry, address, reader.encoding & ENCODING_FORMAT);
		if (entry.failed)
			return;
		more = visit(context, &range);
	}
}
