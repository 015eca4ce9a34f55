/* SPDX-License-Identifier: MIT */
/* doctor_library.c - our library: whether it can be loaded, and what it loads itself. */
#include "preload/cmd/doctor/doctor.h"

#include <fcntl.h>
#include <libgen.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SAID_MAX = 4096 };

#define LIBUNWIND "libunwind-x86_64.so.8"

/* ---- the probe: our own command, preloaded, which prints its version --------------------------
 */

/* The environment without what would have the library do more than be there; caller frees. */
static char **probe_environment(const struct doctor *doctor, char *preload)
{
	size_t count = 0, kept = 0;
	char **rows;

	while (doctor->environment != NULL && doctor->environment[count] != NULL)
		count++;
	rows = calloc(count + 2, sizeof(*rows));
	if (rows == NULL)
		return NULL;
	for (size_t i = 0; i < count; i++) {
		if (strncmp(doctor->environment[i], "GUESTPROF_", 10) != 0 &&
		    strncmp(doctor->environment[i], "LD_PRELOAD=", 11) != 0)
			rows[kept++] = doctor->environment[i];
	}
	rows[kept] = preload;
	return rows;
}

static pid_t start_probe(char **environment, int out)
{
	static char name[] = "guestprof", option[] = "--version";
	char *words[] = { name, option, NULL };
	posix_spawn_file_actions_t actions;
	pid_t pid = -1;

	if (posix_spawn_file_actions_init(&actions) != 0)
		return -1;
	posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, out, STDERR_FILENO);
	if (posix_spawn(&pid, "/proc/self/exe", &actions, NULL, words, environment) != 0)
		pid = -1;
	posix_spawn_file_actions_destroy(&actions);
	return pid;
}

/*
 * NULL, with what was said on standard error; else why it did not run, or did not end well: good
 * until the next call.
 */
static const char *probe(const struct doctor *doctor, const char *library, char said[SAID_MAX])
{
	char *preload = NULL, **environment;
	const char *why = "it cannot be tried";
	int status = 0, fd;
	ssize_t size;
	pid_t pid;

	said[0] = '\0';
	if (asprintf(&preload, "LD_PRELOAD=%s", library) < 0)
		return why;
	environment = probe_environment(doctor, preload);
	fd = memfd_create("guestprof-doctor", MFD_CLOEXEC);
	pid = environment != NULL && fd >= 0 ? start_probe(environment, fd) : -1;
	if (pid > 0 && waitpid(pid, &status, 0) == pid) {
		size = pread(fd, said, SAID_MAX - 1, 0);
		said[size > 0 ? size : 0] = '\0';
		if (WIFSIGNALED(status))
			why = strsignal(WTERMSIG(status));
		else
			why = WEXITSTATUS(status) != 0 ? "its status is not 0" : NULL;
	}
	if (fd >= 0)
		close(fd);
	free(environment);
	free(preload);
	return why;
}

/* ---- what is told ---------------------------------------------------------------------------- */

static void tell_loadable(struct doctor *doctor, const char *library)
{
	char said[SAID_MAX];
	const char *why = probe(doctor, library, said);

	said[strcspn(said, "\n")] = '\0';
	if (why != NULL)
		doctor_add(doctor, DOCTOR_NO, "library", "build it anew: make && make install",
			   "%s: a program does not start with it: %s", library,
			   said[0] != '\0' ? said : why);
	else if (strstr(said, "preload") != NULL)
		doctor_add(doctor, DOCTOR_NO, "library",
			   "a path that this user may read, without spaces and colons", "%s", said);
	else
		doctor_add(doctor, DOCTOR_OK, "library", NULL, "%s can be preloaded", library);
}

/* Beside our library, as the tarball ships it, else where ld.so looks. */
static bool has_libunwind(const char *library)
{
	static const char *const usual[] = { "/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu",
					     "/lib64", "/usr/lib64", "/usr/local/lib" };
	char folder[PATH_MAX], path[PATH_MAX + 64];

	snprintf(folder, sizeof(folder), "%s", library);
	snprintf(path, sizeof(path), "%s/" LIBUNWIND, dirname(folder));
	if (access(path, R_OK) == 0)
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(usual); i++) {
		snprintf(path, sizeof(path), "%s/" LIBUNWIND, usual[i]);
		if (access(path, R_OK) == 0)
			return true;
	}
	return false;
}

static void tell_unwinder(struct doctor *doctor, const char *library)
{
	if (doctor->config.own_unwinder)
		doctor_add(doctor, DOCTOR_OK, "libunwind", NULL,
			   "not used: GUESTPROF_UNWINDER=own");
	else if (has_libunwind(library))
		doctor_add(doctor, DOCTOR_OK, "libunwind", NULL, LIBUNWIND " is there");
	else
		doctor_add(doctor, DOCTOR_LIMIT, "libunwind", "apt-get install libunwind8",
			   LIBUNWIND " is not found: host frames are found by our own unwinder");
}

/* LD_PRELOAD takes no path with these (ld.so(8)); the rest is for ld.so to say. */
void doctor_library(struct doctor *doctor)
{
	const char *library = doctor->library;

	if (library == NULL)
		doctor_add(doctor, DOCTOR_NO, "library",
			   "install it, or set GUESTPROF_LIB to its path",
			   "libguestprof.so is not found");
	else if (strpbrk(library, ": ") != NULL)
		doctor_add(doctor, DOCTOR_NO, "library", "move it",
			   "%s: LD_PRELOAD takes no path with a space or colon", library);
	else
		tell_loadable(doctor, library);
	if (library != NULL)
		tell_unwinder(doctor, library);
}

/* The newest glibc that the file at PATH names; 0. */
static unsigned int glibc_of(const char *path)
{
	unsigned int newest = 0;
	struct elffile file;

	if (path == NULL || elffile_open(&file, path) != 0)
		return 0;
	newest = elffile_glibc(&file);
	elffile_close(&file);
	return newest;
}

void doctor_library_libc(struct doctor *doctor, const char *path)
{
	unsigned int wanted = glibc_of(doctor->library), there = glibc_of(path);

	if (wanted == 0)
		return; /* doctor_library() says it */
	if (there == 0)
		doctor_add(doctor, DOCTOR_LIMIT, "libc", NULL,
			   "%s: its version is not known (2.%u is needed)", path, wanted);
	else if (there < wanted)
		doctor_add(doctor, DOCTOR_NO, "libc",
			   "a newer system, or build guestprof on one as old as this",
			   "%s is glibc 2.%u, and the library needs 2.%u: the program would not "
			   "start with it",
			   path, there, wanted);
	else
		doctor_add(doctor, DOCTOR_OK, "libc", NULL, "glibc 2.%u (2.%u is needed)", there,
			   wanted);
}
