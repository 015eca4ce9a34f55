/* SPDX-License-Identifier: MIT */
/*
 * doctor.h - what can be said before a recording: one row for each thing that was looked at.
 *
 * Each doctor_*.c has the checks of one kind, which add rows. Nothing of the program is run; of a
 * process only what /proc shows is read. Threads: one.
 */
#ifndef PRELOAD_CMD_DOCTOR_DOCTOR_H
#define PRELOAD_CMD_DOCTOR_DOCTOR_H

#include <limits.h>
#include <sys/types.h>

#include "preload/base/config.h"
#include "preload/cmd/doctor/elffile.h"
#include "symtab/base.h"

enum doctor_verdict {
	DOCTOR_OK,
	DOCTOR_LIMIT, /* less is seen */
	DOCTOR_NO,    /* nothing is seen */
};

struct doctor_row {
	enum doctor_verdict verdict;
	const char *what; /* static: one word, which stays what it is */
	char why[768];
	const char *cure; /* static: what the user can do; NULL */
};

enum { DOCTOR_ROWS_MAX = 96, DOCTOR_ENGINES_MAX = 16 };

/* An engine that was found. */
struct doctor_engine {
	const char *name;    /* static: "wasmtime" */
	char version[32];    /* "" unknown */
	const char *how;     /* static: how it was found */
	const char *seen_by; /* static: "calls", "events", "registration", "scan"; NULL: it is not
				seen */
	char path[PATH_MAX]; /* the file it was found in */
};

struct doctor {
	char **command;		/* of `-- CMD`; NULL with a process */
	pid_t pid;		/* 0 with a command */
	char program[PATH_MAX]; /* the file; "" unknown */
	char root[32];		/* of a process: "/proc/PID/root", else "" */
	char **environment;	/* the program's: as environ */
	struct config config;	/* as the library will read it there */
	char *library;		/* ours; owned; NULL: not found */
	char *environment_text; /* of a process: owned, what environment points into */
	bool is_readable;	/* of a process: its mappings */
	bool is_preloaded;	/* our library is among them */

	struct doctor_row rows[DOCTOR_ROWS_MAX];
	size_t row_count;
	struct doctor_engine engines[DOCTOR_ENGINES_MAX];
	size_t engine_count;
};

/* Adds a row. Further ones than fit are left out. */
void doctor_add(struct doctor *doctor, enum doctor_verdict verdict, const char *what,
		const char *cure, const char *format, ...) PRINTF_LIKE(5, 6);

/* The worst of all rows. */
enum doctor_verdict doctor_worst(const struct doctor *doctor);

/* The value of NAME in the program's environment; NULL. */
const char *doctor_variable(const struct doctor *doctor, const char *name);

/* ---- doctor_program.c: whether the program takes a preloaded library --------------------------
 */

/*
 * Looks at the file that NAME (searched in PATH) is, and if it is a script, at what runs it, which
 * then is doctor->program. FILE is its ELF file, open, when the result is true.
 */
bool doctor_program(struct doctor *doctor, const char *name, struct elffile *file);

/* The reason of the first row that says `no`; NULL. */
const char *doctor_reason(const struct doctor *doctor);

/* ---- doctor_wrapper.c -------------------------------------------------------------------------
 */

/* The program only starts others: what those are decides. True when it is such a one. */
bool doctor_wrapper(struct doctor *doctor);

/* ---- doctor_libraries.c ------------------------------------------------------------------------
 */

/* Engines in FILE, the program's, and in the libraries it needs; and which libc is there. */
void doctor_libraries(struct doctor *doctor, const struct elffile *file);

/* ---- doctor_engine.c ---------------------------------------------------------------------------
 */

/* Engines in the file PATH, open as FILE. IN_PROGRAM: it is the program itself. */
void doctor_engine_look(struct doctor *doctor, const struct elffile *file, const char *path,
			bool in_program);

/* The same for a library that may not be there. True when an engine is in it. */
bool doctor_engine_look_at(struct doctor *doctor, const char *path);

/* A row for each engine that was found, or that there is none. */
void doctor_engine_tell(struct doctor *doctor);

/* ---- doctor_python.c ---------------------------------------------------------------------------
 */

/* Engines among the packages that the Python which doctor->program is would import. */
void doctor_python(struct doctor *doctor);

/* ---- doctor_guest.c ----------------------------------------------------------------------------
 */

/* Files among the command's words that are wasm, or precompiled: names, lines, guest debugging. */
void doctor_guest_files(struct doctor *doctor);
/* A row for the image of code that PATH is, or is in. */
struct image_layout;
void doctor_guest_layout(struct doctor *doctor, const char *path,
			 const struct image_layout *layout);

/* ---- doctor_library.c --------------------------------------------------------------------------
 */

/* Our library: where it is, whether it can be loaded, and what it loads. */
void doctor_library(struct doctor *doctor);
/* Whether the libc at PATH is new enough for it. */
void doctor_library_libc(struct doctor *doctor, const char *path);

/* ---- doctor_preloads.c -------------------------------------------------------------------------
 */

/* What else is preloaded, by LD_PRELOAD and /etc/ld.so.preload. */
void doctor_preloads(struct doctor *doctor);

/* ---- doctor_system.c ---------------------------------------------------------------------------
 */

/* What the kernel and the limits of this process let a program do that we start. */
void doctor_system(struct doctor *doctor);
/* Limits of process PID (0: this one) that are too low. */
void doctor_limits(struct doctor *doctor, pid_t pid);
/* Reads the program's settings; a row for each that is not understood. */
void doctor_settings(struct doctor *doctor);

/* ---- doctor_output.c ---------------------------------------------------------------------------
 */

/* Whether a recording can be written from WORKING_DIRECTORY. */
void doctor_output(struct doctor *doctor, const char *working_directory);

/* ---- doctor_process.c, doctor_signals.c, doctor_maps.c -----------------------------------------
 */

/*
 * Fills in what is known of process doctor->pid, and adds a row for its state. 0, -ESRCH, -ENOMEM.
 * Then doctor_process_close(), which does nothing for a command.
 */
int doctor_process_open(struct doctor *doctor);
void doctor_process_close(struct doctor *doctor);
/* Its state: privileges, sandbox, namespaces, limits, and whether others may look into it. */
void doctor_process(struct doctor *doctor);
/* Its handlers, masks and timers. */
void doctor_signals(struct doctor *doctor);
/* What it has mapped: our library, engines, images of code. */
void doctor_maps(struct doctor *doctor);

/* ---- doctor.c ----------------------------------------------------------------------------------
 */

/* Why nothing can be seen of PROGRAM (searched in PATH): a line, caller frees; NULL: it may be. */
char *doctor_why_nothing(const char *program);

/* ---- doctor_show.c -----------------------------------------------------------------------------
 */

/* Lines on standard output. 0 or negative errno. */
int doctor_show_text(const struct doctor *doctor);
/* guestprof.doctor/1. */
int doctor_show_json(const struct doctor *doctor);

#endif /* PRELOAD_CMD_DOCTOR_DOCTOR_H */
