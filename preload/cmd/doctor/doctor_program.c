/* SPDX-License-Identifier: MIT */
/* doctor_program.c - the program's file: whether it takes a preloaded library. Threads: any. */
#include "preload/cmd/doctor/doctor.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

/* The kernel reads no more of a script's first line (BINPRM_BUF_SIZE), and follows no further. */
enum { FIRST_LINE_MAX = 256, SCRIPTS_MAX = 5 };

/* ---- finding it ------------------------------------------------------------------------------ */

/* NAME as execvp() would find it, in PATH. False when there is none. */
static bool find_program(const char *name, char path[PATH_MAX])
{
	const char *list = getenv("PATH");

	if (strchr(name, '/') != NULL) {
		snprintf(path, PATH_MAX, "%s", name);
		return access(path, F_OK) == 0;
	}
	while (list != NULL && *list != '\0') {
		size_t length = strcspn(list, ":");
		int size = snprintf(path, PATH_MAX, "%.*s/%s", (int)length,
				    length != 0 ? list : ".", name);

		if (size < PATH_MAX && access(path, X_OK) == 0)
			return true;
		list += length + (list[length] == ':');
	}
	return false;
}

/* What the first line of PATH, if it is a script, says: LINE without `#!`. */
static bool read_first_line(const char *path, char line[FIRST_LINE_MAX])
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ssize_t size = fd >= 0 ? read(fd, line, FIRST_LINE_MAX - 1) : -1;

	if (fd >= 0)
		close(fd);
	if (size < 2 || line[0] != '#' || line[1] != '!')
		return false;
	line[size] = '\0';
	line[strcspn(line, "\n")] = '\0';
	memmove(line, line + 2, strlen(line + 2) + 1);
	return true;
}

/* The program that LINE names: its first word, or, behind `env`, the next that is no option. */
static char *interpreter_of(char *line)
{
	char *rest = NULL, *word = strtok_r(line, " \t", &rest), *slash;

	slash = word != NULL ? strrchr(word, '/') : NULL;
	if (word == NULL || slash == NULL || strcmp(slash, "/env") != 0)
		return word;
	do
		word = strtok_r(NULL, " \t", &rest);
	while (word != NULL && (word[0] == '-' || strchr(word, '=') != NULL));
	return word;
}

/* ---- privileges ------------------------------------------------------------------------------ */

static bool has_capabilities(const char *path)
{
	return getxattr(path, "security.capability", NULL, 0) > 0;
}

/*
 * The kernel sets AT_SECURE, and with it ld.so ignores LD_PRELOAD, where exec changes a user or a
 * group, or gives capabilities to who is not root (execve(2), ld.so(8)).
 */
static const char *why_secure(const char *path, const struct stat *about)
{
	struct statvfs place;

	if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 ||
	    (statvfs(path, &place) == 0 && (place.f_flag & ST_NOSUID) != 0))
		return NULL;
	if ((about->st_mode & S_ISUID) != 0 && about->st_uid != getuid())
		return "is setuid";
	if ((about->st_mode & S_ISGID) != 0 && (about->st_mode & S_IXGRP) != 0 &&
	    about->st_gid != getgid())
		return "is setgid";
	if (getuid() != 0 && has_capabilities(path))
		return "has file capabilities (setcap)";
	return NULL;
}

static void check_privileges(struct doctor *doctor, const char *path)
{
	struct stat about;
	const char *why;

	if (stat(path, &about) != 0)
		return;
	why = why_secure(path, &about);
	if (why != NULL)
		doctor_add(doctor, DOCTOR_NO, "privileges",
			   "run a copy of the file without that, as the user who may do what it "
			   "does",
			   "%s %s: such programs ignore LD_PRELOAD", path, why);
	else if ((about.st_mode & (S_ISUID | S_ISGID)) != 0 || has_capabilities(path))
		doctor_add(doctor, DOCTOR_OK, "privileges", NULL,
			   "%s would change its privileges for other users, and not for this one",
			   path);
}

/* ---- the ELF file ---------------------------------------------------------------------------- */

static const char *machine_name(uint16_t machine)
{
	static const struct {
		uint16_t machine;
		const char *name;
	} names[] = {
		{ EM_386, "32-bit x86" }, { EM_X86_64, "x86_64" },	 { EM_AARCH64, "aarch64" },
		{ EM_ARM, "32-bit ARM" }, { EM_RISCV, "RISC-V" },	 { EM_PPC64, "POWER" },
		{ EM_S390, "s390x" },	  { EM_LOONGARCH, "LoongArch" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (names[i].machine == machine)
			return names[i].name;
	}
	return "another machine";
}

static void tell_foreign(struct doctor *doctor, const struct elffile *file)
{
	if (file->is_32bit)
		doctor_add(doctor, DOCTOR_NO, "program", "run a 64-bit build of it",
			   "%s is a 32-bit program (%s), and the library is for x86_64: ld.so "
			   "would ignore it with a message",
			   doctor->program, machine_name(file->machine));
	else
		doctor_add(doctor, DOCTOR_NO, "program", "run a build of it for x86_64",
			   "%s is for %s, and the library is for x86_64", doctor->program,
			   machine_name(file->machine));
}

/* `ld.so PROGRAM` has no loader of its own, and takes a preload. */
static bool is_loader(const char *path)
{
	const char *slash = strrchr(path, '/');

	return strncmp(slash != NULL ? slash + 1 : path, "ld-linux", 8) == 0;
}

static void tell_native(struct doctor *doctor, const struct elffile *file)
{
	const char *path = doctor->program, *loader = file->interpreter;

	if (file->is_damaged)
		doctor_add(doctor, DOCTOR_LIMIT, "program", "a whole copy of the file",
			   "%s: its headers lead outside the file; what it is cannot be told",
			   path);
	else if (loader[0] == '\0' && !is_loader(path))
		doctor_add(doctor, DOCTOR_NO, "program",
			   "link it dynamically (Rust: a *-linux-gnu target, without "
			   "target-feature=+crt-static)",
			   "%s is statically linked: such programs ignore LD_PRELOAD", path);
	else if (strstr(loader, "musl") != NULL)
		doctor_add(doctor, DOCTOR_NO, "program",
			   "run a build for glibc (a *-linux-gnu target, a Debian image)",
			   "%s is built for musl, and the library is built for glibc", path);
	else if (loader[0] != '\0' && access(loader, F_OK) != 0)
		doctor_add(doctor, DOCTOR_NO, "program", "install what it was built for",
			   "%s cannot start here: there is no %s", path, loader);
	else if (loader[0] != '\0' && strstr(loader, "ld-linux") == NULL)
		doctor_add(doctor, DOCTOR_LIMIT, "program", NULL,
			   "%s has a loader that is not glibc's, %s: it may ignore LD_PRELOAD",
			   path, loader);
	else
		doctor_add(doctor, DOCTOR_OK, "program", NULL,
			   "%s: x86_64, dynamically linked, glibc%s", path,
			   file->has_symbols ? ""
					     : "; stripped: with --stacks full its own functions "
					       "have no names");
}

/* ---- all together ---------------------------------------------------------------------------- */

/* Follows scripts from doctor->program to what runs them. False when that is not there. */
static bool follow_scripts(struct doctor *doctor)
{
	char line[FIRST_LINE_MAX], script[PATH_MAX];

	for (int i = 0; i < SCRIPTS_MAX && read_first_line(doctor->program, line); i++) {
		char *interpreter = interpreter_of(line);

		strcpy(script, doctor->program);
		if (interpreter == NULL || !find_program(interpreter, doctor->program)) {
			doctor_add(doctor, DOCTOR_NO, "script",
				   "install it, or correct the first line",
				   "%s is a script for %s, which is not there", script,
				   interpreter != NULL ? interpreter : "nothing");
			return false;
		}
		doctor_add(doctor, DOCTOR_OK, "script", NULL, "%s is a script that %s runs", script,
			   doctor->program);
	}
	return true;
}

bool doctor_program(struct doctor *doctor, const char *name, struct elffile *file)
{
	int error;

	if (!find_program(name, doctor->program)) {
		doctor->program[0] = '\0';
		doctor_add(doctor, DOCTOR_NO, "program", "give its path",
			   "%s is not there, and not in PATH", name);
		return false;
	}
	if (!follow_scripts(doctor))
		return false;
	check_privileges(doctor, doctor->program);
	error = elffile_open(file, doctor->program);
	if (error == -ENOEXEC)
		doctor_add(doctor, DOCTOR_LIMIT, "program", "name what runs it, and ask about that",
			   "%s is no ELF file, and no script that names what runs it",
			   doctor->program);
	else if (error != 0)
		doctor_add(doctor, DOCTOR_LIMIT, "program", NULL, "%s cannot be read: %s",
			   doctor->program, strerror(-error));
	else if (file->is_native)
		tell_native(doctor, file);
	else
		tell_foreign(doctor, file);
	return error == 0;
}
