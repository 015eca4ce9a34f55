/* SPDX-License-Identifier: MIT */
/* object.c - the loaded objects: which one holds an address, and what it defines. */
#include "preload/hook/object.h"

#include <string.h>

#include "preload/hook/libc.h"

/* _DYNAMIC (link.h) is our own object's: the linker makes it hidden. */

struct search {
	uintptr_t address;
	struct object *object;
	uint32_t rank;
	bool found;
};

static void read_object(const struct dl_phdr_info *info, struct object *object)
{
	*object = (struct object){ .start = UINTPTR_MAX,
				   .base = info->dlpi_addr,
				   .name = info->dlpi_name };
	for (ElfW(Half) i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
		uintptr_t start = info->dlpi_addr + segment->p_vaddr;

		if (segment->p_type == PT_DYNAMIC)
			object->dynamic = (const void *)start;
		if (segment->p_type == PT_GNU_RELRO) {
			object->relro_start = start;
			object->relro_end = start + segment->p_memsz;
		}
		if (segment->p_type != PT_LOAD)
			continue;
		if (start < object->start)
			object->start = start;
		if (start + segment->p_memsz > object->end)
			object->end = start + segment->p_memsz;
	}
}

static int visit_for_address(struct dl_phdr_info *info, size_t size, void *context)
{
	struct search *search = context;

	(void)size;
	read_object(info, search->object);
	search->found =
		search->address >= search->object->start && search->address < search->object->end;
	search->object->rank = search->rank++;
	return search->found;
}

bool object_at(uintptr_t address, struct object *object)
{
	struct search search = { .address = address, .object = object };

	libc_real()->iterate(visit_for_address, &search);
	if (!search.found)
		*object = (struct object){ 0 };
	return search.found;
}

struct walk {
	bool (*visit)(const struct object *object, void *context);
	void *context;
	uint32_t rank;
};

static int visit_each(struct dl_phdr_info *info, size_t size, void *context)
{
	struct walk *walk = context;
	struct object object;

	(void)size;
	read_object(info, &object);
	object.rank = walk->rank++;
	return object.dynamic != _DYNAMIC && walk->visit(&object, walk->context);
}

bool object_each(bool (*visit)(const struct object *object, void *context), void *context)
{
	struct walk walk = { .visit = visit, .context = context };

	return libc_real()->iterate(visit_each, &walk) != 0;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash != NULL ? slash + 1 : path;
}

/* True when OBJECT lists FILE or SONAME among what it needs; either may be NULL. */
static bool needs(const struct object *object, const char *file, const char *soname)
{
	const char *strings = libc_strings(object->base, object->dynamic);

	for (const ElfW(Dyn) *entry = object->dynamic; entry->d_tag != DT_NULL; entry++) {
		const char *needed;

		if (entry->d_tag != DT_NEEDED || strings == NULL)
			continue;
		needed = base_name(strings + entry->d_un.d_val);
		if (strcmp(needed, file) == 0 || (soname != NULL && strcmp(needed, soname) == 0))
			return true;
	}
	return false;
}

static const char *soname_of(const struct object *object)
{
	const char *strings = libc_strings(object->base, object->dynamic);

	for (const ElfW(Dyn) *entry = object->dynamic; entry->d_tag != DT_NULL; entry++)
		if (entry->d_tag == DT_SONAME && strings != NULL)
			return strings + entry->d_un.d_val;
	return NULL;
}

struct climb {
	const struct object *from;
	const char *file, *soname;
	struct object *loader;
	uint32_t rank;
	bool found;
};

static int visit_for_loader(struct dl_phdr_info *info, size_t size, void *context)
{
	struct climb *climb = context;
	uint32_t rank = climb->rank++;

	(void)size;
	if (rank >= climb->from->rank)
		return 1;
	read_object(info, climb->loader);
	climb->loader->rank = rank;
	climb->found =
		climb->loader->dynamic != NULL && needs(climb->loader, climb->file, climb->soname);
	return climb->found;
}

void object_root(const struct object *object, struct object *root)
{
	struct object loader;
	struct climb climb;

	*root = *object;
	/* Ends: each loader came earlier than what it brought. */
	do {
		climb = (struct climb){ .from = root, .loader = &loader };
		if (root->dynamic == NULL || root->name == NULL)
			return;
		climb.file = base_name(root->name);
		climb.soname = soname_of(root);
		libc_real()->iterate(visit_for_loader, &climb);
		if (climb.found)
			*root = loader;
	} while (climb.found);
}

void *object_symbol(const struct object *object, const char *name)
{
	return object->dynamic != NULL ? libc_symbol(object->base, object->dynamic, name, NULL)
				       : NULL;
}

bool object_is_ours(const void *address)
{
	struct object object;

	return object_at((uintptr_t)address, &object) && object.dynamic == _DYNAMIC;
}

struct definitions {
	const char *name;
	void *nearest;
	uint32_t wanted, distance;
	int count;
};

static bool visit_for_definition(const struct object *object, void *context)
{
	struct definitions *definitions = context;
	void *found = object_symbol(object, definitions->name);
	uint32_t distance;

	if (found == NULL)
		return false;
	distance = object->rank > definitions->wanted ? object->rank - definitions->wanted
						      : definitions->wanted - object->rank;
	if (definitions->count++ == 0 || distance < definitions->distance) {
		definitions->nearest = found;
		definitions->distance = distance;
	}
	return false;
}

int object_definitions(const char *name, uint32_t rank, void **found)
{
	struct definitions definitions = { .name = name, .wanted = rank };

	object_each(visit_for_definition, &definitions);
	*found = definitions.nearest;
	return definitions.count;
}

struct changes {
	uint64_t loads, unloads;
};

static int visit_for_changes(struct dl_phdr_info *info, size_t size, void *context)
{
	struct changes *changes = context;

	if (size >= offsetof(struct dl_phdr_info, dlpi_subs) + sizeof(info->dlpi_subs))
		*changes = (struct changes){ info->dlpi_adds, info->dlpi_subs };
	return 1;
}

void object_changes(uint64_t *loads, uint64_t *unloads)
{
	struct changes changes = { 0 };

	libc_real()->iterate(visit_for_changes, &changes);
	*loads = changes.loads;
	*unloads = changes.unloads;
}

uint64_t object_unloads(void)
{
	uint64_t loads, unloads;

	object_changes(&loads, &unloads);
	return unloads;
}

static int visit_for_count(struct dl_phdr_info *info, size_t size, void *context)
{
	(void)info, (void)size;
	++*(uint32_t *)context;
	return 0;
}

uint32_t object_count(void)
{
	uint32_t count = 0;

	libc_real()->iterate(visit_for_count, &count);
	return count;
}
