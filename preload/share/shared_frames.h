/* SPDX-License-Identifier: MIT */
/*
 * shared_frames.h - inside of shared.h: places and functions that may be told.
 */
#ifndef PRELOAD_SHARE_SHARED_FRAMES_H
#define PRELOAD_SHARE_SHARED_FRAMES_H

#include "preload/share/shared_modules.h"

/*
 * Makes the locations and functions of the result, of all places that taken samples have: in order,
 * each once. 0 or -ENOMEM.
 */
int shared_frames_list(struct sharing *sharing);

/* Gives SAMPLE the stack of FROM. 0 or -ENOMEM. */
int shared_frames_stack(const struct sharing *sharing, const struct recording_sample *from,
			struct shared_sample *sample);

/* Is SAMPLE's leaf code of a guest without a name? */
bool shared_frames_is_unnamed(const struct shared *shared, const struct shared_sample *sample);

#endif /* PRELOAD_SHARE_SHARED_FRAMES_H */
