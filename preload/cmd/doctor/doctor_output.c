/* SPDX-License-Identifier: MIT */
/* doctor_output.c - whether the recording can be written where it is to go. Threads: any. */
#include "preload/cmd/doctor/doctor.h"

#include "preload/encode/paths.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* With less the recording may not fit (GUESTPROF_ROTATE's default size). */
#define ROOM_LEAST ((uint64_t)64 << 20)

/* Facts of the program as far as a pattern's folder needs them; free() facts->environment. */
static void make_facts(const struct doctor *doctor, struct path_facts *facts)
{
	const char *slash = strrchr(doctor->program, '/');

	paths_facts(facts, 0);
	snprintf(facts->program, sizeof(facts->program), "%.63s",
		 slash != NULL ? slash + 1 : doctor->program);
	if (doctor->pid != 0)
		facts->pid = (uint64_t)doctor->pid;
}

static void tell_unwritable(struct doctor *doctor, const char *folder, int error)
{
	const char *temporary = doctor_variable(doctor, "TMPDIR");
	char elsewhere[PATH_MAX];

	snprintf(elsewhere, sizeof(elsewhere), "%s%s", doctor->root,
		 temporary != NULL && temporary[0] == '/' ? temporary : "/tmp");
	if (access(elsewhere, W_OK | X_OK) == 0)
		doctor_add(doctor, DOCTOR_LIMIT, "output",
			   "guestprof record -o /ANOTHER/FOLDER/FILE.pb.gz, or GUESTPROF_OUTPUT",
			   "%s: %s; the recording goes to %s", folder, strerror(error),
			   elsewhere + strlen(doctor->root));
	else
		doctor_add(doctor, DOCTOR_NO, "output",
			   "guestprof record -o /ANOTHER/FOLDER/FILE.pb.gz, or GUESTPROF_OUTPUT",
			   "neither %s nor %s can be written to: %s", folder,
			   elsewhere + strlen(doctor->root), strerror(error));
}

static void tell_room(struct doctor *doctor, const char *path, const char *folder)
{
	struct statvfs place;
	uint64_t room;

	if (statvfs(path, &place) != 0)
		return;
	room = (uint64_t)place.f_bavail * place.f_frsize;
	if (room < ROOM_LEAST)
		doctor_add(doctor, DOCTOR_LIMIT, "output", "make room, or use another disk",
			   "%s: %llu MiB are free; a long recording may be cut short", folder,
			   (unsigned long long)(room >> 20));
	else
		doctor_add(doctor, DOCTOR_OK, "output", NULL, "%s can be written to", folder);
}

void doctor_output(struct doctor *doctor, const char *working_directory)
{
	char path[2 * PATH_MAX], *here = realpath(working_directory, NULL);
	struct path_facts facts;
	struct path place;
	int error;

	if (strcmp(doctor->config.output, "none") == 0) {
		doctor_add(doctor, DOCTOR_OK, "output", NULL,
			   "none is written: GUESTPROF_OUTPUT=none; guestprof dump gets it");
		free(here);
		return;
	}
	make_facts(doctor, &facts);
	error = paths_expand(doctor->config.output, &facts, here, doctor->config.exact_output,
			     &place);
	free((void *)facts.environment);
	free(here);
	if (error != 0) {
		doctor_add(doctor, DOCTOR_LIMIT, "output", "a shorter GUESTPROF_OUTPUT",
			   "the name of the recording is too long");
		return;
	}
	snprintf(path, sizeof(path), "%s%s", doctor->root, place.directory);
	/* By the effective user: what a file is made as. */
	if (eaccess(path, W_OK | X_OK) != 0)
		tell_unwritable(doctor, place.directory, errno);
	else
		tell_room(doctor, path, place.directory);
}
