/* SPDX-License-Identifier: MIT */
/*
 * doctor_python.c - engines among the packages of a Python, found by its folders.
 *
 * Where it looks for packages is what its own site.py would say; nothing of it is run. Threads:
 * any.
 */
#include "preload/cmd/doctor/doctor.h"

#include <glob.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MATCHES_MAX = 8 };

/* Libraries of packages that have an engine, in a folder of packages. */
static const char *const patterns[] = {
	"wasmtime/linux-x86_64/*.so", "wasmer*/*.so", "extism*/*.so", "wasmedge*/*.so", "wasm3*.so",
	"py_mini_racer/*.so",
};

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash != NULL ? slash + 1 : path;
}

static void look_in(struct doctor *doctor, const char *folder)
{
	char pattern[PATH_MAX + 64];
	glob_t found;

	for (size_t i = 0; i < ARRAY_SIZE(patterns); i++) {
		snprintf(pattern, sizeof(pattern), "%s/%s", folder, patterns[i]);
		if (glob(pattern, 0, NULL, &found) != 0)
			continue;
		for (size_t k = 0; k < found.gl_pathc && k < MATCHES_MAX; k++)
			doctor_engine_look_at(doctor, found.gl_pathv[k]);
		globfree(&found);
	}
}

/* Folders of packages below WHERE: BELOW is a glob. */
static void look_in_all(struct doctor *doctor, const char *where, const char *below)
{
	char pattern[PATH_MAX + 64];
	glob_t found;

	snprintf(pattern, sizeof(pattern), "%s/%s", where, below);
	if (glob(pattern, GLOB_ONLYDIR, NULL, &found) != 0)
		return;
	for (size_t i = 0; i < found.gl_pathc && i < MATCHES_MAX; i++)
		look_in(doctor, found.gl_pathv[i]);
	globfree(&found);
}

static void look_in_list(struct doctor *doctor, const char *list)
{
	while (list != NULL && *list != '\0') {
		size_t length = strcspn(list, ":");
		char folder[PATH_MAX];

		if (snprintf(folder, sizeof(folder), "%.*s", (int)length, list) < PATH_MAX &&
		    length != 0)
			look_in(doctor, folder);
		list += length + (list[length] == ':');
	}
}

/*
 * A virtual environment's prefix is where its link to Python is, beside pyvenv.cfg (PEP 405); it
 * uses no packages but its own unless that file says so.
 */
static bool is_closed_environment(const char *prefix)
{
	char path[PATH_MAX + 16], line[512];
	bool is_closed = true;
	FILE *file;

	snprintf(path, sizeof(path), "%s/pyvenv.cfg", prefix);
	file = fopen(path, "re");
	if (file == NULL)
		return false;
	while (fgets(line, sizeof(line), file) != NULL) {
		if (strncmp(line, "include-system-site-packages", 28) == 0 &&
		    strstr(line, "true") != NULL)
			is_closed = false;
	}
	fclose(file);
	return is_closed;
}

/* The prefix that PYTHON, a path BIN/python3, belongs to. */
static void prefix_of(const char *python, char prefix[PATH_MAX])
{
	char copy[PATH_MAX], *folder;

	snprintf(copy, sizeof(copy), "%s", python);
	folder = dirname(copy);
	if (strchr(folder, '/') == NULL)
		snprintf(prefix, PATH_MAX, "%s/..", folder);
	else
		snprintf(prefix, PATH_MAX, "%s", dirname(folder));
}

static void look_in_system(struct doctor *doctor, const char *real)
{
	const char *home = doctor_variable(doctor, "HOME");
	char prefix[PATH_MAX];

	prefix_of(real, prefix);
	look_in_all(doctor, prefix, "lib/python3*/site-packages");
	look_in_all(doctor, prefix, "lib/python3*/dist-packages");
	look_in_all(doctor, "/usr/local", "lib/python3*/dist-packages");
	if (home != NULL && home[0] == '/')
		look_in_all(doctor, home, ".local/lib/python3*/site-packages");
}

/* The first word that is a file is the script: its folder comes first in sys.path. */
static void look_beside_script(struct doctor *doctor)
{
	char folder[PATH_MAX];
	struct stat about;

	for (char **word = doctor->command; word != NULL && *word != NULL; word++) {
		if (word == doctor->command && strncmp(last_part(*word), "python", 6) == 0)
			continue;
		if (stat(*word, &about) != 0 || !S_ISREG(about.st_mode))
			continue;
		snprintf(folder, sizeof(folder), "%s", *word);
		look_in(doctor, dirname(folder));
		return;
	}
}

void doctor_python(struct doctor *doctor)
{
	char *real = realpath(doctor->program, NULL), prefix[PATH_MAX];
	size_t before = doctor->engine_count;

	if (real == NULL || strncmp(last_part(real), "python", 6) != 0) {
		free(real);
		return;
	}
	look_beside_script(doctor);
	look_in_list(doctor, doctor_variable(doctor, "PYTHONPATH"));
	prefix_of(doctor->program, prefix);
	look_in_all(doctor, prefix, "lib/python3*/site-packages");
	if (!is_closed_environment(prefix))
		look_in_system(doctor, real);
	for (size_t i = before; i < doctor->engine_count; i++)
		doctor->engines[i].how = "a package of Python's";
	free(real);
}
