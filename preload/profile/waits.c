/* SPDX-License-Identifier: MIT */
/* waits.c - looks at waiting threads, and parked calls, become rows of wall time. Threads: ours. */
#include "preload/profile/waits.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "preload/base/stats.h"
#include "preload/load/instance.h"
#include "preload/profile/framepointer.h"
#include "preload/profile/profile_private.h"

/* ---- places ---------------------------------------------------------------------------------- */

/* The place of SLOT, to be filled; NULL: memory is short, or SLOT beyond the bound. */
static struct waits_place *place_for(struct waits *waits, uint32_t slot)
{
	size_t capacity = waits->capacity != 0 ? waits->capacity : 16;
	struct waits_place *places;

	if (slot < waits->capacity)
		return &waits->places[slot];
	if (slot >= WAITS_SLOTS_MAX)
		return NULL;
	while (capacity <= slot)
		capacity *= 2;
	places = realloc(waits->places, capacity * sizeof(*places));
	if (places == NULL)
		return NULL;
	memset(places + waits->capacity, 0, (capacity - waits->capacity) * sizeof(*places));
	waits->places = places;
	waits->capacity = capacity;
	return &places[slot];
}

static const struct waits_place *find_place(const struct waits *waits, uint32_t slot)
{
	if (slot >= waits->capacity || !waits->places[slot].is_known)
		return NULL;
	return &waits->places[slot];
}

void waits_fini(struct waits *waits)
{
	free(waits->places);
	*waits = (struct waits){ 0 };
}

/* ---- threads --------------------------------------------------------------------------------- */

/* The leaf: what the thread asked the kernel for. Stacks of the guest only have no such frame. */
static void add_leaf(struct profile *self, const char *what)
{
	struct kept *kept = &self->kept;
	size_t count = kept->count < RESOLVE_MAX_FRAMES ? kept->count : RESOLVE_MAX_FRAMES - 1;

	if (self->options.config->stacks == STACKS_GUEST)
		return;
	memmove(kept->locations + 1, kept->locations, count * sizeof(*kept->locations));
	kept->locations[0] = tables_plain_location(&self->tables, what);
	kept->count = count + 1;
}

/* Fills PLACE. False when the wait is not to be counted. */
static bool fill_place(struct profile *self, struct sample *sample, const struct waits_look *look,
		       struct waits_place *place)
{
	place->is_known = false;
	if (sample->pc_count == 0 || self->options.config->stacks == STACKS_FULL)
		framepointer_find(self->options.symtab, sample, self->resolved.unwound);
	if (!profile_understand(self, sample))
		return false;
	self->resolved.state = STATE_WAITING;
	add_leaf(self, look->what);
	place->key = profile_row_key(self, sample, look->tid, look->thread_name, &place->group);
	if (look->descriptor >= 0)
		place->key.descriptor = (uint32_t)look->descriptor + 1;
	place->is_known = true;
	return true;
}

static bool count(struct profile *self, const struct row_key *key, uint32_t group, uint64_t time_ns,
		  uint64_t wall_ns)
{
	struct row_weight weight = { .wall_ns = wall_ns };

	if (profile_add_row(self, key, group, weight, time_ns) != 0) {
		stat_count(STAT_LOST_MEMORY);
		return false;
	}
	groups_count_wait(&self->groups, group, wall_ns);
	profile_warn_of_bounds(self);
	return true;
}

void waits_take(struct profile *self, struct sample *sample, const struct waits_look *look)
{
	const struct waits_place *known;
	struct waits_place *place;

	if (sample != NULL) {
		place = place_for(&self->waits, look->slot);
		if (place == NULL) {
			stat_count(STAT_LOST_MEMORY);
			return;
		}
		if (!fill_place(self, sample, look, place))
			return;
	}
	known = find_place(&self->waits, look->slot);
	/* None: what it waits in is not listed, or no guest was found on its stack. */
	if (known != NULL && count(self, &known->key, known->group, look->time_ns, look->wall_ns))
		stat_count(STAT_WAITS);
}

/* ---- parked calls ---------------------------------------------------------------------------- */

/* Makes the module's group if it had no sample yet. False when the module is not listed. */
static bool is_listed(struct profile *self, uint32_t instance)
{
	const struct group_loading *loading;
	const struct symtab_entry *entry;
	struct instance_info info;

	if (!instance_get(instance, &info) || info.loading == 0)
		return false;
	entry = symtab_by_id(self->options.symtab, info.loading);
	loading = entry != NULL ? groups_loading(&self->groups, entry)
				: groups_find(&self->groups, info.loading);
	return loading != NULL && loading->is_listed;
}

void waits_take_parked(struct profile *self, uint32_t instance, uint64_t time_ns, uint64_t wall_ns)
{
	const struct sample nowhere = { .instance = instance, .time_ns = time_ns };
	struct row_key key;
	uint32_t group;

	if (!is_listed(self, instance)) {
		stat_count(STAT_UNLISTED);
		return;
	}
	self->resolved.state = STATE_WAITING;
	self->resolved.is_truncated = false;
	self->kept.locations[0] = tables_plain_location(&self->tables, "(parked)");
	self->kept.count = 1;
	self->kept.group = GROUP_NONE;
	key = profile_row_key(self, &nowhere, 0, "", &group);
	count(self, &key, group, time_ns, wall_ns);
}
