/* SPDX-License-Identifier: MIT */
/*
 * libc.c - the libc's own dl functions, and the lookup in an object's dynamic symbol table.
 *
 * Tables belong to objects that the loader has accepted, so they are trusted as it trusts them.
 */
#include "preload/hook/libc.h"

#include <string.h>

struct tables {
	const ElfW(Sym) * symbols;
	const char *strings;
	const uint32_t *gnu_hash;
	const uint32_t *sysv_hash;
	const ElfW(Half) * versions; /* one per symbol; NULL: the object has no versions */
	const ElfW(Verdef) * definitions;
	uintptr_t definition_count;
};

enum { VERSION_HIDDEN = 0x8000, VERSION_INDEX = 0x7fff };

LIBC_UNCHECKED bool libc_is_same(const char *a, const char *b)
{
	while (*a != '\0' && *a == *b)
		a++, b++;
	return *a == *b;
}

/* The loader relocates these words in place, except in the vdso, whose pages are read-only. */
LIBC_UNCHECKED const void *libc_table(uintptr_t base, ElfW(Addr) address)
{
	return (const void *)(address < base ? base + address : address);
}

LIBC_UNCHECKED static void tables_read(struct tables *tables, uintptr_t base,
				       const ElfW(Dyn) * dynamic)
{
	for (; dynamic->d_tag != DT_NULL; dynamic++) {
		const void *table = libc_table(base, dynamic->d_un.d_ptr);

		if (dynamic->d_tag == DT_SYMTAB)
			tables->symbols = table;
		else if (dynamic->d_tag == DT_STRTAB)
			tables->strings = table;
		else if (dynamic->d_tag == DT_GNU_HASH)
			tables->gnu_hash = table;
		else if (dynamic->d_tag == DT_HASH)
			tables->sysv_hash = table;
		else if (dynamic->d_tag == DT_VERSYM)
			tables->versions = table;
		else if (dynamic->d_tag == DT_VERDEF)
			tables->definitions = table;
		else if (dynamic->d_tag == DT_VERDEFNUM)
			tables->definition_count = dynamic->d_un.d_val;
	}
}

const char *libc_strings(uintptr_t base, const ElfW(Dyn) * dynamic)
{
	struct tables tables = { 0 };

	tables_read(&tables, base, dynamic);
	return tables.strings;
}

/* The index that VERSION has in the object's definitions; 0 when it defines no such version. */
LIBC_UNCHECKED static uint32_t version_index(const struct tables *tables, const char *version)
{
	const char *at = (const char *)tables->definitions;

	for (uintptr_t i = 0; at != NULL && i < tables->definition_count; i++) {
		const ElfW(Verdef) *definition = (const void *)at;
		const ElfW(Verdaux) *name = (const void *)(at + definition->vd_aux);

		if (libc_is_same(tables->strings + name->vda_name, version))
			return definition->vd_ndx & VERSION_INDEX;
		at += definition->vd_next;
	}
	return 0;
}

LIBC_UNCHECKED static bool is_wanted(const struct tables *tables, uint32_t i, const char *name,
				     const char *version)
{
	const ElfW(Sym) *symbol = &tables->symbols[i];
	unsigned int type = ELF64_ST_TYPE(symbol->st_info);

	if (symbol->st_shndx == SHN_UNDEF || ELF64_ST_BIND(symbol->st_info) == STB_LOCAL ||
	    (type != STT_FUNC && type != STT_NOTYPE) ||
	    !libc_is_same(tables->strings + symbol->st_name, name))
		return false;
	if (tables->versions == NULL)
		return true;
	if (version == NULL)
		return (tables->versions[i] & VERSION_HIDDEN) == 0;
	return (tables->versions[i] & VERSION_INDEX) == version_index(tables, version);
}

/* The table of DT_GNU_HASH: four words, a Bloom filter, buckets, chains of hashes (ld's own
 * format). */
LIBC_UNCHECKED static uint32_t gnu_find(const struct tables *tables, const char *name,
					const char *version)
{
	const uint32_t *header = tables->gnu_hash;
	uint32_t bucket_count = header[0], first = header[1], filter_size = header[2];
	const ElfW(Addr) *filter = (const void *)(header + 4);
	const uint32_t *buckets = (const void *)(filter + filter_size);
	const uint32_t *chains = buckets + bucket_count;
	const unsigned int bits = 8 * sizeof(*filter);
	uint32_t hash = 5381, i;
	ElfW(Addr) word;

	for (const unsigned char *c = (const unsigned char *)name; *c != '\0'; c++)
		hash = hash * 33 + *c;
	if (bucket_count == 0 || filter_size == 0)
		return 0;
	word = filter[hash / bits % filter_size];
	if ((word >> (hash % bits) & word >> ((hash >> header[3]) % bits) & 1) == 0)
		return 0;
	i = buckets[hash % bucket_count];
	if (i < first)
		return 0;
	do {
		if ((chains[i - first] | 1) == (hash | 1) && is_wanted(tables, i, name, version))
			return i;
	} while ((chains[i++ - first] & 1) == 0);
	return 0;
}

LIBC_UNCHECKED static uint32_t sysv_find(const struct tables *tables, const char *name,
					 const char *version)
{
	const uint32_t *header = tables->sysv_hash, *buckets = header + 2,
		       *chains = buckets + header[0];
	uint32_t hash = 0, i;

	for (const unsigned char *c = (const unsigned char *)name; *c != '\0'; c++) {
		hash = (hash << 4) + *c;
		hash = (hash ^ (hash >> 24 & 0xf0)) & 0x0fffffff;
	}
	for (i = header[0] != 0 ? buckets[hash % header[0]] : 0; i != 0; i = chains[i])
		if (is_wanted(tables, i, name, version))
			return i;
	return 0;
}

LIBC_UNCHECKED void *libc_symbol(uintptr_t base, const ElfW(Dyn) * dynamic, const char *name,
				 const char *version)
{
	struct tables tables = { 0 };
	uint32_t i = 0;

	tables_read(&tables, base, dynamic);
	if (tables.symbols == NULL || tables.strings == NULL)
		return NULL;
	if (tables.gnu_hash != NULL)
		i = gnu_find(&tables, name, version);
	else if (tables.sysv_hash != NULL)
		i = sysv_find(&tables, name, version);
	return i != 0 ? (void *)(base + tables.symbols[i].st_value) : NULL;
}

/* True for ".../libc.so.6" with FILE "libc.so." */
LIBC_UNCHECKED static bool is_file(const char *path, const char *file)
{
	const char *name = path;

	for (; *path != '\0'; path++)
		if (*path == '/')
			name = path + 1;
	while (*file != '\0' && *file == *name)
		file++, name++;
	return *file == '\0';
}

/* Unversioned lookups would do, but for compatibility symbols: old glibc hides what it replaced. */
LIBC_UNCHECKED static void *find(const struct link_map *map, const char *name)
{
	static const char *const versions[] = { "GLIBC_2.34", "GLIBC_2.2.5" };
	void *found = libc_symbol(map->l_addr, map->l_ld, name, NULL);

	for (size_t i = 0; found == NULL && i < ARRAY_SIZE(versions); i++)
		found = libc_symbol(map->l_addr, map->l_ld, name, versions[i]);
	return found;
}

static uintptr_t nothing(void)
{
	return 0;
}

/*
 * The libc is loaded at start: the walk ends before the part of the list that dlopen and dlclose
 * change, so it needs no lock.
 */
LIBC_UNCHECKED static void *search(const char *name)
{
	void *found = NULL;

	for (const struct link_map *map = _r_debug.r_map; map != NULL && found == NULL;
	     map = map->l_next)
		if (is_file(map->l_name, "libc.so.") || is_file(map->l_name, "libdl.so."))
			found = find(map, name);
	return found != NULL ? found : (void *)nothing;
}

LIBC_UNCHECKED const struct libc *libc_real(void)
{
	static struct libc self;
	static atomic_int progress; /* 0, 1 being filled, 2 filled */
	int expected = 0;

	/* acquire: pairs with the release below. No pthread_once(): it is intercepted too. */
	if (atomic_load_explicit(&progress, memory_order_acquire) == 2)
		return &self;
	if (atomic_compare_exchange_strong(&progress, &expected, 1)) {
		self.dlopen = search("dlopen");
		self.dlclose = search("dlclose");
		self.dlsym = search("dlsym");
		self.dlvsym = search("dlvsym");
		self.dlerror = search("dlerror");
		self.iterate = search("dl_iterate_phdr");
		atomic_store_explicit(&progress, 2, memory_order_release);
	}
	while (atomic_load_explicit(&progress, memory_order_acquire) != 2)
		continue;
	return &self;
}
