/* SPDX-License-Identifier: MIT */
/*
 * who.c - a module's identity and its name. Threads: one at a time for one module.
 */
#include "symtab/who.h"

#include "symtab/imagehash.h"
#include "symtab/module.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	SHORT_HASH = 6,
	HASH_NAME = 12
}; /* hex digits in `name@3f9a2c`, and where there is no name */

static void identify(const struct module *module, struct identity *identity)
{
	if (module->wasm != NULL)
		wasmbin_identity(module->wasm, identity);
	else
		identity->defined_functions = module->function_count;
	if (module->listing != NULL)
		memcpy(identity->image, module->listing->identity, sizeof(identity->image));
	else if (module->tables->has_text_hash || module->wasm == NULL)
		imagehash_identity(module->tables, identity->image);
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash != NULL && slash[1] != '\0' ? slash + 1 : path;
}

/* NULL without memory. */
static char *choose_name(const struct module *module, struct who *who)
{
	const char *hash = module->wasm != NULL ? who->identity.wasm : who->identity.image;
	char *name;
	int length;

	if (module->given_name != NULL) {
		who->name_origin = NAME_GIVEN;
		return strdup(module->given_name);
	}
	if (module->guest_name == NULL && module->path != NULL) {
		who->name_origin = NAME_FILE;
		return strdup(base_name(module->path));
	}
	who->name_origin = module->guest_name != NULL ? NAME_GUEST : NAME_HASH;
	if (module->guest_name != NULL)
		length = asprintf(&name, "%s@%.*s", module->guest_name, SHORT_HASH, hash);
	else
		length = asprintf(&name, "%.*s", HASH_NAME, hash);
	return length < 0 ? NULL : name;
}

const struct who *who_of(const struct module *module)
{
	struct who *who = module->who;

	if (who->is_known)
		return who;
	identify(module, &who->identity);
	who->name = choose_name(module, who);
	who->is_known = true;
	module_drop_read(module);
	return who;
}

void who_free(struct who *who)
{
	if (who != NULL)
		free(who->name);
	free(who);
}
