/* SPDX-License-Identifier: MIT */
/* doctor_process.c - the state of a process: privileges, sandbox, namespaces, who may look into it.
 */
#include "preload/cmd/doctor/doctor.h"

#include "preload/cmd/live/processes.h"
#include "preload/cmd/live/procfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

enum { STATUS_MAX = 8192, ENVIRONMENT_MAX = 4 << 20, VARIABLES_MAX = 65536 };

/* ---- what is known of it --------------------------------------------------------------------- */

/* NAME=value strings as environ; all of it is one allocation, freed by doctor_process_close(). */
static int read_environment(struct doctor *doctor)
{
	char *text = malloc(ENVIRONMENT_MAX);
	ssize_t size = text != NULL ? procfile_read(doctor->pid, "environ", text, ENVIRONMENT_MAX)
				    : -ENOMEM;
	size_t count = 0;

	doctor->environment = calloc(VARIABLES_MAX + 1, sizeof(*doctor->environment));
	if (text == NULL || doctor->environment == NULL) {
		free(text);
		return -ENOMEM;
	}
	doctor->environment_text = text;
	for (ssize_t at = 0; at < size && count < VARIABLES_MAX;
	     at += (ssize_t)strlen(text + at) + 1)
		doctor->environment[count++] = text + at;
	return 0;
}

static void tell_state(struct doctor *doctor, const char *status)
{
	const char *state = procfile_field(status, "State");

	if (state != NULL && *state == 'Z')
		doctor_add(doctor, DOCTOR_NO, "process", NULL, "it has ended (a zombie)");
	else if (state != NULL && (*state == 'T' || *state == 't'))
		doctor_add(doctor, DOCTOR_LIMIT, "process", "let it go on: kill -CONT PID",
			   "it is stopped");
	else
		doctor_add(doctor, DOCTOR_OK, "process", NULL, "%d: %s", (int)doctor->pid,
			   doctor->program[0] != '\0' ? doctor->program
						      : "its program may not be seen");
}

int doctor_process_open(struct doctor *doctor)
{
	char path[64];
	char status[STATUS_MAX], *deleted;
	ssize_t length;

	snprintf(path, sizeof(path), "/proc/%d", (int)doctor->pid);
	if (access(path, F_OK) != 0)
		return -ESRCH;
	snprintf(doctor->root, sizeof(doctor->root), "/proc/%d/root", (int)doctor->pid);
	if (access(doctor->root, X_OK) != 0)
		doctor->root[0] = '\0';
	snprintf(path, sizeof(path), "/proc/%d/exe", (int)doctor->pid);
	length = readlink(path, doctor->program, sizeof(doctor->program) - 1);
	doctor->program[length > 0 ? length : 0] = '\0';
	/* The kernel's mark of a file that was replaced while it runs. */
	deleted = strstr(doctor->program, " (deleted)");
	if (deleted != NULL && deleted[10] == '\0')
		*deleted = '\0';
	if (procfile_read(doctor->pid, "status", status, sizeof(status)) > 0)
		tell_state(doctor, status);
	return read_environment(doctor);
}

void doctor_process_close(struct doctor *doctor)
{
	if (doctor->pid == 0)
		return;
	free(doctor->environment);
	free(doctor->environment_text);
}

/* ---- whether the library is there -------------------------------------------------------------
 */

static bool is_secure(pid_t pid)
{
	struct {
		unsigned long type, value;
	} entries[64];
	ssize_t size = procfile_read(pid, "auxv", (char *)entries, sizeof(entries));

	for (ssize_t i = 0; i < size / (ssize_t)sizeof(entries[0]); i++) {
		if (entries[i].type == AT_SECURE)
			return entries[i].value != 0;
	}
	return false;
}

static void tell_socket(struct doctor *doctor)
{
	struct processes processes = { 0 };
	const char *socket = NULL;

	if (processes_add_pid(&processes, doctor->pid) == 0 && processes.count == 1)
		socket = processes.rows[0].socket;
	if (socket != NULL)
		doctor_add(doctor, DOCTOR_OK, "control", NULL, "%s", socket);
	else
		doctor_add(doctor, DOCTOR_OK, "control", NULL,
			   "no control socket; GUESTPROF_CONTROL=1 makes one at the start");
	processes_free(&processes);
}

static void tell_preload(struct doctor *doctor)
{
	if (doctor->is_preloaded) {
		doctor_add(doctor, DOCTOR_OK, "preloaded", NULL, "libguestprof.so is in it");
		tell_socket(doctor);
	} else if (!doctor->is_readable) {
		doctor_add(doctor, DOCTOR_LIMIT, "preloaded", "ask as root, or as its user",
			   "its mappings may not be read: whether the library is in it is not "
			   "known");
	} else if (is_secure(doctor->pid)) {
		doctor_add(doctor, DOCTOR_NO, "preloaded",
			   "run a copy of its file that is not setuid, setgid or setcap",
			   "the library is not in it: it gained privileges (AT_SECURE), and such "
			   "programs ignore LD_PRELOAD");
	} else {
		doctor_add(doctor, DOCTOR_NO, "preloaded",
			   "start it with LD_PRELOAD=$(guestprof lib), or under guestprof record",
			   "the library is not in it: a process that runs cannot be given it");
	}
}

/* ---- its state ------------------------------------------------------------------------------- */

static void tell_seccomp(struct doctor *doctor, const char *status)
{
	uint64_t mode = procfile_number(status, "Seccomp", 10);

	if (mode == 1)
		doctor_add(doctor, DOCTOR_NO, "seccomp", "run it without the strict sandbox",
			   "it is in seccomp's strict mode: only read, write and exit are allowed");
	else if (mode == 2)
		doctor_add(doctor, DOCTOR_LIMIT, "seccomp",
			   "allow timer_create, timer_settime, perf_event_open, rt_sigaction, "
			   "clone3, close_range, openat",
			   "it has a seccomp filter, which may refuse what we need after it was "
			   "set");
}

/* The kernel gives the files of an undumpable process to root (proc(5)). */
static void tell_dumpable(struct doctor *doctor, const char *status)
{
	uint64_t uid = procfile_number(status, "Uid", 10);
	struct stat about;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)doctor->pid);
	if (uid != 0 && stat(path, &about) == 0 && about.st_uid != uid)
		doctor_add(doctor, DOCTOR_LIMIT, "dumpable",
			   "leave PR_SET_DUMPABLE alone, or run it as root",
			   "it is not dumpable: waiting (--wall) is not seen");
}

/* "NSpid:	4242	7": its number here, then in its own namespaces. */
static void tell_namespace(struct doctor *doctor, const char *status)
{
	const char *value = procfile_field(status, "NSpid");
	char line[128];
	const char *last;

	if (value == NULL)
		return;
	snprintf(line, sizeof(line), "%.*s", (int)strcspn(value, "\n"), value);
	last = strrchr(line, '\t');
	if (last != NULL)
		doctor_add(doctor, DOCTOR_OK, "container", NULL,
			   "it has a pid namespace of its own, where it is process %s: its "
			   "recording is named by that",
			   last + 1);
}

void doctor_process(struct doctor *doctor)
{
	char status[STATUS_MAX];

	if (procfile_read(doctor->pid, "status", status, sizeof(status)) <= 0)
		return;
	tell_preload(doctor);
	tell_seccomp(doctor, status);
	tell_dumpable(doctor, status);
	tell_namespace(doctor, status);
	doctor_limits(doctor, doctor->pid);
}
