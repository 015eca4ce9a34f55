/* SPDX-License-Identifier: MIT */
/* keep.c - what of a resolved stack is recorded. Threads: ours. */
#include "preload/profile/keep.h"

#include <errno.h>

static bool has_no_symbol(const struct frame *frame)
{
	if (frame->kind == FRAME_JIT)
		return true;
	return frame->kind == FRAME_GUEST &&
	       (frame->symbol == NULL || frame->symbol->kind == SYMBOL_UNKNOWN);
}

/* A host frame: its call, as an import of whom it is one if that is a listed module. */
static uint32_t call_location(struct tables *tables, struct groups *groups,
			      const struct frame *frame)
{
	const struct group_loading *loading =
		frame->importer != NULL ? groups_loading(groups, frame->importer) : NULL;

	if (loading == NULL || !loading->is_listed || loading->group == GROUP_OTHER)
		return tables_plain_location(tables, frame->call);
	return tables_import_location(tables, frame->call, frame->importer,
				      groups->rows[loading->group].name);
}

static void keep(struct tables *tables, struct groups *groups, struct kept *kept,
		 const struct frame *frame, uint32_t name)
{
	if (kept->count == 0)
		kept->is_unnamed = has_no_symbol(frame);
	kept->locations[kept->count++] = frame->call != NULL ? call_location(tables, groups, frame)
							     : tables_location(tables, frame, name);
	kept->has_guest |= frame->kind != FRAME_HOST;
	kept->last = frame->kind;
}

/* Of what is not known yet to be worth the room: one frame for all of it. */
static void keep_waiting(struct kept *kept, const struct frame *frame)
{
	kept->has_guest |= frame->kind != FRAME_HOST;
	kept->last = frame->kind;
	if (kept->count == 0 || kept->locations[kept->count - 1] != LOCATION_OTHER)
		kept->locations[kept->count++] = LOCATION_OTHER;
}

static int keep_module(struct tables *tables, struct groups *groups, struct kept *kept,
		       const struct frame *frame)
{
	const struct group_loading *loading = groups_loading(groups, frame->entry);
	uint32_t name;

	if (loading == NULL)
		return -ENOMEM;
	if (!loading->is_listed)
		return 0;
	/* An engine's own module has its builtins: who called one is whose time it is. */
	if (kept->group == GROUP_NONE || kept->is_builtin) {
		kept->group = loading->group;
		kept->is_builtin = frame->kind == FRAME_BUILTIN;
	}
	if (loading->is_waiting) {
		keep_waiting(kept, frame);
		return 0;
	}
	name = groups->rows[loading->group].name;
	if (loading->group == GROUP_OTHER)
		name = texts_add(&tables->texts, module_name(frame->entry->module));
	keep(tables, groups, kept, frame, name);
	return 0;
}

/* Between two activations, and where unlisted modules were left out, the host is one frame. */
static bool is_repeated(const struct kept *kept, const struct frame *frame)
{
	return frame->address == 0 && frame->call == NULL && kept->count != 0 &&
	       kept->last == FRAME_HOST;
}

int keep_frames(struct tables *tables, struct groups *groups, const struct config *config,
		const struct resolved *resolved, struct kept *kept)
{
	bool is_listing =
		groups->set != NULL || (config->modules != NULL && *config->modules != '\0');
	int error = 0;

	kept->count = 0;
	kept->group = GROUP_NONE;
	kept->has_guest = kept->is_unnamed = kept->is_builtin = false;
	for (size_t i = 0; error == 0 && i < resolved->count; i++) {
		const struct frame *frame = &resolved->frames[i];

		if (frame->entry != NULL)
			error = keep_module(tables, groups, kept, frame);
		else if (frame->kind == FRAME_HOST && !is_repeated(kept, frame))
			keep(tables, groups, kept, frame, 0);
		else if (frame->kind == FRAME_JIT && !is_listing) /* it is on no list */
			keep(tables, groups, kept, frame, 0);
	}
	/* What called the outermost listed module is the host, with or without a frame. */
	if (config->stacks != STACKS_FULL && kept->count > 1 && kept->last == FRAME_HOST)
		kept->count--;
	return error;
}
