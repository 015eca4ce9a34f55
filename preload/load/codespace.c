/* SPDX-License-Identifier: MIT */
/* codespace.c - records of the queue, one after another, into the symbol set. Threads: ours. */
#include "preload/load/codespace.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "preload/base/clock.h"
#include "preload/base/log.h"
#include "preload/base/stats.h"
#include "preload/load/codemodule.h"
#include "preload/load/codequeue.h"
#include "preload/load/jitspace.h"
#include "preload/load/load.h"
#include "preload/load/registry.h"
#include "symtab/codemap.h"
#include "symtab/symtab.h"

#define KEPT_NS UINT64_C(60000000000)
#define RECLAIM_NS UINT64_C(1000000000)

static struct {
	bool has_codes; /* something was told */
	uint64_t next_reclaim_ns;
} self;

_Static_assert(CODE_FOR_EVER == CODEMAP_FOR_EVER, "owners are passed on as they are");

struct work {
	struct symtab *symtab;
	struct codemap *codes;
	const struct load_observer *observer;
};

static enum symbol_kind kind_of(enum code_kind kind)
{
	switch (kind) {
	case CODE_BUILTIN:
		return SYMBOL_BUILTIN;
	case CODE_ENTRY:
		return SYMBOL_ENTRY;
	case CODE_GLUE:
		return SYMBOL_TRAMPOLINE;
	default:
		return SYMBOL_GUEST;
	}
}

/* The symbol of EVENT in MODULE, new or known. */
static int list(struct module *module, const struct code_event *event, uint32_t *id)
{
	char shown[1024 + 1];
	size_t length =
		event->shown_length < sizeof(shown) - 1 ? event->shown_length : sizeof(shown) - 1;
	struct listed_function function = {
		.kind = kind_of(event->kind),
		.full_name = event->name,
		.shown_name = shown,
		.index = event->index,
		.size = event->size,
	};

	memcpy(shown, event->name + event->shown_start, length);
	shown[length] = '\0';
	return module_list(module, &function, id);
}

static void add(const struct work *work, const struct code_record *record)
{
	const struct code_event *event = &record->event;
	const struct codemodule *owner = codemodule_of(work->symtab, event, work->observer);
	struct code code = {
		.start = event->start,
		.size = event->size < UINT32_MAX ? (uint32_t)event->size : UINT32_MAX,
		.owner = event->owner,
		.is_weak = event->kind == CODE_JIT,
		.born_ns = record->time_ns,
	};
	uint32_t id;
	int error = owner != NULL ? list(owner->module, event, &id) : -ENOMEM;

	if (error == 0) {
		code.place = symtab_place(owner->id, module_symbol(owner->module, id));
		error = codemap_add(work->codes, &code);
	}
	if (error != 0)
		stat_count(STAT_CODE_DROPPED);
}

/* The handler may meet anything there, and the unwinder must know that it is code. */
static void add_range(const struct work *work, const struct code_record *record)
{
	const struct code_event *event = &record->event;
	const struct codemodule *owner = codemodule_of(work->symtab, event, work->observer);

	if (owner != NULL && symtab_add(work->symtab, owner->module, event->index, event->start,
					event->to - event->start, record->born) == 0)
		work->observer->added(symtab_find(work->symtab, event->start, record->born));
}

static void take(void *context, const struct code_record *record)
{
	const struct code_event *event = &record->event;
	const struct work *work = context;

	switch (event->what) {
	case CODE_ADDED:
		add(work, record);
		break;
	case CODE_MOVED:
		codemap_move(work->codes, event->start, event->to, record->time_ns);
		break;
	case CODE_REMOVED:
		codemap_remove(work->codes, event->start, record->time_ns);
		break;
	case CODE_OWNER_GONE:
		codemap_end_owner(work->codes, event->owner, record->time_ns);
		break;
	case CODE_RANGE:
		add_range(work, record);
		break;
	case CODE_RANGE_GONE:
		symtab_retire(work->symtab, event->index, record->born);
		work->observer->retired(event->index, record->born);
		codemap_end_owner(work->codes, jitspace_owner(event->index), record->time_ns);
		break;
	}
}

void codespace_work(struct symtab *symtab, const struct load_observer *observer)
{
	struct work work = { .symtab = symtab, .observer = observer };

	if (!codequeue_waits())
		return;
	work.codes = symtab_codes(symtab);
	self.has_codes = true;
	if (work.codes != NULL)
		codequeue_take(take, &work);
}

void codespace_end_owner(struct symtab *symtab, uint32_t owner)
{
	if (self.has_codes && symtab_codes(symtab) != NULL)
		codemap_end_owner(symtab_codes(symtab), owner, clock_ns(CLOCK_MONOTONIC));
}

void codespace_reclaim(struct symtab *symtab)
{
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);

	if (!self.has_codes || now_ns < self.next_reclaim_ns)
		return;
	self.next_reclaim_ns = now_ns + RECLAIM_NS;
	if (now_ns > KEPT_NS && symtab_codes(symtab) != NULL)
		codemap_forget(symtab_codes(symtab), now_ns - KEPT_NS);
}
