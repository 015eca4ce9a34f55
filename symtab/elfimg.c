/* SPDX-License-Identifier: MIT */
/*
 * elfimg.c - where the parts of an engine's in-memory ELF image are, and copies of its tables.
 *
 * The image belongs to the host: each header is read once, by guarded copy, and checked before it
 * is used. Layout seen with wasmtime 14 to 50: ET_REL, EI_OSABI 200, sections at their file offsets
 * from the ELF header, no program headers.
 */
#include "symtab/elfimg.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "symtab/fnv.h"

enum {
	OSABI_WASMTIME = 200,
	FLAG_COMPONENT = 2,
	FLAGS_PULLEY = 0xc,	  /* 32 and 64 bits */
	SECTION_NOT_EXECUTED = 1, /* sh_flags of a .text that an interpreter reads */
	MAX_SECTIONS = 64,	  /* 13 to 20 seen, DWARF included */
	MAX_SECTION_NAME = 32,
};

enum { PAGE = 4096, OWN_PAGES = 256 << 10, HUGE_PAGE = 2 << 20, PIECE = 64 };

#define MAX_IMAGE ((uint64_t)16 << 30)
#define MAX_COPY ((uint64_t)1 << 30) /* of one table */

struct headers {
	const struct memory *memory;
	uintptr_t base;
	uint32_t flags;
	uint16_t count;
	uint64_t size; /* of the image */
	Elf64_Shdr sections[MAX_SECTIONS];
	char names[MAX_SECTIONS][MAX_SECTION_NAME]; /* cut where longer: none that we want is */
};

static int check_header(const Elf64_Ehdr *elf)
{
	if (memcmp(elf->e_ident, ELFMAG, SELFMAG) != 0 || elf->e_ident[EI_CLASS] != ELFCLASS64 ||
	    elf->e_ident[EI_DATA] != ELFDATA2LSB || elf->e_ident[EI_OSABI] != OSABI_WASMTIME)
		return -EINVAL;
	/* ET_DYN is the patched copy for debuggers, which never runs */
	if (elf->e_type != ET_REL || elf->e_shentsize != sizeof(Elf64_Shdr))
		return -EINVAL;
	if (elf->e_shnum == 0 || elf->e_shnum > MAX_SECTIONS || elf->e_shstrndx >= elf->e_shnum)
		return -EINVAL;
	return elf->e_shoff < sizeof(*elf) || elf->e_shoff > MAX_IMAGE ? -EINVAL : 0;
}

/* Checks that all sections lie in one image of bounded size. */
static int check_sections(struct headers *headers, uint64_t table_end)
{
	uint16_t i;

	headers->size = table_end;
	for (i = 0; i < headers->count; i++) {
		const Elf64_Shdr *section = &headers->sections[i];
		uint64_t end;

		if (section->sh_type == SHT_NULL || section->sh_type == SHT_NOBITS)
			continue;
		if (section->sh_offset > MAX_IMAGE || section->sh_size > MAX_IMAGE)
			return -EINVAL;
		end = section->sh_offset + section->sh_size;
		if (end > headers->size)
			headers->size = end;
	}
	return headers->size > MAX_IMAGE || headers->size > UINTPTR_MAX - headers->base ? -EINVAL
											: 0;
}

static int read_names(struct headers *headers, uint16_t index)
{
	const Elf64_Shdr *strings = &headers->sections[index];
	uint16_t i;

	if (strings->sh_type != SHT_STRTAB)
		return -EINVAL;
	for (i = 0; i < headers->count; i++) {
		uint64_t offset = headers->sections[i].sh_name, left;
		int error;

		if (offset >= strings->sh_size)
			return -EINVAL;
		left = strings->sh_size - offset;
		error = memory_read(headers->memory, headers->base + strings->sh_offset + offset,
				    headers->names[i],
				    left < MAX_SECTION_NAME ? left : MAX_SECTION_NAME);
		if (error < 0)
			return error;
		headers->names[i][MAX_SECTION_NAME - 1] = '\0';
	}
	return 0;
}

static int read_headers(const struct memory *memory, uintptr_t base, struct headers *headers)
{
	Elf64_Ehdr elf;
	int error = memory_read(memory, base, &elf, sizeof(elf));

	if (error == 0)
		error = check_header(&elf);
	if (error < 0)
		return error;
	if (elf.e_shoff > UINTPTR_MAX - base)
		return -EINVAL;
	memset(headers, 0, sizeof(*headers));
	headers->memory = memory;
	headers->base = base;
	headers->flags = elf.e_flags;
	headers->count = elf.e_shnum;
	error = memory_read(memory, base + elf.e_shoff, headers->sections,
			    elf.e_shnum * sizeof(headers->sections[0]));
	if (error == 0)
		error = check_sections(headers, elf.e_shoff + elf.e_shnum * sizeof(Elf64_Shdr));
	return error < 0 ? error : read_names(headers, elf.e_shstrndx);
}

/* The section called NAME, or NULL when it is absent or has no bytes in the image. */
static const Elf64_Shdr *find_section(const struct headers *headers, const char *name)
{
	uint16_t i;

	for (i = 0; i < headers->count; i++) {
		uint32_t type = headers->sections[i].sh_type;

		if (type != SHT_NULL && type != SHT_NOBITS && strcmp(headers->names[i], name) == 0)
			return &headers->sections[i];
	}
	return NULL;
}

/* .wasmtime.engine begins with a zero byte, a length and the version; other text follows. */
static void read_version(const struct headers *headers, char *version, size_t size)
{
	const Elf64_Shdr *section = find_section(headers, ".wasmtime.engine");
	uint8_t start[2];
	size_t i;

	version[0] = '\0';
	if (section == NULL || section->sh_size < sizeof(start))
		return;
	if (memory_read(headers->memory, headers->base + section->sh_offset, start, 2) < 0)
		return;
	if (start[0] != 0 || start[1] >= size || start[1] > section->sh_size - 2)
		return;
	if (memory_read(headers->memory, headers->base + section->sh_offset + 2, version,
			start[1]) < 0) {
		version[0] = '\0';
		return;
	}
	version[start[1]] = '\0';
	/* the embedder may put any text there: keep it only when it can be shown */
	for (i = 0; i < start[1]; i++)
		if (version[i] < 0x21 || version[i] > 0x7e)
			version[0] = '\0';
}

/* What cannot be read (code may be executable only) counts as nothing. */
static void mix_piece(uint64_t *hash, const struct headers *headers, uint64_t offset, size_t size)
{
	uint8_t piece[PIECE];

	if (memory_read(headers->memory, headers->base + offset, piece, size) == 0)
		*hash = fnv(*hash, piece, size);
}

/*
 * Where one image takes another's place without a word, base and sizes may be the same: so the
 * places of all sections, and the beginning, middle and end of those that tell modules apart.
 */
static uint64_t fingerprint(const struct headers *headers)
{
	static const char *const telling[] = { ".text",	  ".eh_frame",	".symtab",
					       ".strtab", ".name.wasm", ".wasmtime.info" };
	uint64_t hash =
		fnv(FNV_START, headers->sections, headers->count * sizeof(headers->sections[0]));

	for (size_t i = 0; i < ARRAY_SIZE(telling); i++) {
		const Elf64_Shdr *section = find_section(headers, telling[i]);
		size_t size, rest;

		if (section == NULL)
			continue;
		size = section->sh_size < PIECE ? section->sh_size : PIECE;
		rest = section->sh_size - size;
		mix_piece(&hash, headers, section->sh_offset, size);
		mix_piece(&hash, headers, section->sh_offset + rest / 2, size);
		mix_piece(&hash, headers, section->sh_offset + rest, size);
	}
	return hash;
}

int image_probe(const struct memory *memory, uintptr_t base, struct image_layout *layout)
{
	const Elf64_Shdr *text, *eh_frame;
	struct headers headers;
	int error = read_headers(memory, base, &headers);

	if (error < 0)
		return error;
	text = find_section(&headers, ".text");
	if (text == NULL)
		return -EINVAL;
	eh_frame = find_section(&headers, ".eh_frame");
	*layout = (struct image_layout){
		.base = base,
		.size = headers.size,
		.text = base + text->sh_offset,
		.text_size = text->sh_size,
		.is_component = (headers.flags & FLAG_COMPONENT) != 0,
		.is_bytecode = (headers.flags & FLAGS_PULLEY) != 0 ||
			       (text->sh_flags & SECTION_NOT_EXECUTED) != 0,
		.has_guest_debug = find_section(&headers, ".wasmtime.frames") != NULL,
		.fingerprint = fingerprint(&headers),
	};
	if (eh_frame != NULL && eh_frame->sh_size > 0) {
		layout->eh_frame = base + eh_frame->sh_offset;
		layout->eh_frame_size = eh_frame->sh_size;
	}
	read_version(&headers, layout->engine_version, sizeof(layout->engine_version));
	return 0;
}

/* The whole pages that SIZE bytes take. */
static size_t pages(size_t size)
{
	return (size + PAGE - 1) / PAGE * PAGE;
}

/*
 * Zeroed, and there at once: faults one by one take longer than the copy. The tables of a large
 * module are tens of MB, of which huge pages (where the system grants them) take a sixth of the
 * time; without them the copy faults page by page.
 */
static uint8_t *map_pages(size_t size)
{
	bool is_huge = size >= HUGE_PAGE;
	uint8_t *bytes = mmap(NULL, size, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS | (is_huge ? 0 : MAP_POPULATE), -1, 0);

	if (bytes == MAP_FAILED)
		return NULL;
	if (is_huge)
		madvise(bytes, size, MADV_HUGEPAGE);
	if (is_huge)
		madvise(bytes, size, MADV_POPULATE_WRITE);
	return bytes;
}

int blob_new(struct blob *blob, size_t size)
{
	blob->is_mapped = size >= OWN_PAGES;
	blob->bytes = blob->is_mapped ? map_pages(pages(size)) : malloc(size);
	blob->size = blob->bytes != NULL ? size : 0;
	return blob->bytes != NULL ? 0 : -ENOMEM;
}

void blob_free(struct blob *blob)
{
	if (!blob->is_mapped)
		free(blob->bytes);
	else if (blob->bytes != NULL)
		munmap(blob->bytes, pages(blob->size));
	*blob = (struct blob){ 0 };
}

static int copy_section(const struct headers *headers, const char *name, struct blob *blob)
{
	const Elf64_Shdr *section = find_section(headers, name);
	uint8_t last;
	int error;

	if (section == NULL || section->sh_size == 0)
		return 0;
	if (section->sh_size > MAX_COPY)
		return -EINVAL;
	/* before memory is taken for a size that the header only claims */
	error = memory_read(headers->memory,
			    headers->base + section->sh_offset + section->sh_size - 1, &last, 1);
	if (error < 0)
		return error;
	error = blob_new(blob, section->sh_size);
	if (error < 0)
		return error;
	error = memory_read(headers->memory, headers->base + section->sh_offset, blob->bytes,
			    blob->size);
	if (error < 0)
		blob_free(blob);
	return error;
}

static int copy_sections(const struct headers *headers, bool is_named, struct image_tables *tables)
{
	const Elf64_Shdr *eh_frame = find_section(headers, ".eh_frame");
	bool has_symbols = find_section(headers, ".symtab") != NULL;
	const struct {
		const char *name;
		struct blob *blob;
		bool is_needed;
	} wanted[] = {
		{ ".symtab", &tables->symtab, true },
		{ ".strtab", &tables->strtab, true },
		{ ".name.wasm", &tables->names, !is_named },
		{ ".wasmtime.info", &tables->info, !is_named || !has_symbols },
		{ ".wasmtime.addrmap", &tables->addrmap, true },
		{ ".eh_frame", &tables->eh_frame, true },
	};
	int error = 0;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(wanted) && error == 0; i++)
		if (wanted[i].is_needed)
			error = copy_section(headers, wanted[i].name, wanted[i].blob);
	if (eh_frame != NULL)
		tables->eh_frame_address = headers->base + eh_frame->sh_offset;
	return error;
}

static int copy_frames(const struct memory *memory, const struct image_layout *layout,
		       struct image_tables *tables)
{
	int error = blob_new(&tables->eh_frame, layout->eh_frame_size);

	if (error < 0)
		return error;
	tables->eh_frame_address = layout->eh_frame;
	return memory_read(memory, layout->eh_frame, tables->eh_frame.bytes, layout->eh_frame_size);
}

static struct image_tables *copy(const struct memory *memory, const struct image_layout *layout,
				 bool is_named)
{
	struct image_tables *tables = calloc(1, sizeof(*tables));
	struct headers headers;
	int error;

	if (tables == NULL)
		return NULL;
	error = layout->is_bare ? copy_frames(memory, layout, tables)
				: read_headers(memory, layout->base, &headers);
	if (error == 0 && !layout->is_bare)
		error = copy_sections(&headers, is_named, tables);
	if (error < 0) {
		image_tables_free(tables);
		errno = -error;
		return NULL;
	}
	return tables;
}

struct image_tables *image_copy(const struct memory *memory, const struct image_layout *layout)
{
	return copy(memory, layout, false);
}

struct image_tables *image_copy_unnamed(const struct memory *memory,
					const struct image_layout *layout)
{
	return copy(memory, layout, true);
}

void image_tables_free(struct image_tables *tables)
{
	if (tables == NULL)
		return;
	blob_free(&tables->symtab);
	blob_free(&tables->strtab);
	blob_free(&tables->names);
	blob_free(&tables->info);
	blob_free(&tables->addrmap);
	blob_free(&tables->eh_frame);
	free(tables);
}
