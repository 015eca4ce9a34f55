/* SPDX-License-Identifier: MIT */
/*
 * merge.h - several recordings as one. The command only.
 *
 * What is one in the result: modules with the same name and wasm hash, or where none is known with
 * the same name, number of functions and layout; functions by module, name, index and source;
 * locations by module, address and lines; groups by module and labels; processes by pid, program
 * and beginning: files of a rotation are of one process. Of those that have nothing but a name in
 * common, all but the first get what tells them apart behind it (`plugin@3f9a2c`,
 * `plugin{tenant=acme}`), as in a recording. Samples stay apart and are ordered by time; times
 * count from the earliest start, and a clock that is years off counts as that start. Counters add
 * up, so a recording that is named twice counts twice.
 */
#ifndef PRELOAD_READ_MERGE_H
#define PRELOAD_READ_MERGE_H

#include "preload/read/reader.h"

/*
 * A new recording (recording_free()) of the COUNT ones in LIST, at least one. It refers to none of
 * them. NULL with errno: ENOMEM, also when it would take more than 2 GiB.
 */
struct recording *recording_merge(struct recording *const *list, size_t count);

#endif /* PRELOAD_READ_MERGE_H */
