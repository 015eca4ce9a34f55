/* SPDX-License-Identifier: MIT */
/* doctor_preloads.c - other libraries that are preloaded, and those that get in our way. */
#include "preload/cmd/doctor/doctor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LIST_MAX = 16384, ENTRIES_MAX = 32 };

/* Names that must not stand before the engine's or the host's own. */
static const struct {
	const char *symbol, *why;
} bad_symbols[] = {
	{ "__register_frame", "it takes the engine's frame registrations" },
	{ "__unw_add_dynamic_fde", "engines that see it register each function by itself" },
	{ "_Unwind_RaiseException", "it puts another unwinder before the host's own" },
	{ "_Ux86_64_step", "its libunwind stands before ours" },
	{ "dlsym", "it answers dlsym before or after us" },
	{ "wasmtime_module_new", "it takes the engine's calls" },
};

static const char *bad_symbol(const struct elffile *file)
{
	for (size_t i = 0; i < ARRAY_SIZE(bad_symbols); i++) {
		if (elffile_symbol(file, bad_symbols[i].symbol) == ELFFILE_DEFINED)
			return bad_symbols[i].why;
	}
	return NULL;
}

static void check_one(struct doctor *doctor, const char *path, const char *from)
{
	char full[PATH_MAX];
	struct elffile file;
	const char *why;

	if (strstr(path, "libguestprof.so") != NULL)
		return;
	/* A name without a slash is searched for by ld.so. */
	snprintf(full, sizeof(full), "%s%s", path[0] == '/' ? doctor->root : "", path);
	if (strchr(path, '/') == NULL || elffile_open(&file, full) != 0) {
		doctor_add(doctor, DOCTOR_OK, "preloads", NULL,
			   "%s (%s) was not looked at: it is not there by that name", path, from);
		return;
	}
	why = bad_symbol(&file);
	elffile_close(&file);
	if (why != NULL)
		doctor_add(doctor, DOCTOR_LIMIT, "preloads",
			   "leave it out, or behind libguestprof.so", "%s (%s): %s", path, from,
			   why);
	else
		doctor_add(doctor, DOCTOR_OK, "preloads", NULL, "%s (%s) is not in the way", path,
			   from);
}

/* LIST is taken apart: separated by spaces, colons, or lines (ld.so(8)). */
static void check_list(struct doctor *doctor, char *list, const char *from)
{
	char *rest = NULL, *word = strtok_r(list, ": \t\n", &rest);

	for (int i = 0; word != NULL && i < ENTRIES_MAX; i++) {
		check_one(doctor, word, from);
		word = strtok_r(NULL, ": \t\n", &rest);
	}
}

static void check_file(struct doctor *doctor)
{
	char path[PATH_MAX], list[LIST_MAX];
	size_t size;
	FILE *file;

	snprintf(path, sizeof(path), "%s/etc/ld.so.preload", doctor->root);
	file = fopen(path, "re");
	if (file == NULL)
		return;
	size = fread(list, 1, sizeof(list) - 1, file);
	fclose(file);
	list[size] = '\0';
	check_list(doctor, list, "/etc/ld.so.preload");
}

void doctor_preloads(struct doctor *doctor)
{
	const char *variable = doctor_variable(doctor, "LD_PRELOAD");
	char *list = variable != NULL ? strdup(variable) : NULL;

	if (list != NULL)
		check_list(doctor, list, "LD_PRELOAD");
	free(list);
	check_file(doctor);
}
