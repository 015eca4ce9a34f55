/* SPDX-License-Identifier: MIT */
/*
 * codemodule.c - modules by the memory that their functions are in, and by their names.
 *
 * An engine tells a function's address, name and index, and not its module. Code of one module is
 * in memory of its own (V8 11 to 14: a reservation for each), so a mapping stands for a module
 * until the memory is another's: a name that contradicts says so. The same binary again is the
 * same module: its first function has the same name, index and size of code.
 */
#include "preload/load/codemodule.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "preload/base/stats.h"
#include "preload/load/codequeue.h"
#include "preload/load/load.h"
#include "preload/load/mapping.h"
#include "preload/load/registry.h"
#include "preload/load/wasmfiles.h"
#include "symtab/symtab.h"

enum { MODULES = 256, REGIONS = 1024, FUNCTIONS = 65536, UNKNOWN_REGION = 64 << 10 };

struct known {
	struct codemodule is;
	uint32_t *names; /* by index: a hash of the function's name; 0: not told yet */
	uint32_t name_count;
	char first[256]; /* what its first function was called, by the engine */
	size_t first_size;
};

struct region {
	uintptr_t start, end;
	struct known *of;
	uint64_t used; /* when last: a number */
};

static struct {
	struct codemodule script, jit;
	struct known *modules[MODULES];
	size_t module_count;
	struct region regions[REGIONS];
	size_t region_count;
	uint64_t uses;
} self;

/* ---- modules --------------------------------------------------------------------------------- */

static int make(struct symtab *symtab, const struct module_listing *listing,
		const struct load_observer *observer, struct codemodule *made)
{
	struct module *module = module_new_listed(listing);
	uint32_t id;
	int error;

	if (module == NULL)
		return -ENOMEM;
	registry_lock();
	id = registry_new_id();
	registry_unlock();
	error = symtab_add_listed(symtab, module, id);
	if (error == 0) {
		*made = (struct codemodule){ .module = module, .id = id };
		stat_count(STAT_MODULES);
		if (observer->listed != NULL)
			observer->listed(module);
	} else {
		module_unref(module);
	}
	return error;
}

/* That of all that is not wasm. */
static const struct codemodule *script_module(struct symtab *symtab,
					      const struct load_observer *observer)
{
	const struct code_engine *engine = codequeue_told_by();
	struct module_listing listing = {
		.engine = engine->name,
		.engine_version = engine->version,
		.name = engine->script_module,
		.identity = "script",
	};

	if (self.script.module == NULL && make(symtab, &listing, observer, &self.script) != 0)
		return NULL;
	return &self.script;
}

/* That of all of which no engine tells. */
static const struct codemodule *jit_module(struct symtab *symtab,
					   const struct load_observer *observer)
{
	static const struct module_listing listing = {
		.engine = "",
		.engine_version = "",
		.name = "jit",
		.identity = "jit",
	};

	if (self.jit.module == NULL && make(symtab, &listing, observer, &self.jit) != 0)
		return NULL;
	return &self.jit;
}

/* ---- wasm ------------------------------------------------------------------------------------ */

static uint32_t hash_of(const struct code_event *event)
{
	uint32_t hash = 2166136261u; /* FNV-1a */

	for (size_t i = 0; i < event->shown_length; i++)
		hash = (hash ^ (uint8_t)event->name[event->shown_start + i]) * 16777619u;
	return hash | 1;
}

/* Whether KNOWN has another function where EVENT's would be. */
static bool contradicts(const struct known *known, const struct code_event *event)
{
	return event->index < known->name_count && known->names[event->index] != 0 &&
	       known->names[event->index] != hash_of(event);
}

static void remember(struct known *known, const struct code_event *event)
{
	uint32_t count = known->name_count == 0 ? 64 : known->name_count, *names;

	if (event->index >= FUNCTIONS)
		return;
	while (count <= event->index)
		count *= 2;
	if (count > known->name_count) {
		names = realloc(known->names, count * sizeof(*names));
		if (names == NULL)
			return;
		memset(names + known->name_count, 0, (count - known->name_count) * sizeof(*names));
		known->names = names;
		known->name_count = count;
	}
	known->names[event->index] = hash_of(event);
}

static bool is_first(const struct known *known, const struct code_event *event)
{
	return known->first_size == event->size &&
	       strncmp(known->first, event->name, sizeof(known->first) - 1) == 0;
}

/* Is this the binary that the function is of? */
static bool names_function(void *context, const struct wasmbin *wasm)
{
	const struct code_event *event = context;
	size_t length;
	const char *name;

	if (wasmbin_is_component(wasm) ||
	    event->index >=
		    wasmbin_imported_functions(wasm, 0) + wasmbin_defined_functions(wasm, 0))
		return false;
	name = wasmbin_function_name(wasm, 0, event->index, &length);
	return name != NULL && length == event->shown_length &&
	       memcmp(name, event->name + event->shown_start, length) == 0;
}

static struct known *make_known(struct symtab *symtab, const struct code_event *event,
				const struct load_observer *observer)
{
	const struct code_engine *engine = codequeue_told_by();
	char identity[320], name[64], *path = NULL;
	struct module_listing listing = {
		.engine = engine->name,
		.engine_version = engine->version,
		.identity = identity,
	};
	struct known *known = calloc(1, sizeof(*known));

	if (known == NULL)
		return NULL;
	snprintf(known->first, sizeof(known->first), "%s", event->name);
	known->first_size = event->size;
	snprintf(identity, sizeof(identity), "%s %zu", known->first, event->size);
	listing.wasm = wasmfiles_match(names_function, (void *)event, &path);
	listing.path = path;
	snprintf(name, sizeof(name), "wasm (%s)", engine->name);
	if (listing.wasm == NULL)
		listing.name = name;
	if (make(symtab, &listing, observer, &known->is) != 0) {
		free(known);
		known = NULL;
	} else {
		self.modules[self.module_count++] = known;
	}
	wasmbin_unref(listing.wasm);
	free(path);
	return known;
}

static struct known *find_or_make(struct symtab *symtab, const struct code_event *event,
				  const struct load_observer *observer)
{
	for (size_t i = 0; i < self.module_count; i++)
		if (is_first(self.modules[i], event))
			return self.modules[i];
	if (self.module_count == MODULES)
		return self.modules[MODULES - 1];
	return make_known(symtab, event, observer);
}

/* ---- regions --------------------------------------------------------------------------------- */

static struct region *region_at(uintptr_t address)
{
	for (size_t i = 0; i < self.region_count; i++)
		if (address >= self.regions[i].start && address < self.regions[i].end)
			return &self.regions[i];
	return NULL;
}

static struct region *place_for_region(void)
{
	struct region *oldest = &self.regions[0];

	if (self.region_count < REGIONS)
		return &self.regions[self.region_count++];
	for (size_t i = 0; i < REGIONS; i++)
		if (self.regions[i].used < oldest->used)
			oldest = &self.regions[i];
	return oldest;
}

/* The region around START: a mapping that begins where a known one does has only grown. */
static struct region *find_region(uintptr_t start)
{
	struct region *region = region_at(start);
	uintptr_t low, high;

	if (region != NULL)
		return region;
	if (!mapping_around(start, &low, &high)) {
		low = start & ~(uintptr_t)(UNKNOWN_REGION - 1);
		high = low + UNKNOWN_REGION;
	}
	region = region_at(low);
	if (region == NULL || region->start != low) {
		region = place_for_region();
		*region = (struct region){ .start = low };
	}
	region->end = high;
	return region;
}

const struct codemodule *codemodule_of(struct symtab *symtab, const struct code_event *event,
				       const struct load_observer *observer)
{
	struct region *region;

	if (event->kind == CODE_JIT)
		return jit_module(symtab, observer);
	if (event->kind != CODE_WASM || event->what == CODE_RANGE)
		return script_module(symtab, observer);
	region = find_region(event->start);
	if (region->of == NULL || contradicts(region->of, event))
		region->of = find_or_make(symtab, event, observer);
	if (region->of == NULL)
		return NULL;
	region->used = ++self.uses;
	remember(region->of, event);
	return &region->of->is;
}
