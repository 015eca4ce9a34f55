/* SPDX-License-Identifier: MIT */
/* stacks.c - stacks as paths of a prefix tree. Threads: ours. */
#include "preload/profile/stacks.h"

#include <errno.h>
#include <stdlib.h>

#include "preload/profile/array.h"
#include "preload/profile/tables.h"

enum { NODE_COST = 32 }; /* a node and its slots, both arrays half used */

static bool node_is(const void *table, uint32_t number, const void *key)
{
	const struct stack_tree *tree = table;
	const struct stack_node *node = &tree->nodes[number], *wanted = key;

	return node->parent == wanted->parent && node->location == wanted->location;
}

/* The node for LOCATION called from PARENT; STACK_NONE at the bound. */
static uint32_t add_node(struct stack_tree *tree, uint32_t parent, uint32_t location)
{
	struct stack_node node = { parent, location }, *nodes;
	uint64_t hash = lookup_hash(&node, sizeof(node));
	uint32_t number = lookup_find(&tree->lookup, hash, node_is, tree, &node);

	if (number != LOOKUP_NONE)
		return number;
	if (tree->count >= tree->limit)
		return STACK_NONE;
	nodes = array_room(tree->nodes, &tree->capacity, tree->count, sizeof(*nodes));
	if (nodes == NULL)
		return STACK_NONE;
	tree->nodes = nodes;
	if (lookup_add(&tree->lookup, hash, (uint32_t)tree->count) != 0)
		return STACK_NONE;
	nodes[tree->count] = node;
	return (uint32_t)tree->count++;
}

uint32_t stacks_add(struct stack_tree *tree, const uint32_t *locations, size_t count)
{
	uint32_t node = STACK_NONE;

	while (count-- > 0) {
		node = add_node(tree, node, locations[count]);
		if (node == STACK_NONE)
			return STACK_OTHER;
	}
	return node == STACK_NONE ? STACK_OTHER : node;
}

size_t stacks_get(const struct stack_tree *tree, uint32_t stack, uint64_t *out)
{
	size_t count = 0;

	for (; stack != STACK_NONE; stack = tree->nodes[stack].parent) {
		if (out != NULL)
			out[count] = tree->nodes[stack].location;
		count++;
	}
	return count;
}

int stacks_init(struct stack_tree *tree, uint64_t memory)
{
	*tree = (struct stack_tree){ .limit = memory / NODE_COST + 1 };
	return add_node(tree, STACK_NONE, LOCATION_OTHER) == STACK_OTHER ? 0 : -ENOMEM;
}

void stacks_fini(struct stack_tree *tree)
{
	free(tree->nodes);
	lookup_free(&tree->lookup);
	*tree = (struct stack_tree){ 0 };
}
