/* SPDX-License-Identifier: MIT */
/* doctor_version.c - versions of libraries, which do not say theirs: folders do. */
#include "preload/cmd/doctor/doctor_version.h"

#include <ctype.h>
#include <dirent.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The engine whose library comes in a package for Python. */
static const char wheels[] = "wasmtime";

void doctor_version_read(char version[32], const char *text, size_t size)
{
	size_t length = 0;

	while (length < size && length < 31 &&
	       (isdigit((unsigned char)text[length]) || text[length] == '.'))
		length++;
	while (length > 0 && text[length - 1] == '.')
		length--;
	memcpy(version, text, length);
	version[length] = '\0';
}

/* "wasmtime-50.0.1", "wasmtime-v44.0.0-x86_64-linux-c-api", "WasmEdge-0.14.1-Linux": the version of
 * ENGINE, or "". */
static void version_of_name(char version[32], const char *name, const char *engine)
{
	const char *at = strcasestr(name, engine);

	while (at != NULL && at[strlen(engine)] != '-')
		at = strcasestr(at + 1, engine);
	version[0] = '\0';
	if (at == NULL)
		return;
	at += strlen(engine) + 1;
	at += *at == 'v';
	if (isdigit((unsigned char)*at))
		doctor_version_read(version, at, strlen(at));
}

/* SITE/wasmtime-50.0.1.dist-info lies beside SITE/wasmtime/linux-x86_64/_libwasmtime.so. */
static bool version_of_wheel(char version[32], const char *path)
{
	char copy[PATH_MAX];
	struct dirent *entry;
	DIR *entries;

	snprintf(copy, sizeof(copy), "%s", path);
	entries = opendir(dirname(dirname(dirname(copy))));
	while (entries != NULL && version[0] == '\0' && (entry = readdir(entries)) != NULL) {
		if (strncmp(entry->d_name, "wasmtime-", 9) == 0 &&
		    strstr(entry->d_name, ".dist-info") != NULL)
			version_of_name(version, entry->d_name, wheels);
	}
	if (entries != NULL)
		closedir(entries);
	return version[0] != '\0';
}

void doctor_version_of_library(char version[32], const char *path, const char *engine)
{
	char *real = realpath(path, NULL);

	version[0] = '\0';
	if (real != NULL && (strcmp(engine, wheels) != 0 || !version_of_wheel(version, real)))
		version_of_name(version, real, engine);
	free(real);
}
