/* SPDX-License-Identifier: MIT */
/*
 * hostcall.h - which host function a guest is in.
 *
 * By the first of these that can tell: the guest's own call site, which names an import
 * (`env.log`); the function that the host gave the engine under such a name; the outermost host
 * frame that is not the engine's plumbing (plumbing.h). Threads: ours.
 */
#ifndef PRELOAD_PROFILE_HOSTCALL_H
#define PRELOAD_PROFILE_HOSTCALL_H

#include "preload/profile/resolver.h"

/* The host's frame, as resolver_append_call(). Without a call: not known. */
struct frame hostcall_frame(struct resolver *self, uint64_t guest_pc, size_t depth);

/* By the call site alone, whose module is then SELF's site_entry. NULL: not known. */
const char *hostcall_from_site(struct resolver *self, uint64_t guest_pc);

#endif /* PRELOAD_PROFILE_HOSTCALL_H */
