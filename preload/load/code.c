/* SPDX-License-Identifier: MIT */
/* code.c - its tables are made on the host's thread, for nothing else knows where they are. */
#include "preload/load/code.h"

#include <stdlib.h>

#include "preload/base/guarded.h"
#include "preload/load/load.h"
#include "preload/load/registry.h"
#include "symtab/codeimage.h"
#include "symtab/symtab.h"

struct load_code {
	struct image_tables *tables;
	struct image_layout layout;
	bool is_named; /* all of its functions are */
};

struct load_code *load_code_new(const struct code_function *functions, size_t count)
{
	struct load_code *code = calloc(1, sizeof(*code));

	if (code == NULL)
		return NULL;
	code->tables = codeimage_make(&guarded_memory, functions, count, &code->layout);
	if (code->tables == NULL) {
		free(code);
		return NULL;
	}
	code->is_named = true;
	for (size_t i = 0; i < count; i++)
		code->is_named &= functions[i].name_length != 0;
	return code;
}

struct loading *code_add(struct load_code *code, const char *engine)
{
	enum load_verdict verdict;
	struct loading *loading = registry_add(&code->layout, engine, &verdict);

	if (loading == NULL)
		return NULL;
	loading->tables = code->tables;
	loading->is_named = code->is_named;
	code->tables = NULL;
	return loading;
}

void code_free(struct load_code *code)
{
	if (code == NULL)
		return;
	image_tables_free(code->tables);
	free(code);
}
