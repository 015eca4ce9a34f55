/* SPDX-License-Identifier: MIT */
/*
 * doctor_libraries.c - the libraries that a program needs, found where ld.so would (ld.so(8)).
 *
 * By reading, not by `ldd`, which starts the program's own loader. Threads: any.
 */
#include "preload/cmd/doctor/doctor.h"

#include <glob.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LIBRARIES_MAX = 256, PLACES_MAX = 64, MISSING_MAX = 3, CONFIG_DEPTH_MAX = 4 };

struct libraries {
	struct doctor *doctor;
	char *paths[LIBRARIES_MAX]; /* owned: real paths, each once */
	size_t count;
	char *places[PLACES_MAX]; /* owned: the system's folders */
	size_t place_count, missing_count;
	bool has_libc;
};

/* ---- the system's folders -------------------------------------------------------------------- */

static void add_place(struct libraries *libraries, const char *place)
{
	char *copy = libraries->place_count < PLACES_MAX ? strdup(place) : NULL;

	if (copy != NULL)
		libraries->places[libraries->place_count++] = copy;
}

static void read_config(struct libraries *libraries, const char *path, int depth);

static void read_included(struct libraries *libraries, const char *pattern, int depth)
{
	glob_t found;

	if (depth == CONFIG_DEPTH_MAX || glob(pattern, 0, NULL, &found) != 0)
		return;
	for (size_t i = 0; i < found.gl_pathc; i++)
		read_config(libraries, found.gl_pathv[i], depth + 1);
	globfree(&found);
}

/* ld.so.conf: folders, and `include PATTERN` (ldconfig(8)). */
static void read_config(struct libraries *libraries, const char *path, int depth)
{
	FILE *file = fopen(path, "re");
	char line[PATH_MAX];

	while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
		line[strcspn(line, "#\n")] = '\0';
		if (strncmp(line, "include ", 8) == 0)
			read_included(libraries, line + 8, depth);
		else if (line[0] == '/')
			add_place(libraries, line);
	}
	if (file != NULL)
		fclose(file);
}

static void read_places(struct libraries *libraries)
{
	static const char *const usual[] = { "/lib/x86_64-linux-gnu",
					     "/usr/lib/x86_64-linux-gnu",
					     "/lib64",
					     "/usr/lib64",
					     "/lib",
					     "/usr/lib" };

	read_config(libraries, "/etc/ld.so.conf", 0);
	for (size_t i = 0; i < ARRAY_SIZE(usual); i++)
		add_place(libraries, usual[i]);
}

/* ---- finding one ----------------------------------------------------------------------------- */

/* PLACE/NAME to PATH, with $ORIGIN in PLACE, the folder of OWNER. Whether it is there. */
static bool try_place(const char *place, size_t length, const char *owner, const char *name,
		      char path[PATH_MAX])
{
	static const char *const origins[] = { "$ORIGIN", "${ORIGIN}" };
	char folder[PATH_MAX];
	int size = -1;

	if (length == 0)
		return false;
	snprintf(folder, sizeof(folder), "%s", owner);
	for (size_t i = 0; size < 0 && i < ARRAY_SIZE(origins); i++) {
		size_t origin = strlen(origins[i]);

		if (length >= origin && strncmp(place, origins[i], origin) == 0)
			size = snprintf(path, PATH_MAX, "%s%.*s/%s", dirname(folder),
					(int)(length - origin), place + origin, name);
	}
	if (size < 0)
		size = snprintf(path, PATH_MAX, "%.*s/%s", (int)length, place, name);
	return size < PATH_MAX && access(path, R_OK) == 0;
}

static bool try_list(const char *list, const char *owner, const char *name, char path[PATH_MAX])
{
	while (list != NULL && *list != '\0') {
		size_t length = strcspn(list, ":;");

		if (try_place(list, length, owner, name, path))
			return true;
		list += length + (list[length] != '\0');
	}
	return false;
}

static bool find_library(const struct libraries *libraries, const struct elffile *owner_file,
			 const char *owner, const char *name, char path[PATH_MAX])
{
	if (strchr(name, '/') != NULL) {
		snprintf(path, PATH_MAX, "%s", name);
		return access(path, R_OK) == 0;
	}
	if (try_list(doctor_variable(libraries->doctor, "LD_LIBRARY_PATH"), owner, name, path) ||
	    try_list(owner_file->search_path, owner, name, path))
		return true;
	for (size_t i = 0; i < libraries->place_count; i++) {
		const char *place = libraries->places[i];

		if (try_place(place, strlen(place), owner, name, path))
			return true;
	}
	return false;
}

/* ---- all of them ----------------------------------------------------------------------------- */

static void add_library(struct libraries *libraries, const char *path)
{
	char *real = realpath(path, NULL);

	for (size_t i = 0; real != NULL && i < libraries->count; i++) {
		if (strcmp(libraries->paths[i], real) == 0) {
			free(real);
			real = NULL;
		}
	}
	if (real != NULL && libraries->count < LIBRARIES_MAX)
		libraries->paths[libraries->count++] = real;
	else
		free(real);
}

static void note_libc(struct libraries *libraries, const char *path)
{
	if (!libraries->has_libc)
		doctor_library_libc(libraries->doctor, path);
	libraries->has_libc = true;
}

static void add_needed(struct libraries *libraries, const struct elffile *file, const char *owner)
{
	for (size_t i = 0; i < file->needed_count; i++) {
		char path[PATH_MAX];

		if (find_library(libraries, file, owner, file->needed[i], path)) {
			if (strcmp(file->needed[i], "libc.so.6") == 0)
				note_libc(libraries, path);
			add_library(libraries, path);
		} else if (libraries->missing_count++ < MISSING_MAX) {
			doctor_add(libraries->doctor, DOCTOR_LIMIT, "libraries",
				   "LD_LIBRARY_PATH, if the program sets it itself later",
				   "%s, which %s needs, is not found", file->needed[i], owner);
		}
	}
}

void doctor_libraries(struct doctor *doctor, const struct elffile *file)
{
	struct libraries libraries = { .doctor = doctor };
	char *program = realpath(doctor->program, NULL);
	struct elffile library;

	if (program == NULL || !file->is_native)
		goto out;
	read_places(&libraries);
	doctor_engine_look(doctor, file, program, true);
	add_needed(&libraries, file, program);
	for (size_t i = 0; i < libraries.count; i++) {
		if (elffile_open(&library, libraries.paths[i]) != 0)
			continue;
		if (library.is_native) {
			doctor_engine_look(doctor, &library, libraries.paths[i], false);
			add_needed(&libraries, &library, libraries.paths[i]);
		}
		elffile_close(&library);
	}
out:
	for (size_t i = 0; i < libraries.count; i++)
		free(libraries.paths[i]);
	for (size_t i = 0; i < libraries.place_count; i++)
		free(libraries.places[i]);
	free(program);
}
