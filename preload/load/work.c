/* SPDX-License-Identifier: MIT */
/* work.c - from a loading to a module, and to its end. Threads: ours. */
#include "preload/load/load.h"

#include "preload/base/log.h"
#include "preload/base/stats.h"
#include "preload/load/bare.h"
#include "preload/load/bytes.h"
#include "preload/load/codequeue.h"
#include "preload/load/codespace.h"
#include "preload/load/jitspace.h"
#include "preload/load/publish.h"
#include "preload/load/registry.h"
#include "symtab/symtab.h"

static struct symtab *symtab;

/* Of what an engine interprets the bytes may be all there is, or not even they. */
static struct module *make_module(const struct loading *loading, const struct module_source *source)
{
	const char *identity = source->path != NULL ? source->path : source->given_name;

	if (source->tables != NULL)
		return module_new(source);
	if (!loading->layout.is_bytecode || loading->layout.base != 0)
		return NULL;
	if (source->wasm != NULL)
		return module_new(source);
	return module_new_listed(&(struct module_listing){
		.engine = source->engine != NULL ? source->engine : "",
		.engine_version = source->layout.engine_version,
		.name = source->given_name,
		.path = source->path,
		.identity = identity != NULL ? identity : "",
	});
}

/* MODULE is LOADING's: from now on samples can be resolved. */
static void add_module(const struct loading *loading, struct module *module,
		       const struct load_observer *observer)
{
	if (loading->layout.is_bytecode) {
		if (symtab_add_interpreted(symtab, module, loading->id, loading->born) == 0 &&
		    observer->listed != NULL)
			observer->listed(module);
	} else if (symtab_add(symtab, module, loading->id, loading->layout.text,
			      loading->layout.text_size, loading->born) == 0) {
		observer->added(symtab_find(symtab, loading->layout.text, loading->born));
	}
}

/*
 * LOADING could not be read. One that the scan found was on its way in or out: its code may be
 * registered yet, as a loading of its own.
 */
static void give_up(struct loading *loading)
{
	if (!loading->was_scanned) {
		stat_count(STAT_MODULES_BROKEN);
		return;
	}
	registry_lock();
	if (loading->died == UINT64_MAX)
		registry_retire(loading);
	registry_unlock();
}

static void build(struct loading *loading, const struct load_observer *observer)
{
	struct module_source source = {
		.engine = loading->engine,
		.given_name = loading->given_name,
		.path = loading->path,
		.layout = loading->layout,
	};
	struct module *module;

	if (loading->bytes != NULL)
		source.wasm = bytes_parsed(loading->bytes);
	else if (loading->layout.is_bare && !loading->is_named)
		bare_know(loading, &source);
	source.tables = loading->tables;
	loading->tables = NULL;
	module = make_module(loading, &source);
	if (source.wasm != NULL && wasmbin_problem(source.wasm) != NULL)
		log_line(LOG_INFO, "%s: %s", module != NULL ? module_name(module) : "a module",
			 wasmbin_problem(source.wasm));
	wasmbin_unref(source.wasm);
	if (module == NULL) {
		give_up(loading);
		return;
	}
	if (module_function_count(module) == 0 && !module_is_listed(module))
		stat_count(STAT_MODULES_SKIPPED);
	else
		add_module(loading, module, observer);
	module_unref(module);
}

/* The next loading that can be built, marked as ours. COMPLETE ends below those that cannot. */
static struct loading *next_to_build(uint64_t *complete)
{
	struct loading *found = NULL;

	registry_lock();
	*complete = publish_generation();
	/* Oldest first: symtab_add() lets a newer range end an older one. */
	for (struct loading *loading = registry_first(); loading != NULL; loading = loading->next) {
		if (loading->is_built)
			continue;
		if (!loading->is_held)
			found = loading;
		else if (loading->born <= *complete)
			*complete = loading->born - 1;
	}
	if (found != NULL)
		found->is_built = true;
	registry_unlock();
	return found;
}

static struct loading *next_to_retire(void)
{
	struct loading *loading;

	registry_lock();
	for (loading = registry_first(); loading != NULL; loading = loading->next) {
		if (loading->is_built && loading->died != UINT64_MAX && !loading->is_retire_told)
			break;
	}
	if (loading != NULL)
		loading->is_retire_told = true;
	registry_unlock();
	return loading;
}

uint64_t load_work(const struct load_observer *observer)
{
	struct loading *loading;
	uint64_t complete;

	if (load_symtab() == NULL)
		return 0;
	while (bytes_work())
		;
	while ((loading = next_to_build(&complete)) != NULL) {
		loading_take_tables(loading);
		build(loading, observer);
	}
	while ((loading = next_to_retire()) != NULL) {
		symtab_retire(symtab, loading->id, loading->died);
		observer->retired(loading->id, loading->died);
		if (loading->layout.is_bare)
			codespace_end_owner(symtab, jitspace_owner(loading->id));
	}
	codespace_work(symtab, observer);
	return complete;
}

bool load_waits(void)
{
	return codequeue_waits();
}

struct symtab *load_symtab(void)
{
	if (symtab == NULL)
		symtab = symtab_new();
	return symtab;
}

void load_reclaim(uint64_t drained)
{
	struct loading *loading, *next;

	registry_lock();
	publish_reclaim();
	for (loading = registry_first(); loading != NULL; loading = next) {
		next = loading->next;
		if (registry_is_done_with(loading))
			registry_retire(loading);
		if (loading->is_retire_told && loading->died <= drained && loading->users == 0)
			registry_drop(loading);
	}
	registry_unlock();
	if (symtab != NULL) {
		symtab_forget(symtab, drained);
		codespace_reclaim(symtab);
	}
}
