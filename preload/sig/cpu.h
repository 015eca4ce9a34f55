/* SPDX-License-Identifier: MIT */
/*
 * cpu.h - picks the CPU's header: one for each that we run on, all with the same functions.
 */
#ifndef PRELOAD_SIG_CPU_H
#define PRELOAD_SIG_CPU_H

#ifdef __x86_64__
#include "preload/sig/cpu_x86_64.h"
#else
#error "guestprof's handler has not been ported to this CPU"
#endif

#endif /* PRELOAD_SIG_CPU_H */
