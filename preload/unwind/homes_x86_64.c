/* SPDX-License-Identifier: MIT */
/*
 * homes_x86_64.c - which of a function's writes are of its first argument.
 *
 * Every place counts as a home that is written by copies only; then those that a copy of something
 * else goes to are struck out, until nothing changes.
 */
#include "preload/unwind/homes.h"

#include <errno.h>
#include <stdlib.h>

#include "preload/unwind/writes_x86_64.h"

bool homes_are_leaving(const struct homes *homes, uint32_t at)
{
	for (size_t i = 0; i < homes->epilogue_count; i++)
		if (at >= homes->epilogues[i].from && at < homes->epilogues[i].until)
			return true;
	return homes->has_more_epilogues;
}

/* ---- which are homes --------------------------------------------------------------------------
 */

static bool is_from_home(const struct finder *finder, const struct write *write)
{
	if (write->from == WRITES_ARGUMENT)
		return true;
	return write->from != WRITES_NO_PLACE && finder->places[write->from].is_home &&
	       finder->places[write->from].first <= write->at;
}

/* Whether something else is ever written to the slot of PLACE, or to part of it. */
static bool is_spoilt(const struct finder *finder, const struct place *place)
{
	if (finder->spoilt_count == WRITES_SPOILT)
		return true;
	for (size_t i = 0; i < finder->spoilt_count; i++)
		if (place->slot > finder->spoilt[i].at - 8 &&
		    place->slot < finder->spoilt[i].at + finder->spoilt[i].size)
			return true;
	for (size_t i = HOMES_REGISTERS; i < finder->place_count; i++)
		if (finder->places[i].slot != place->slot &&
		    finder->places[i].slot > place->slot - 8 &&
		    finder->places[i].slot < place->slot + 8)
			return true;
	return false;
}

static void strike_out(struct finder *finder)
{
	bool changed = true;

	for (size_t i = 0; i < finder->place_count; i++)
		finder->places[i].is_home =
			finder->places[i].first != UINT32_MAX &&
			(i < HOMES_REGISTERS || !is_spoilt(finder, &finder->places[i])) &&
			finder->places[i].saves == HOMES_REGISTERS;
	finder->places[CPU_RSP].is_home = finder->places[CPU_RBP].is_home = false;
	while (changed) {
		changed = false;
		for (size_t i = 0; i < finder->write_count; i++) {
			const struct write *write = &finder->writes[i];

			if (!finder->places[write->to].is_home || write->is_restore ||
			    is_from_home(finder, write))
				continue;
			finder->places[write->to].is_home = false;
			changed = true;
		}
	}
}

static void add_home(struct homes *homes, struct home home)
{
	if (homes->home_count < HOMES_MAX && home.from < home.until)
		homes->homes[homes->home_count++] = home;
}

static bool is_saved(const struct homes *homes, uint8_t reg)
{
	for (size_t i = 0; i < homes->saved_count; i++)
		if (homes->saved[i].reg == reg)
			return true;
	return false;
}

static void report(const struct finder *finder)
{
	struct homes *homes = finder->homes;

	for (size_t i = HOMES_REGISTERS; i < finder->place_count; i++)
		if (finder->places[i].saves != HOMES_REGISTERS &&
		    homes->saved_count < HOMES_SAVED_MAX)
			homes->saved[homes->saved_count++] = (struct saved_register){
				.reg = finder->places[i].saves,
				.slot = finder->places[i].slot,
				.from = finder->places[i].first,
			};
	add_home(homes, (struct home){ CPU_RDI, 0, 0, finder->argument_until });
	for (size_t i = 0; i < finder->place_count; i++) {
		const struct place *place = &finder->places[i];
		bool is_slot = i >= HOMES_REGISTERS;
		struct home home = {
			.reg = is_slot ? HOMES_REGISTERS : (uint8_t)i,
			.slot = place->slot,
			.from = place->first,
			.until = UINT32_MAX,
		};

		if (!place->is_home)
			continue;
		/* Who does not save it lets others change it too: until the first call. */
		if (!is_slot && !is_saved(homes, (uint8_t)i))
			home.until = finder->first_call;
		add_home(homes, home);
	}
}

int homes_find(const uint8_t *code, size_t size, struct homes *homes)
{
	struct finder *finder;
	int error;

	*homes = (struct homes){ 0 };
	if (size == 0 || size > HOMES_CODE_MAX)
		return -EINVAL;
	finder = calloc(1, sizeof(*finder));
	if (finder == NULL)
		return -ENOMEM;
	finder->code = code;
	finder->size = size;
	finder->homes = homes;
	error = writes_list(finder);
	if (error == 0) {
		strike_out(finder);
		report(finder);
	}
	free(finder->writes);
	free(finder);
	return error;
}
