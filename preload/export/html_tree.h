/* SPDX-License-Identifier: MIT */
/*
 * html_tree.h - what the html page is made of: a prefix tree of frames, and what was seen where.
 *
 * A row is made at its first use, equal rows are one, and a node comes after its parent. Texts are
 * as recorded, not escaped; text 0 is "". Zeroed memory is an empty one.
 */
#ifndef PRELOAD_EXPORT_HTML_TREE_H
#define PRELOAD_EXPORT_HTML_TREE_H

#include "preload/read/frames.h"
#include "preload/read/names.h"
#include "preload/read/pairs.h"

#define HTML_TREE_NONE UINT32_MAX /* parent of a root */

struct html_function {
	uint32_t name, module, file; /* texts */
	enum frame_kind kind;
	int64_t line; /* where it begins; 0: unknown */
};

/* A function at one of its lines. */
struct html_frame {
	uint32_t function;
	int64_t line; /* 0: unknown */
	bool is_inlined;
};

/* Whose samples, and of which recording. */
struct html_scope {
	uint32_t group, instance; /* texts; instance 0: none */
	enum wasm_state state;
	unsigned side;
};

struct html_row {
	uint32_t node, scope;
	uint64_t samples, cpu_ns, wall_ns;
};

struct html_tree {
	/*
	 * May be set before the first recording: a function is the same wherever it begins, for the
	 * code above it may have changed.
	 */
	bool is_change;
	struct names texts;
	struct html_function *functions;
	struct html_frame *frames;
	struct pairs nodes; /* (parent or HTML_TREE_NONE, frame) */
	struct html_scope *scopes;
	struct html_row *rows;
	uint32_t function_count, frame_count, scope_count, row_count;
	/* private: rooms, and what rows are found by */
	size_t function_room, frame_room, scope_room, row_room, place_room;
	struct pairs names_in_modules, function_ids, frame_ids, scope_ids, row_ids;
	struct pairs place_ids;	  /* (location, line) of the recording being added */
	uint32_t *frame_of_place; /* by number in place_ids */
	struct frames scratch;
};

/* As in struct html_options. */
struct html_tree_names {
	const char *(*module_name)(const void *context, const char *name, unsigned side);
	const void *context;
};

/* What MODULE of the recording SIDE is called on the page. */
const char *html_tree_module(const struct html_tree_names *names, const char *module,
			     unsigned side);

/* Adds all samples of RECORDING as those of SIDE. 0 or -ENOMEM; then only html_tree_free(). */
int html_tree_add(struct html_tree *tree, const struct recording *recording, unsigned side,
		  const struct html_tree_names *names);
void html_tree_free(struct html_tree *tree);

#endif /* PRELOAD_EXPORT_HTML_TREE_H */
