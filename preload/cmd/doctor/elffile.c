/* SPDX-License-Identifier: MIT */
/* elffile.c - bounded reads of an ELF file's headers, dynamic section and texts. Threads: any. */
#include "preload/cmd/doctor/elffile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	HEADERS_MAX = 256,
	SECTIONS_MAX = 4096,
	DYNAMIC_MAX = 4096,
	STRINGS_MAX = 64 << 20,
	SYMBOLS_MAX = 1 << 20,
	PIECE = 1 << 20,
};

#define TEXTS_MAX ((uint64_t)512 << 20)

enum { OWN_MACHINE = EM_X86_64 };

/* SIZE bytes at OFFSET to OUT, all or nothing. */
static bool read_at(const struct elffile *file, uint64_t offset, void *out, size_t size)
{
	if (offset > file->size || size > file->size - offset)
		return false;
	return pread(file->fd, out, size, (off_t)offset) == (ssize_t)size;
}

/* ---- headers --------------------------------------------------------------------------------- */

static void read_interpreter(struct elffile *file, const Elf64_Phdr *program)
{
	size_t size = program->p_filesz;

	if (size >= sizeof(file->interpreter) ||
	    !read_at(file, program->p_offset, file->interpreter, size)) {
		file->is_damaged = true;
		size = 0;
	}
	file->interpreter[size] = '\0';
}

/* Where the file has the byte at ADDRESS; UINT64_MAX: nowhere. */
static uint64_t offset_of(const struct elffile *file, uint64_t address)
{
	for (size_t i = 0; i < file->load_count; i++) {
		const Elf64_Phdr *load = &file->loads[i];

		if (address >= load->p_vaddr && address - load->p_vaddr < load->p_filesz)
			return load->p_offset + (address - load->p_vaddr);
	}
	return UINT64_MAX;
}

/* The program headers; the dynamic section's is put to DYNAMIC. */
static void read_programs(struct elffile *file, const Elf64_Ehdr *header, Elf64_Phdr *dynamic)
{
	if (header->e_phentsize != sizeof(*dynamic) || header->e_phnum > HEADERS_MAX) {
		file->is_damaged = header->e_phnum != 0;
		return;
	}
	for (size_t i = 0; i < header->e_phnum; i++) {
		Elf64_Phdr program;

		if (!read_at(file, header->e_phoff + i * sizeof(program), &program,
			     sizeof(program))) {
			file->is_damaged = true;
			return;
		}
		if (program.p_type == PT_INTERP) {
			read_interpreter(file, &program);
		} else if (program.p_type == PT_DYNAMIC) {
			*dynamic = program;
			file->has_dynamic = true;
		} else if (program.p_type == PT_LOAD && file->load_count < ELFFILE_LOADS_MAX) {
			file->loads[file->load_count++] = program;
		}
	}
}

/* ---- sections: .symtab, and how many dynamic symbols there are ------------------------------- */

/* The number of dynamic symbols at OFFSET, as their section says; 0: there is none. */
static size_t read_sections(struct elffile *file, const Elf64_Ehdr *header, uint64_t symbols)
{
	size_t count = 0;

	if (header->e_shentsize != sizeof(Elf64_Shdr) || header->e_shnum > SECTIONS_MAX)
		return 0;
	for (size_t i = 0; i < header->e_shnum; i++) {
		Elf64_Shdr section;

		if (!read_at(file, header->e_shoff + i * sizeof(section), &section,
			     sizeof(section)))
			return count;
		if (section.sh_type == SHT_SYMTAB)
			file->has_symbols = true;
		else if (section.sh_type == SHT_DYNSYM && section.sh_offset == symbols)
			count = section.sh_size / sizeof(Elf64_Sym);
	}
	return count;
}

static int read_symbols(struct elffile *file, uint64_t offset, size_t count)
{
	size_t most = offset < file->size ? (file->size - offset) / sizeof(Elf64_Sym) : 0;

	count = count < most ? count : most;
	count = count < SYMBOLS_MAX ? count : SYMBOLS_MAX;
	if (count == 0)
		return 0;
	file->symbols = malloc(count * sizeof(*file->symbols));
	if (file->symbols == NULL)
		return -ENOMEM;
	if (read_at(file, offset, file->symbols, count * sizeof(*file->symbols)))
		file->symbol_count = count;
	return 0;
}

/* ---- the dynamic section --------------------------------------------------------------------- */

/* Offsets of strings are kept as they are until the strings are there. */
struct dynamic {
	uint64_t strings, strings_size, symbols; /* addresses, and bytes */
	uint64_t needed[ELFFILE_NEEDED_MAX];
	size_t needed_count;
	uint64_t runpath, rpath; /* UINT64_MAX: none */
};

static void take_entry(struct dynamic *dynamic, const Elf64_Dyn *entry)
{
	uint64_t value = entry->d_un.d_val;

	switch (entry->d_tag) {
	case DT_NEEDED:
		if (dynamic->needed_count < ELFFILE_NEEDED_MAX)
			dynamic->needed[dynamic->needed_count++] = value;
		break;
	case DT_STRTAB:
		dynamic->strings = value;
		break;
	case DT_STRSZ:
		dynamic->strings_size = value;
		break;
	case DT_SYMTAB:
		dynamic->symbols = value;
		break;
	case DT_RUNPATH:
		dynamic->runpath = value;
		break;
	case DT_RPATH:
		dynamic->rpath = value;
		break;
	default:
		break;
	}
}

static int read_strings(struct elffile *file, const struct dynamic *dynamic)
{
	uint64_t offset = offset_of(file, dynamic->strings), size = dynamic->strings_size;

	if (offset >= file->size || size > STRINGS_MAX || size > file->size - offset) {
		file->is_damaged = true;
		return 0;
	}
	file->strings = malloc(size + 1);
	if (file->strings == NULL)
		return -ENOMEM;
	file->strings_size = read_at(file, offset, file->strings, size) ? size : 0;
	file->strings[file->strings_size] = '\0';
	return 0;
}

static const char *string_at(const struct elffile *file, uint64_t offset)
{
	return offset < file->strings_size ? file->strings + offset : NULL;
}

static void name_needed(struct elffile *file, const struct dynamic *dynamic)
{
	uint64_t search = dynamic->runpath != UINT64_MAX ? dynamic->runpath : dynamic->rpath;

	for (size_t i = 0; i < dynamic->needed_count; i++) {
		const char *name = string_at(file, dynamic->needed[i]);

		if (name != NULL)
			file->needed[file->needed_count++] = name;
	}
	file->search_path = string_at(file, search);
}

static int read_dynamic(struct elffile *file, const Elf64_Ehdr *header, const Elf64_Phdr *program)
{
	struct dynamic dynamic = { .runpath = UINT64_MAX, .rpath = UINT64_MAX };
	size_t count = program->p_filesz / sizeof(Elf64_Dyn);
	uint64_t symbols;
	int error;

	for (size_t i = 0; i < count && i < DYNAMIC_MAX; i++) {
		Elf64_Dyn entry;

		if (!read_at(file, program->p_offset + i * sizeof(entry), &entry, sizeof(entry))) {
			file->is_damaged = true;
			break;
		}
		if (entry.d_tag == DT_NULL)
			break;
		take_entry(&dynamic, &entry);
	}
	error = read_strings(file, &dynamic);
	if (error != 0)
		return error;
	name_needed(file, &dynamic);
	symbols = offset_of(file, dynamic.symbols);
	return read_symbols(file, symbols, read_sections(file, header, symbols));
}

/* ---- opening --------------------------------------------------------------------------------- */

static int read_file(struct elffile *file)
{
	Elf64_Phdr dynamic = { 0 };
	Elf64_Ehdr header = { 0 };
	bool is_swapped;

	/* The shorter header, of 32 bits, has the machine in the same place. */
	if (!read_at(file, 0, &header, sizeof(Elf32_Ehdr)) ||
	    memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
		return -ENOEXEC;
	is_swapped = header.e_ident[EI_DATA] != ELFDATA2LSB;
	file->machine = is_swapped ? __builtin_bswap16(header.e_machine) : header.e_machine;
	file->is_32bit = header.e_ident[EI_CLASS] == ELFCLASS32;
	file->is_native = header.e_ident[EI_CLASS] == ELFCLASS64 && !is_swapped &&
			  file->machine == OWN_MACHINE;
	if (!file->is_native)
		return 0;
	if (!read_at(file, 0, &header, sizeof(header))) {
		file->is_damaged = true;
		return 0;
	}
	read_programs(file, &header, &dynamic);
	if (file->has_dynamic)
		return read_dynamic(file, &header, &dynamic);
	read_sections(file, &header, UINT64_MAX);
	return 0;
}

int elffile_open(struct elffile *file, const char *path)
{
	struct stat about;
	int error;

	/* A fifo would have us wait. */
	*file = (struct elffile){ .fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) };
	if (file->fd < 0)
		return -errno;
	error = fstat(file->fd, &about) == 0 && S_ISREG(about.st_mode) ? 0 : -ENOEXEC;
	file->size = error == 0 ? (uint64_t)about.st_size : 0;
	if (error == 0)
		error = read_file(file);
	if (error != 0)
		elffile_close(file);
	return error;
}

void elffile_close(struct elffile *file)
{
	if (file->fd >= 0)
		close(file->fd);
	free(file->strings);
	free(file->symbols);
	*file = (struct elffile){ .fd = -1 };
}

/* ---- questions ------------------------------------------------------------------------------- */

enum elffile_symbol elffile_symbol(const struct elffile *file, const char *name)
{
	enum elffile_symbol found = ELFFILE_ABSENT;

	for (size_t i = 0; i < file->symbol_count; i++) {
		const char *other = string_at(file, file->symbols[i].st_name);

		if (other == NULL || strcmp(other, name) != 0)
			continue;
		if (file->symbols[i].st_shndx != SHN_UNDEF)
			return ELFFILE_DEFINED;
		found = ELFFILE_WANTED;
	}
	return found;
}

unsigned int elffile_glibc(const struct elffile *file)
{
	static const char prefix[] = "GLIBC_2.";
	unsigned int newest = 0;

	for (size_t at = 0; at < file->strings_size; at += strlen(file->strings + at) + 1) {
		const char *name = file->strings + at;
		unsigned long minor;

		if (strncmp(name, prefix, sizeof(prefix) - 1) != 0)
			continue;
		minor = strtoul(name + sizeof(prefix) - 1, NULL, 10);
		if (minor > newest && minor < 1000)
			newest = (unsigned int)minor;
	}
	return newest;
}

/* One segment of SIZE bytes at OFFSET; LEFT is what may still be read. */
static void visit_part(const struct elffile *file, uint64_t offset, uint64_t size, size_t overlap,
		       uint8_t *piece,
		       void (*visit)(void *context, const uint8_t *bytes, size_t size),
		       void *context)
{
	uint64_t at = 0;
	size_t kept = 0;

	while (at < size) {
		size_t wanted = PIECE - kept;
		ssize_t got;

		if (wanted > size - at)
			wanted = (size_t)(size - at);
		got = pread(file->fd, piece + kept, wanted, (off_t)(offset + at));
		if (got <= 0)
			return;
		visit(context, piece, kept + (size_t)got);
		at += (uint64_t)got;
		got += (ssize_t)kept;
		kept = (size_t)got < overlap ? (size_t)got : overlap;
		memmove(piece, piece + got - kept, kept);
	}
}

/* Linkers that know no separate-code put constants beside the code. */
static bool has_constants_apart(const struct elffile *file)
{
	for (size_t i = 0; i < file->load_count; i++) {
		if ((file->loads[i].p_flags & (PF_R | PF_W | PF_X)) == PF_R)
			return true;
	}
	return false;
}

int elffile_texts(const struct elffile *file, size_t overlap,
		  void (*visit)(void *context, const uint8_t *bytes, size_t size), void *context)
{
	bool skips_code = has_constants_apart(file);
	uint8_t *piece = malloc(PIECE);
	uint64_t left = TEXTS_MAX;

	if (piece == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < file->load_count && left > 0; i++) {
		const Elf64_Phdr *load = &file->loads[i];
		uint64_t size = load->p_filesz;

		if (((load->p_flags & PF_X) != 0 && skips_code) || load->p_offset >= file->size)
			continue;
		if (size > file->size - load->p_offset)
			size = file->size - load->p_offset;
		if (size > left)
			size = left;
		left -= size;
		visit_part(file, load->p_offset, size, overlap, piece, visit, context);
	}
	free(piece);
	return 0;
}
