/* SPDX-License-Identifier: MIT */
/* perf_map.h - /tmp/perf-PID.map, as a host writes it for perf. */
#ifndef PRELOAD_RUNTIME_PERF_MAP_H
#define PRELOAD_RUNTIME_PERF_MAP_H

#include "preload/runtime/followed.h"

extern const struct followed_format runtime_perf_map;

#endif /* PRELOAD_RUNTIME_PERF_MAP_H */
