/* SPDX-License-Identifier: MIT */
/*
 * shed.h - when there are more groups than rows, the lightest become part of `(other)`.
 *
 * A host that loads a module for each request would otherwise fill the table with what ran once,
 * and whoever comes later, however heavy, would stay without a row. Between two chunks as many of
 * the lightest go as found no room, a quarter at most. Groups of instances' labels go back into
 * their module's group. What they counted is counted there, exactly, and the recording says so
 * (GROUP_INTO in encode/recording.h): samples that are written already carry the old name. Threads:
 * ours.
 */
#ifndef PRELOAD_PROFILE_SHED_H
#define PRELOAD_PROFILE_SHED_H

#include "preload/profile/profile.h"

/* Only between chunks, while no row waits to be written. Without memory nothing happens. */
void shed_groups(struct profile *profile);

#endif /* PRELOAD_PROFILE_SHED_H */
