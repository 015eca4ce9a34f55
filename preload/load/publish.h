/* SPDX-License-Identifier: MIT */
/*
 * publish.h - the writer's side of sig/ranges.h: build a new array, swap it in, free the old one
 * late.
 *
 * One writer at a time: the registry's lock (registry.h) is held around all of it.
 */
#ifndef PRELOAD_LOAD_PUBLISH_H
#define PRELOAD_LOAD_PUBLISH_H

#include "preload/sig/ranges.h"

/*
 * Publishes RANGE; ranges that it overlaps are dropped (their code is gone). Returns the generation
 * from which it is there, 0 when memory is short.
 */
uint64_t publish_add(const struct range *range);

/*
 * Drops the range of loading ID. Returns the generation from which it is gone, a new one also where
 * there was none; 0 when memory is short.
 */
uint64_t publish_remove(uint32_t id);

/* The generation of now. */
uint64_t publish_generation(void);

/* Frees retired arrays that no running handler uses. */
void publish_reclaim(void);

#endif /* PRELOAD_LOAD_PUBLISH_H */
