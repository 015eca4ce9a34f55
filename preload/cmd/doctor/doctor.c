/* SPDX-License-Identifier: MIT */
/* doctor.c - `guestprof doctor`: says beforehand what will be seen, what not, and why. */
#include "preload/cmd/doctor/doctor.h"

#include "preload/cmd/command.h"
#include "preload/cmd/library.h"
#include "preload/cmd/say.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern char **environ;

/* ---- a command ------------------------------------------------------------------------------- */

static void look_at_program(struct doctor *doctor, const char *name)
{
	struct elffile file;
	bool is_wrapper;

	if (!doctor_program(doctor, name, &file))
		return;
	is_wrapper = doctor_wrapper(doctor);
	doctor_libraries(doctor, &file);
	elffile_close(&file);
	if (is_wrapper)
		return;
	doctor_python(doctor);
	doctor_engine_tell(doctor);
}

char *doctor_why_nothing(const char *program)
{
	struct doctor *doctor = calloc(1, sizeof(*doctor));
	char *why = NULL;

	if (doctor == NULL)
		return NULL;
	doctor->environment = environ;
	doctor->library = library_path();
	look_at_program(doctor, program);
	if (doctor_reason(doctor) != NULL)
		why = strdup(doctor_reason(doctor));
	free(doctor->library);
	free(doctor);
	return why;
}

static void look_at_command(struct doctor *doctor)
{
	char here[PATH_MAX];

	doctor->environment = environ;
	doctor_settings(doctor);
	look_at_program(doctor, doctor->command[0]);
	doctor_guest_files(doctor);
	doctor_library(doctor);
	doctor_preloads(doctor);
	doctor_system(doctor);
	doctor_output(doctor, getcwd(here, sizeof(here)) != NULL ? here : "/");
}

/* ---- a process ------------------------------------------------------------------------------- */

static int look_at_process(struct doctor *doctor)
{
	int error = doctor_process_open(doctor);
	char place[64];

	if (error != 0) {
		say_line("process %d: %s", (int)doctor->pid,
			 error == -ESRCH ? "there is none" : strerror(-error));
		return COMMAND_UNREACHABLE;
	}
	doctor_settings(doctor);
	doctor_maps(doctor);
	doctor_engine_tell(doctor);
	doctor_process(doctor);
	doctor_signals(doctor);
	doctor_library(doctor);
	doctor_preloads(doctor);
	snprintf(place, sizeof(place), "/proc/%d/cwd", (int)doctor->pid);
	doctor_output(doctor, place);
	return COMMAND_OK;
}

/* ---- the command line ------------------------------------------------------------------------ */

static int bad_usage(void)
{
	say_line("doctor: a process id, or a command: guestprof doctor -- CMD [ARGS]");
	return COMMAND_BAD;
}

/* WORDS[0] is the end of the options: whether `--` stood before it. */
static int read_subject(struct doctor *doctor, char **words, int count, bool is_command)
{
	char *end;
	unsigned long pid;

	if (count == 0)
		return bad_usage();
	pid = strtoul(words[0], &end, 10);
	if (is_command || words[0][0] < '0' || words[0][0] > '9' || *end != '\0') {
		doctor->command = words;
		return COMMAND_OK;
	}
	if (count != 1 || pid == 0 || pid > INT_MAX)
		return bad_usage();
	doctor->pid = (pid_t)pid;
	return COMMAND_OK;
}

static int show(const struct doctor *doctor, bool is_json)
{
	static const int statuses[] = {
		[DOCTOR_OK] = COMMAND_OK,
		[DOCTOR_LIMIT] = COMMAND_FOUND,
		[DOCTOR_NO] = COMMAND_NO_SAMPLES,
	};
	int error = is_json ? doctor_show_json(doctor) : doctor_show_text(doctor);

	return error == 0 ? statuses[doctor_worst(doctor)] : COMMAND_BAD;
}

int doctor_command(int argc, char **argv)
{
	static const struct option names[] = {
		{ "json", no_argument, NULL, 'j' },
		{ 0 },
	};
	/* What config_read() copies is never freed: it stays reachable here. */
	static struct doctor doctor;
	bool is_json = false;
	int option, status;

	/* "+": options end at the command's name; what follows is the command's. */
	while ((option = getopt_long(argc, argv, "+", names, NULL)) != -1) {
		if (option != 'j')
			return COMMAND_BAD;
		is_json = true;
	}
	status = read_subject(&doctor, argv + optind, argc - optind,
			      strcmp(argv[optind - 1], "--") == 0);
	if (status == COMMAND_OK)
		doctor.library = library_path();
	if (status == COMMAND_OK && doctor.command != NULL)
		look_at_command(&doctor);
	else if (status == COMMAND_OK)
		status = look_at_process(&doctor);
	if (status == COMMAND_OK)
		status = show(&doctor, is_json);
	doctor_process_close(&doctor);
	free(doctor.library);
	return status;
}
