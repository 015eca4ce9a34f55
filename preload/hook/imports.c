/* SPDX-License-Identifier: MIT */
/* imports.c - the words in which an object keeps what the loader bound its imported names to. */
#include "preload/hook/imports.h"

#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "preload/hook/imports_x86_64.h"
#include "preload/hook/libc.h"

struct relocations {
	const ElfW(Rela) * first;
	size_t count;
};

struct tables {
	const ElfW(Sym) * symbols;
	const char *strings;
	struct relocations relocations[2]; /* of data, of calls */
	bool has_patched_text;
};

/* ---- reading -----------------------------------------------------------------------------------
 */

static void read_tables(const struct object *object, struct tables *tables)
{
	size_t relative = 0, sizes[2] = { 0 };

	*tables = (struct tables){ 0 };
	for (const ElfW(Dyn) *entry = object->dynamic; entry->d_tag != DT_NULL; entry++) {
		const void *table = libc_table(object->base, entry->d_un.d_ptr);

		if (entry->d_tag == DT_SYMTAB)
			tables->symbols = table;
		else if (entry->d_tag == DT_STRTAB)
			tables->strings = table;
		else if (entry->d_tag == DT_RELA)
			tables->relocations[0].first = table;
		else if (entry->d_tag == DT_JMPREL)
			tables->relocations[1].first = table;
		else if (entry->d_tag == DT_RELASZ)
			sizes[0] = entry->d_un.d_val;
		else if (entry->d_tag == DT_PLTRELSZ)
			sizes[1] = entry->d_un.d_val;
		else if (entry->d_tag == DT_RELACOUNT)
			relative = entry->d_un.d_val;
		else if (entry->d_tag == DT_TEXTREL)
			tables->has_patched_text = true;
	}
	for (size_t i = 0; i < 2; i++)
		tables->relocations[i].count =
			tables->relocations[i].first != NULL ? sizes[i] / sizeof(ElfW(Rela)) : 0;
	/* the relative ones come first, and are the most */
	if (relative <= tables->relocations[0].count) {
		tables->relocations[0].first += relative;
		tables->relocations[0].count -= relative;
	}
}

static bool read_import(const struct object *object, const struct tables *tables,
			const ElfW(Rela) * relocation, struct import *import)
{
	const ElfW(Sym) *symbol = &tables->symbols[ELF64_R_SYM(relocation->r_info)];
	uint32_t type = ELF64_R_TYPE(relocation->r_info);
	uintptr_t address = object->base + relocation->r_offset;

	if (!import_is_address(type) || symbol->st_shndx != SHN_UNDEF || symbol->st_name == 0 ||
	    relocation->r_addend != 0 || address % sizeof(uintptr_t) != 0 ||
	    address < object->start || object->end - address < sizeof(uintptr_t))
		return false;
	*import = (struct import){ .name = tables->strings + symbol->st_name,
				   .word = (void *)address,
				   .is_lazy = import_is_lazy(type) };
	return true;
}

bool imports_each(const struct object *object,
		  bool (*visit)(const struct import *import, void *context), void *context)
{
	struct tables tables;
	struct import import;

	if (object->dynamic == NULL)
		return false;
	read_tables(object, &tables);
	/* words within code: their pages cannot be written for a moment while others run there */
	if (tables.symbols == NULL || tables.strings == NULL || tables.has_patched_text)
		return false;
	for (size_t i = 0; i < 2; i++) {
		const struct relocations *all = &tables.relocations[i];

		for (size_t r = 0; r < all->count; r++)
			if (read_import(object, &tables, &all->first[r], &import) &&
			    visit(&import, context))
				return true;
	}
	return false;
}

/* ---- writing -----------------------------------------------------------------------------------
 */

/*
 * The process whose thread is changing pages; 0: none. Short, and nothing within waits; a child of
 * a fork takes over what a thread of its parent held.
 */
static atomic_int writer;

static void lock_pages(void)
{
	int own = getpid(), holder = 0;

	while (!atomic_compare_exchange_weak(&writer, &holder, own)) {
		if (holder == own) {
			sched_yield();
			holder = 0;
		}
	}
}

static void unlock_pages(void)
{
	atomic_store(&writer, 0);
}

static bool protect(uintptr_t page, size_t size, int rights)
{
	return syscall(SYS_mprotect, page, size, rights) == 0;
}

bool imports_store(const struct object *object, const struct import *import, uintptr_t before,
		   uintptr_t value)
{
	size_t size = (size_t)sysconf(_SC_PAGESIZE);
	uintptr_t page = (uintptr_t)import->word & ~(size - 1);
	/* as the loader rounds it (glibc elf/dl-reloc.c, _dl_protect_relro) */
	bool is_locked = page >= (object->relro_start & ~(size - 1)) &&
			 page < (object->relro_end & ~(size - 1));
	bool is_stored = false;

	lock_pages();
	if (!is_locked || protect(page, size, PROT_READ | PROT_WRITE)) {
		/* release: whoever calls through the word finds the thunk's target */
		is_stored = atomic_compare_exchange_strong(import->word, &before, value);
		if (is_locked)
			protect(page, size, PROT_READ);
	}
	unlock_pages();
	return is_stored;
}
