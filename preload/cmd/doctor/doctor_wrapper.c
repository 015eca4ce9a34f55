/* SPDX-License-Identifier: MIT */
/* doctor_wrapper.c - programs that only start other programs. Threads: any. */
#include "preload/cmd/doctor/doctor.h"

#include <string.h>

struct wrapper {
	const char *name;
	enum doctor_verdict verdict;
	const char *why, *cure;
};

#define PASSES_ON "starts other programs, and those decide what is seen"
#define ASK "ask about what it starts: guestprof doctor -- THAT [ARGS]"
#define ROW(name)                                  \
	{                                          \
		name, DOCTOR_LIMIT, PASSES_ON, ASK \
	}
#define DROPS "does not pass LD_PRELOAD on to what it starts"
#define BEHIND "put guestprof behind it: sudo guestprof record -- CMD"
#define ASKS_SERVICE "lets a service start the program, which does not get this environment"
#define INSIDE "set LD_PRELOAD and GUESTPROF_OUTPUT where that service starts it"

static const struct wrapper wrappers[] = {
	ROW("env"),
	ROW("timeout"),
	ROW("nice"),
	ROW("nohup"),
	ROW("setsid"),
	ROW("stdbuf"),
	ROW("taskset"),
	ROW("ionice"),
	ROW("chrt"),
	ROW("time"),
	ROW("setpriv"),
	ROW("unshare"),
	ROW("nsenter"),
	ROW("chroot"),
	ROW("prlimit"),
	ROW("numactl"),
	ROW("xargs"),
	ROW("strace"),
	ROW("gdb"),
	ROW("perf"),
	ROW("make"),
	ROW("sh"),
	ROW("bash"),
	ROW("dash"),
	ROW("zsh"),
	ROW("ksh"),
	ROW("fish"),
	ROW("busybox"),
	ROW("ld-linux-x86-64.so.2"),
	{ "sudo", DOCTOR_NO, DROPS, BEHIND },
	{ "doas", DOCTOR_NO, DROPS, BEHIND },
	{ "su", DOCTOR_NO, DROPS, BEHIND },
	{ "runuser", DOCTOR_NO, DROPS, BEHIND },
	{ "pkexec", DOCTOR_NO, DROPS, BEHIND },
	{ "docker", DOCTOR_NO, ASKS_SERVICE, INSIDE },
	{ "podman", DOCTOR_NO, ASKS_SERVICE, INSIDE },
	{ "nerdctl", DOCTOR_NO, ASKS_SERVICE, INSIDE },
	{ "kubectl", DOCTOR_NO, ASKS_SERVICE, INSIDE },
	{ "systemctl", DOCTOR_NO, ASKS_SERVICE, INSIDE },
	{ "systemd-run", DOCTOR_NO, ASKS_SERVICE, INSIDE },
	{ "ssh", DOCTOR_NO, ASKS_SERVICE, INSIDE },
};

bool doctor_wrapper(struct doctor *doctor)
{
	const char *slash = strrchr(doctor->program, '/');
	const char *name = slash != NULL ? slash + 1 : doctor->program;

	for (size_t i = 0; i < ARRAY_SIZE(wrappers); i++) {
		const struct wrapper *wrapper = &wrappers[i];

		if (strcmp(name, wrapper->name) != 0)
			continue;
		doctor_add(doctor, wrapper->verdict, "wrapper", wrapper->cure, "%s %s", name,
			   wrapper->why);
		return true;
	}
	return false;
}
