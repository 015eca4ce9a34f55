/* SPDX-License-Identifier: MIT */
/* jitdump.h - jit-PID.dump, as a host writes it for `perf inject --jit`. */
#ifndef PRELOAD_RUNTIME_JITDUMP_H
#define PRELOAD_RUNTIME_JITDUMP_H

#include "preload/runtime/followed.h"

extern const struct followed_format runtime_jitdump;

#endif /* PRELOAD_RUNTIME_JITDUMP_H */
