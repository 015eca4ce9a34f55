/* SPDX-License-Identifier: MIT */
/*
 * libunwind.c - finds libunwind for x86_64 and its functions, without the host noticing.
 *
 * Linking it would put its _Unwind_* ahead of the host's own (20 times slower throws, aborts in
 * libraries that throw through registered frames). So: dlopen, local, at the first use.
 * Threads: ours only.
 */
#include "preload/unwind/libunwind.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#define PREFIX "_Ux86_64_"

static const struct {
	const char *name;
	size_t offset;
} functions[] = {
#define FUNCTION(name)                                         \
	{                                                      \
		PREFIX #name, offsetof(struct libunwind, name) \
	}
	FUNCTION(create_addr_space), FUNCTION(destroy_addr_space),
	FUNCTION(init_remote),	     FUNCTION(step),
	FUNCTION(get_reg),	     FUNCTION(dwarf_search_unwind_table),
	FUNCTION(flush_cache),	     FUNCTION(set_caching_policy),
#undef FUNCTION
};

/*
 * A host that itself has a libunwind in its global scope would catch the calls that the library
 * makes to itself; its own definitions must come first then. AddressSanitizer refuses DEEPBIND.
 */
static int open_flags(void)
{
	int flags = RTLD_NOW | RTLD_LOCAL;

	if (dlsym(RTLD_DEFAULT, PREFIX "step") != NULL &&
	    dlsym(RTLD_DEFAULT, "__asan_init") == NULL)
		flags |= RTLD_DEEPBIND;
	return flags;
}

/* SONAME in the folder of our own file, as the tarball ships it. */
static void *open_beside(const char *soname, int flags)
{
	char path[PATH_MAX];
	const char *slash;
	Dl_info own;
	int length;

	if (dladdr(&functions, &own) == 0 || own.dli_fname == NULL)
		return NULL;
	slash = strrchr(own.dli_fname, '/');
	if (slash == NULL)
		return NULL;
	length = snprintf(path, sizeof(path), "%.*s/%s", (int)(slash - own.dli_fname),
			  own.dli_fname, soname);
	if (length < 0 || (size_t)length >= sizeof(path))
		return NULL;
	return dlopen(path, flags);
}

static int find_functions(struct libunwind *library, const char **why)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(functions); i++) {
		void *address = dlsym(library->handle, functions[i].name);

		if (address == NULL) {
			*why = functions[i].name;
			return -ENOENT;
		}
		memcpy((char *)library + functions[i].offset, &address, sizeof(address));
	}
	return 0;
}

int libunwind_open(struct libunwind *library, const char *soname, const char **why)
{
	int flags = open_flags(), result;

	*library = (struct libunwind){ .handle = open_beside(soname, flags) };
	if (library->handle == NULL)
		library->handle = dlopen(soname, flags);
	if (library->handle == NULL) {
		*why = dlerror();
		return -ENOENT;
	}
	result = find_functions(library, why);
	if (result != 0)
		libunwind_close(library);
	return result;
}

void libunwind_close(struct libunwind *library)
{
	if (library->handle != NULL)
		dlclose(library->handle);
	*library = (struct libunwind){ 0 };
}
