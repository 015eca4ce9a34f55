/* SPDX-License-Identifier: MIT */
/* objsyms.c - an index of function symbols, sorted by address. */
#include "symtab/objsyms.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "symtab/elfhead.h"

enum {
	MAX_SECTIONS = 1 << 16,
	MAX_SYMBOLS = 1 << 21,
	CHUNK = 1024,	/* symbols read at a time */
	UNSIZED = 4096, /* how far a function may reach that says no size */
};

struct function {
	uint64_t start;
	uint32_t size; /* 0: to the next one, about */
	uint32_t name; /* offset in the string table */
};

struct objsyms {
	int fd;
	uint64_t strings, strings_size; /* place of the string table in the file */
	struct function *functions;
	size_t count, capacity;
	char name[OBJSYMS_NAME_MAX];
};

/* SIZE bytes at OFFSET of the file, all or nothing. */
static int read_at(int fd, void *out, size_t size, uint64_t offset)
{
	uint8_t *to = out;

	if (offset > INT64_MAX - size)
		return -EINVAL;
	while (size > 0) {
		ssize_t count = pread(fd, to, size, (off_t)offset);

		if (count < 0 && errno == EINTR)
			continue;
		if (count < 0)
			return -errno;
		if (count == 0)
			return -EINVAL;
		to += count;
		offset += (uint64_t)count;
		size -= (size_t)count;
	}
	return 0;
}

/* The section of TYPE and the string table that belongs to it. */
static int find_section(int fd, const Elf64_Ehdr *header, uint32_t type, Elf64_Shdr *symbols,
			Elf64_Shdr *strings)
{
	uint32_t i, count = header->e_shnum;
	int error;

	for (i = 0; i < count; i++) {
		error = read_at(fd, symbols, sizeof(*symbols),
				header->e_shoff + (uint64_t)i * sizeof(*symbols));
		if (error != 0)
			return error;
		if (symbols->sh_type != type || symbols->sh_entsize != sizeof(Elf64_Sym))
			continue;
		if (symbols->sh_link >= count)
			return -EINVAL;
		return read_at(fd, strings, sizeof(*strings),
			       header->e_shoff + (uint64_t)symbols->sh_link * sizeof(*strings));
	}
	return -ENODATA;
}

static bool is_function(const Elf64_Sym *symbol)
{
	unsigned char type = ELF64_ST_TYPE(symbol->st_info);

	return (type == STT_FUNC || type == STT_GNU_IFUNC) && symbol->st_shndx != SHN_UNDEF &&
	       symbol->st_value != 0 && symbol->st_name != 0;
}

static int add(struct objsyms *self, const Elf64_Sym *symbol)
{
	struct function *functions;

	if (self->count == self->capacity) {
		size_t capacity = self->capacity == 0 ? 1024 : self->capacity * 2;

		functions = realloc(self->functions, capacity * sizeof(*functions));
		if (functions == NULL)
			return -ENOMEM;
		self->functions = functions;
		self->capacity = capacity;
	}
	self->functions[self->count++] = (struct function){
		.start = symbol->st_value,
		.size = symbol->st_size > UINT32_MAX ? UINT32_MAX : (uint32_t)symbol->st_size,
		.name = symbol->st_name,
	};
	return 0;
}

static int read_symbols(struct objsyms *self, const Elf64_Shdr *section)
{
	uint64_t count = section->sh_size / sizeof(Elf64_Sym), done = 0;
	Elf64_Sym symbols[CHUNK];
	size_t i, step;
	int error = 0;

	if (count > MAX_SYMBOLS)
		count = MAX_SYMBOLS;
	for (; done < count && error == 0; done += step) {
		step = count - done < CHUNK ? (size_t)(count - done) : CHUNK;
		error = read_at(self->fd, symbols, step * sizeof(symbols[0]),
				section->sh_offset + done * sizeof(symbols[0]));
		for (i = 0; i < step && error == 0; i++)
			if (is_function(&symbols[i]))
				error = add(self, &symbols[i]);
	}
	return error;
}

/* Of several names for one place the last in the table stays last: it is the global one. */
static int compare(const void *left, const void *right)
{
	const struct function *a = left, *b = right;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return (a->size > b->size) - (a->size < b->size);
}

static int load(struct objsyms *self, const uint8_t *wanted)
{
	Elf64_Shdr symbols, strings;
	Elf64_Ehdr header;
	int error = read_at(self->fd, &header, sizeof(header), 0);

	_Static_assert(sizeof(header) == OBJSYMS_HEADER, "what the caller compares");
	if (error != 0)
		return error;
	if (wanted != NULL && memcmp(&header, wanted, sizeof(header)) != 0)
		return -ESTALE;
	if (!elfhead_is_usual(&header))
		return -EINVAL;
	error = find_section(self->fd, &header, SHT_SYMTAB, &symbols, &strings);
	if (error == -ENODATA)
		error = find_section(self->fd, &header, SHT_DYNSYM, &symbols, &strings);
	if (error == 0)
		error = read_symbols(self, &symbols);
	if (error != 0)
		return error;
	if (self->count == 0)
		return -ENODATA;
	self->strings = strings.sh_offset;
	self->strings_size = strings.sh_size;
	qsort(self->functions, self->count, sizeof(self->functions[0]), compare);
	return 0;
}

struct objsyms *objsyms_open(const char *path, const uint8_t *header)
{
	struct objsyms *self = calloc(1, sizeof(*self));
	int error;

	if (self == NULL)
		return NULL;
	self->fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	error = self->fd < 0 ? -errno : load(self, header);
	if (error == 0)
		return self;
	objsyms_close(self);
	errno = -error;
	return NULL;
}

void objsyms_close(struct objsyms *self)
{
	if (self == NULL)
		return;
	if (self->fd >= 0)
		close(self->fd);
	free(self->functions);
	free(self);
}

size_t objsyms_count(const struct objsyms *self)
{
	return self->count;
}

/* The last function that starts at or before ADDRESS, if it reaches that far. */
static const struct function *covering(const struct objsyms *self, uint64_t address)
{
	const struct function *found;
	size_t low = 0, high = self->count;
	uint64_t size;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (self->functions[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0)
		return NULL;
	found = &self->functions[low - 1];
	size = found->size != 0 ? found->size : UNSIZED;
	return address - found->start < size ? found : NULL;
}

const char *objsyms_find(struct objsyms *self, uint64_t address)
{
	const struct function *function = covering(self, address);
	uint64_t left;
	size_t size;

	if (function == NULL || function->name >= self->strings_size)
		return NULL;
	left = self->strings_size - function->name;
	size = left < sizeof(self->name) ? (size_t)left : sizeof(self->name);
	if (read_at(self->fd, self->name, size, self->strings + function->name) != 0)
		return NULL;
	self->name[sizeof(self->name) - 1] = '\0';
	self->name[size - 1] = '\0';
	return self->name[0] != '\0' ? self->name : NULL;
}
