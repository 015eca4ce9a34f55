/* SPDX-License-Identifier: MIT */
/*
 * stacks.h - stacks as paths of a prefix tree, so that ten thousand deep ones share their trunk.
 *
 * A stack is the number of its leaf's node. Bounded: a new stack beyond the bound is `(other)`.
 */
#ifndef PRELOAD_PROFILE_STACKS_H
#define PRELOAD_PROFILE_STACKS_H

#include "preload/profile/lookup.h"
#include "symtab/base.h"

struct stack_node {
	uint32_t parent;   /* node of the caller; STACK_NONE: this is the outermost */
	uint32_t location; /* id */
};

enum { STACK_OTHER = 0 }; /* the one location `(other)` */
#define STACK_NONE UINT32_MAX

struct stack_tree {
	struct stack_node *nodes;
	size_t count, capacity, limit;
	struct lookup lookup;
};

/* 0 or -ENOMEM. MEMORY bounds the tree, in bytes, about. */
int stacks_init(struct stack_tree *tree, uint64_t memory);
void stacks_fini(struct stack_tree *tree);

/* The stack of COUNT LOCATIONS (ids, leaf first). */
uint32_t stacks_add(struct stack_tree *tree, const uint32_t *locations, size_t count);

/* Writes STACK's locations, leaf first, to OUT (NULL: only counts). Returns their number. */
size_t stacks_get(const struct stack_tree *tree, uint32_t stack, uint64_t *out);

#endif /* PRELOAD_PROFILE_STACKS_H */
