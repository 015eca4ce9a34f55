/* SPDX-License-Identifier: MIT */
/*
 * processes.c - looks into directories and /proc. Threads: any.
 *
 * A process that names its socket itself did so in its environment, and in its own mount and pid
 * namespaces: paths go through /proc/PID/root.
 */
#include "preload/cmd/live/processes.h"

#include "preload/cmd/live/procfile.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ENVIRONMENT_MAX = 1 << 20, STATUS_MAX = 8192 };

static const char library[] = "/libguestprof.so";

/* ---- the list -------------------------------------------------------------------------------- */

static bool is_same_file(const char *a, const char *b)
{
	struct stat first, second;

	return stat(a, &first) == 0 && stat(b, &second) == 0 && first.st_dev == second.st_dev &&
	       first.st_ino == second.st_ino;
}

static bool is_listed(const struct processes *processes, const struct process *process)
{
	for (size_t i = 0; i < processes->count; i++) {
		const struct process *row = &processes->rows[i];

		if (process->pid != 0 && row->pid == process->pid)
			return true;
		/* Two processes that name one file: whose it is turns out when it is asked. */
		if (process->pid != 0 && row->pid != 0)
			continue;
		if (process->socket != NULL && row->socket != NULL &&
		    is_same_file(row->socket, process->socket))
			return true;
	}
	return false;
}

/* Takes PROCESS over. */
static int add(struct processes *processes, struct process process)
{
	struct process *rows = processes->rows;

	if (is_listed(processes, &process) || processes->count >= PROCESSES_MAX) {
		free(process.socket);
		return 0;
	}
	if (processes->count == processes->room) {
		size_t room = processes->room != 0 ? 2 * processes->room : 16;

		rows = realloc(rows, room * sizeof(*rows));
		if (rows == NULL) {
			free(process.socket);
			return -ENOMEM;
		}
		processes->rows = rows;
		processes->room = room;
	}
	rows[processes->count++] = process;
	return 0;
}

void processes_free(struct processes *processes)
{
	for (size_t i = 0; i < processes->count; i++)
		free(processes->rows[i].socket);
	free(processes->rows);
	*processes = (struct processes){ 0 };
}

static bool is_socket(const char *path)
{
	struct stat facts;

	return lstat(path, &facts) == 0 && S_ISSOCK(facts.st_mode);
}

int processes_add_socket(struct processes *processes, const char *path)
{
	struct process process = { .socket = strdup(path) };

	return process.socket != NULL ? add(processes, process) : -ENOMEM;
}

int processes_add_directory(struct processes *processes, const char *directory)
{
	DIR *entries = opendir(directory);
	struct dirent *entry;
	char path[PATH_MAX];
	int error = 0;

	if (entries == NULL)
		return -errno;
	while (error == 0 && (entry = readdir(entries)) != NULL) {
		int length = snprintf(path, sizeof(path), "%s/%s", directory, entry->d_name);

		if ((size_t)length < sizeof(path) && is_socket(path))
			error = processes_add_socket(processes, path);
	}
	closedir(entries);
	return error;
}

/* ---- one process ----------------------------------------------------------------------------- */

static bool has_library(pid_t pid)
{
	FILE *maps;
	char path[64], *line = NULL;
	size_t room = 0;
	bool is_there = false;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	maps = fopen(path, "re");
	if (maps == NULL)
		return false;
	while (!is_there && getline(&line, &room, maps) > 0)
		is_there = strstr(line, library) != NULL;
	free(line);
	fclose(maps);
	return is_there;
}

/* The last number behind LABEL in STATUS, /proc/PID/status; -1. */
static long last_number(const char *status, const char *label)
{
	const char *value = procfile_field(status, label), *last = value;

	if (value == NULL)
		return -1;
	for (const char *at = value; *at != '\n' && *at != '\0'; at++) {
		if (*at == '\t')
			last = at + 1;
	}
	return strtol(last, NULL, 10);
}

static void read_name(struct process *process)
{
	procfile_read(process->pid, "comm", process->name, sizeof(process->name));
	process->name[strcspn(process->name, "\n")] = '\0';
}

/* What the process had in its environment when it began: NAME=value strings. NULL. */
static char *read_environment(pid_t pid, size_t *size)
{
	char *bytes = malloc(ENVIRONMENT_MAX + 1);
	ssize_t length;

	*size = 0;
	if (bytes == NULL)
		return NULL;
	length = procfile_read(pid, "environ", bytes, ENVIRONMENT_MAX + 1);
	if (length > 0)
		*size = (size_t)length;
	return bytes;
}

static const char *variable(const char *environment, size_t size, const char *name)
{
	size_t length = strlen(name);

	for (size_t at = 0; environment != NULL && at < size; at += strlen(environment + at) + 1) {
		if (strncmp(environment + at, name, length) == 0 && environment[at + length] == '=')
			return environment + at + length + 1;
	}
	return NULL;
}

/* The first %p of PATTERN becomes PID. */
static void expand(char out[PATH_MAX], const char *pattern, long pid)
{
	const char *percent = strstr(pattern, "%p");

	if (percent != NULL)
		snprintf(out, PATH_MAX, "%.*s%ld%s", (int)(percent - pattern), pattern, pid,
			 percent + 2);
	else
		snprintf(out, PATH_MAX, "%s", pattern);
}

/* PLACE as the process sees it, if a socket is there; a copy. */
static char *socket_at(pid_t pid, const char *place)
{
	char path[PATH_MAX + 64];

	if (place[0] != '/')
		return NULL;
	snprintf(path, sizeof(path), "/proc/%d/root%s", (int)pid, place);
	if (is_socket(path))
		/* The plain name reads better, where it is the same. */
		return strdup(is_socket(place) && is_same_file(place, path) ? place : path);
	return is_socket(place) ? strdup(place) : NULL;
}

static char *find_socket(pid_t pid)
{
	size_t size;
	char *environment = read_environment(pid, &size), *found = NULL;
	long inner, uid;
	const char *control = variable(environment, size, "GUESTPROF_CONTROL");
	const char *runtime = variable(environment, size, "XDG_RUNTIME_DIR");
	const char *temporary = variable(environment, size, "TMPDIR");
	char place[PATH_MAX], path[PATH_MAX + 32], status[STATUS_MAX];

	procfile_read(pid, "status", status, sizeof(status));
	inner = last_number(status, "NSpid");
	uid = last_number(status, "Uid");
	if (inner < 0)
		inner = pid;
	if (control != NULL && control[0] == '/') {
		expand(place, control, inner);
		found = socket_at(pid, place);
		snprintf(path, sizeof(path), "%s/%ld.sock", control, inner);
		if (found == NULL)
			found = socket_at(pid, path);
	}
	snprintf(path, sizeof(path), "%s/guestprof/%ld.sock", runtime != NULL ? runtime : "",
		 inner);
	if (found == NULL && runtime != NULL)
		found = socket_at(pid, path);
	snprintf(path, sizeof(path), "%s/guestprof-%ld/%ld.sock",
		 temporary != NULL && temporary[0] == '/' ? temporary : "/tmp", uid, inner);
	if (found == NULL)
		found = socket_at(pid, path);
	free(environment);
	return found;
}

int processes_add_pid(struct processes *processes, pid_t pid)
{
	struct process process = { .pid = pid };
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	if (access(path, F_OK) != 0)
		return -ESRCH;
	process.socket = find_socket(pid);
	/* Who may not read its maps may still be allowed to ask it. */
	if (process.socket == NULL && !has_library(pid))
		return -ENOEXEC;
	read_name(&process);
	return add(processes, process);
}

/* ---- all of them ----------------------------------------------------------------------------- */

static int add_pattern(struct processes *processes, const char *pattern)
{
	glob_t found;
	int error = 0;

	if (glob(pattern, GLOB_NOSORT, NULL, &found) != 0)
		return 0;
	for (size_t i = 0; error == 0 && i < found.gl_pathc; i++)
		error = processes_add_directory(processes, found.gl_pathv[i]);
	globfree(&found);
	return error == -ENOMEM ? error : 0;
}

static int add_usual(struct processes *processes)
{
	const char *runtime = getenv("XDG_RUNTIME_DIR"), *temporary = getenv("TMPDIR");
	char path[PATH_MAX];
	int error = 0;

	if (runtime != NULL && runtime[0] == '/' &&
	    (size_t)snprintf(path, sizeof(path), "%s/guestprof", runtime) < sizeof(path))
		error = processes_add_directory(processes, path);
	if (error != -ENOMEM &&
	    (size_t)snprintf(path, sizeof(path), "%s/guestprof-%u",
			     temporary != NULL && temporary[0] == '/' ? temporary : "/tmp",
			     (unsigned int)geteuid()) < sizeof(path))
		error = processes_add_directory(processes, path);
	if (error == -ENOMEM || geteuid() != 0)
		return error == -ENOMEM ? error : 0;
	error = add_pattern(processes, "/run/user/*/guestprof");
	return error == 0 ? add_pattern(processes, "/tmp/guestprof-*") : error;
}

int processes_add_all(struct processes *processes)
{
	DIR *entries = opendir("/proc");
	struct dirent *entry;
	int error = 0;

	/* Those first: by their numbers the others are known. */
	while (entries != NULL && error != -ENOMEM && (entry = readdir(entries)) != NULL) {
		pid_t pid = isdigit((unsigned char)entry->d_name[0]) ? atoi(entry->d_name) : 0;

		if (pid > 0 && has_library(pid))
			error = processes_add_pid(processes, pid);
	}
	if (entries != NULL)
		closedir(entries);
	return error == -ENOMEM ? error : add_usual(processes);
}
