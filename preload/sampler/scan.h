/* SPDX-License-Identifier: MIT */
/*
 * scan.h - looks at /proc/self/task: blocks for new threads, ended blocks for vanished ones.
 *
 * Our thread only, under the sampler's lock. Clocks are armed by the caller.
 */
#ifndef PRELOAD_SAMPLER_SCAN_H
#define PRELOAD_SAMPLER_SCAN_H

#include <sys/types.h>

/* OUR_TID is never given a block. Threads that block SIGNO meanwhile lose their clock. */
void scan_threads(pid_t our_tid, int signo);

#endif /* PRELOAD_SAMPLER_SCAN_H */
