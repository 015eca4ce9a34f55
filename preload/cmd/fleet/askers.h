/* SPDX-License-Identifier: MIT */
/*
 * askers.h - several threads that ask, for who is asked may never answer.
 */
#ifndef PRELOAD_CMD_FLEET_ASKERS_H
#define PRELOAD_CMD_FLEET_ASKERS_H

#include <stddef.h>
#include <stdint.h>

enum { ASKERS_MAX = 32 };

/*
 * Calls ASK with CONTEXT and each number below COUNT, once each, the lower ones first; on
 * ASKERS_MAX threads at most, the caller's among them, and on that alone where no other is to be
 * had. Returns when all have returned. After PATIENCE_NS none is begun any more. What ASK does to
 * what others see is its own affair.
 */
void askers_run(size_t count, uint64_t patience_ns, void (*ask)(void *context, size_t number),
		void *context);

#endif /* PRELOAD_CMD_FLEET_ASKERS_H */
