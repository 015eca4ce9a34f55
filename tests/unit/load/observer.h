/* SPDX-License-Identifier: MIT */
/* observer.h - an observer of load_work() that counts, for the one test program that includes it.
 */
#ifndef TESTS_UNIT_LOAD_OBSERVER_H
#define TESTS_UNIT_LOAD_OBSERVER_H

#include "preload/load/load.h"

static unsigned int added, retired;

static void on_added(const struct symtab_entry *entry)
{
	assert_non_null(entry);
	added++;
}

static void on_retired(uint32_t loading, uint64_t died)
{
	assert_int_not_equal(loading, 0);
	assert_int_not_equal(died, 0);
	retired++;
}

static const struct load_observer observer = { .added = on_added, .retired = on_retired };

#endif /* TESTS_UNIT_LOAD_OBSERVER_H */
