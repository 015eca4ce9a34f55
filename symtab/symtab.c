/* SPDX-License-Identifier: MIT */
/*
 * symtab.c - which module was where, and when.
 *
 * Live entries never overlap: one binary search finds the only one that may hold an address. Dead
 * ones may, as the host reuses addresses, but wait only for the samples that were taken before.
 */
#include "symtab/symtab.h"

#include "symtab/codemap.h"
#include "symtab/module.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Ascending by text. */
struct list {
	struct symtab_entry *entries;
	size_t count, room;
};

struct symtab {
	struct list live, dead;
	size_t largest_dead;   /* text_size that no dead entry exceeds */
	struct codemap *codes; /* NULL: no listed module yet */
};

/* The upper half of addresses is the kernel's. */
#define LISTED_TEXT (UINT64_C(1) << 63)
enum { DATA_HEAD = 104 };	     /* less than two heads and the shortest code */
enum { INTERPRETED_TEXT = 1 << 20 }; /* interpreted.c: a place for each function */
enum { LISTED_LOG2 = 36 }; /* of a listed module's text, of which 65,536 functions use a part */

struct symtab *symtab_new(void)
{
	return calloc(1, sizeof(struct symtab));
}

static void free_list(struct list *list)
{
	size_t i;

	for (i = 0; i < list->count; i++)
		module_unref(list->entries[i].module);
	free(list->entries);
}

void symtab_free(struct symtab *symtab)
{
	if (symtab == NULL)
		return;
	free_list(&symtab->live);
	free_list(&symtab->dead);
	codemap_free(symtab->codes);
	free(symtab);
}

static int reserve(struct list *list, size_t count)
{
	size_t room = list->room == 0 ? 16 : list->room;
	struct symtab_entry *entries;

	while (room < count)
		room *= 2;
	if (room == list->room)
		return 0;
	entries = realloc(list->entries, room * sizeof(*entries));
	if (entries == NULL)
		return -ENOMEM;
	list->entries = entries;
	list->room = room;
	return 0;
}

/* Number of entries that begin at or below ADDRESS. */
static size_t up_to(const struct list *list, uintptr_t address)
{
	size_t low = 0, high = list->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (list->entries[middle].text <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Room is reserved. */
static void insert(struct list *list, const struct symtab_entry *entry)
{
	size_t at = up_to(list, entry->text);

	memmove(&list->entries[at + 1], &list->entries[at],
		(list->count - at) * sizeof(list->entries[0]));
	list->entries[at] = *entry;
	list->count++;
}

static void remove_at(struct list *list, size_t at)
{
	list->count--;
	memmove(&list->entries[at], &list->entries[at + 1],
		(list->count - at) * sizeof(list->entries[0]));
}

/* Room for one more dead entry is reserved. */
static void bury(struct symtab *symtab, size_t at, uint64_t died)
{
	struct symtab_entry entry = symtab->live.entries[at];

	remove_at(&symtab->live, at);
	entry.died = died;
	insert(&symtab->dead, &entry);
	if (entry.text_size > symtab->largest_dead)
		symtab->largest_dead = entry.text_size;
}

static bool holds(const struct symtab_entry *entry, uintptr_t address)
{
	return address >= entry->text && address - entry->text < entry->text_size;
}

int symtab_add(struct symtab *symtab, struct module *module, uint32_t id, uintptr_t text,
	       size_t text_size, uint64_t born)
{
	struct symtab_entry entry = { .module = module,
				      .id = id,
				      .text = text,
				      .text_size = text_size,
				      .born = born,
				      .died = UINT64_MAX };
	size_t at;

	/* every live entry can be buried in the room that is there: see symtab_retire() */
	if (reserve(&symtab->live, symtab->live.count + 1) < 0 ||
	    reserve(&symtab->dead, symtab->dead.count + symtab->live.count + 1) < 0)
		return -ENOMEM;
	at = up_to(&symtab->live, text);
	if (at > 0 && holds(&symtab->live.entries[at - 1], text))
		bury(symtab, --at, born);
	while (at < symtab->live.count && holds(&entry, symtab->live.entries[at].text))
		bury(symtab, at, born);
	module_ref(module);
	insert(&symtab->live, &entry);
	return 0;
}

void symtab_retire(struct symtab *symtab, uint32_t id, uint64_t died)
{
	size_t i;

	for (i = 0; i < symtab->live.count; i++) {
		if (symtab->live.entries[i].id != id)
			continue;
		bury(symtab, i, died);
		return;
	}
}

static bool was_there(const struct symtab_entry *entry, uintptr_t address, uint64_t generation)
{
	return holds(entry, address) && generation >= entry->born && generation < entry->died;
}

const struct symtab_entry *symtab_find(const struct symtab *symtab, uintptr_t address,
				       uint64_t generation)
{
	const struct symtab_entry *entry;
	size_t at = up_to(&symtab->live, address);

	if (at > 0 && was_there(&symtab->live.entries[at - 1], address, generation))
		return &symtab->live.entries[at - 1];
	for (at = up_to(&symtab->dead, address); at > 0; at--) {
		entry = &symtab->dead.entries[at - 1];
		if (was_there(entry, address, generation))
			return entry;
		if (address - entry->text >= symtab->largest_dead)
			break;
	}
	return NULL;
}

void symtab_forget(struct symtab *symtab, uint64_t oldest)
{
	struct list *dead = &symtab->dead;
	size_t i, kept = 0;

	symtab->largest_dead = 0;
	for (i = 0; i < dead->count; i++) {
		if (dead->entries[i].died <= oldest) {
			module_unref(dead->entries[i].module);
			continue;
		}
		dead->entries[kept++] = dead->entries[i];
		if (dead->entries[i].text_size > symtab->largest_dead)
			symtab->largest_dead = dead->entries[i].text_size;
	}
	dead->count = kept;
}

size_t symtab_count(const struct symtab *symtab)
{
	return symtab->live.count + symtab->dead.count;
}

static const struct symtab_entry *with_id(const struct list *list, uint32_t id)
{
	size_t i;

	for (i = 0; i < list->count; i++) {
		if (list->entries[i].id == id)
			return &list->entries[i];
	}
	return NULL;
}

const struct symtab_entry *symtab_by_id(const struct symtab *symtab, uint32_t id)
{
	const struct symtab_entry *entry = with_id(&symtab->live, id);

	return entry != NULL ? entry : with_id(&symtab->dead, id);
}

/* ---- listed modules ------------------------------------------------------------------------- */

static uint64_t listed_text(uint32_t id)
{
	return LISTED_TEXT | (uint64_t)id << LISTED_LOG2;
}

int symtab_add_listed(struct symtab *symtab, struct module *module, uint32_t id)
{
	return symtab_add(symtab, module, id, listed_text(id), (size_t)1 << LISTED_LOG2, 0);
}

int symtab_add_interpreted(struct symtab *symtab, struct module *module, uint32_t id, uint64_t born)
{
	return symtab_add(symtab, module, id, listed_text(id), INTERPRETED_TEXT, born);
}

const struct symtab_entry *symtab_find_interpreted(const struct symtab *symtab, uint32_t id,
						   uint64_t generation)
{
	return symtab_find(symtab, listed_text(id), generation);
}

uint64_t symtab_place(uint32_t id, const struct symbol *symbol)
{
	return listed_text(id) + symbol->start;
}

struct codemap *symtab_codes(struct symtab *symtab)
{
	if (symtab->codes == NULL)
		symtab->codes = codemap_new();
	return symtab->codes;
}

/* Whether a module that knows its functions by itself has its code at PC. */
static bool is_modules_own(const struct symtab *symtab, uint64_t pc)
{
	size_t at = up_to(&symtab->live, pc);
	const struct symtab_entry *entry = at > 0 ? &symtab->live.entries[at - 1] : NULL;

	return entry != NULL && holds(entry, pc) && !symtab_is_space(entry) &&
	       (entry->module->bare_text == 0 || *module_engine(entry->module) != '\0');
}

uint64_t symtab_translate(const struct symtab *symtab, uint64_t pc, uint64_t time_ns)
{
	const struct code *code;

	if (symtab->codes == NULL)
		return pc;
	code = codemap_find(symtab->codes, pc, time_ns);
	if (code == NULL || (code->is_weak && is_modules_own(symtab, pc)))
		return pc;
	return code->place + (pc - code->start);
}

uint64_t symtab_translate_data(const struct symtab *symtab, uint64_t address, uint64_t time_ns)
{
	const struct code *code = NULL;

	if (symtab->codes != NULL)
		code = codemap_find_behind(symtab->codes, address, DATA_HEAD, time_ns);
	return code != NULL ? code->place : 0;
}

bool symtab_is_space(const struct symtab_entry *entry)
{
	return entry->text < LISTED_TEXT && module_is_listed(entry->module);
}
