/* SPDX-License-Identifier: MIT */
/*
 * hidden.c - an engine that nobody sees the host call, as one that is linked statically.
 *
 * The program itself defines the engine's functions (stubs that jump through hidden_slots, made by
 * tests/host/build), so that no library can come between; they are looked up in the library's own
 * symbol table, not by dlsym.
 */
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const char *const hidden_names[];
extern void *hidden_slots[];

struct symbols {
	const ElfW(Sym) * table;
	const char *strings;
	const uint32_t *hash;
	ElfW(Addr) base;
};

static struct symbols symbols_of(const struct link_map *map)
{
	struct symbols symbols = { .base = map->l_addr };

	for (const ElfW(Dyn) *entry = map->l_ld; entry->d_tag != DT_NULL; entry++) {
		if (entry->d_tag == DT_SYMTAB)
			symbols.table = (const void *)entry->d_un.d_ptr;
		else if (entry->d_tag == DT_STRTAB)
			symbols.strings = (const void *)entry->d_un.d_ptr;
		else if (entry->d_tag == DT_GNU_HASH)
			symbols.hash = (const void *)entry->d_un.d_ptr;
	}
	return symbols;
}

static uint32_t hash_of(const char *name)
{
	uint32_t hash = 5381;

	while (*name != '\0')
		hash = hash * 33 + (unsigned char)*name++;
	return hash;
}

/* DT_GNU_HASH: counts, the bloom filter, the buckets, the chains. */
static void *find(const struct symbols *symbols, const char *name)
{
	uint32_t buckets = symbols->hash[0], first = symbols->hash[1], bloom = symbols->hash[2];
	const uint32_t *bucket = symbols->hash + 4 + 2 * bloom, *chain = bucket + buckets;
	uint32_t hash = hash_of(name), i = bucket[hash % buckets];

	for (; i >= first; i++) {
		const ElfW(Sym) *symbol = &symbols->table[i];

		if (strcmp(symbols->strings + symbol->st_name, name) == 0)
			return (void *)(symbols->base + symbol->st_value);
		if ((chain[i - first] & 1) != 0)
			break;
	}
	return NULL;
}

__attribute__((constructor)) static void bind(void)
{
	void *library = dlopen(HIDDEN_LIBRARY, RTLD_NOW | RTLD_LOCAL);
	struct symbols symbols;

	if (library == NULL) {
		fprintf(stderr, "hidden: %s\n", dlerror());
		exit(1);
	}
	symbols = symbols_of(library);
	for (size_t i = 0; hidden_names[i] != NULL; i++) {
		hidden_slots[i] = find(&symbols, hidden_names[i]);
		if (hidden_slots[i] != NULL)
			continue;
		fprintf(stderr, "hidden: no %s\n", hidden_names[i]);
		exit(1);
	}
}
