/* SPDX-License-Identifier: MIT */
/*
 * doctor_maps.c - what a process has mapped: our library, engines, the libc, images of guests'
 * code.
 *
 * Its memory is read through /proc/PID/mem, and only headers of it.
 */
#include "preload/cmd/doctor/doctor.h"

#include "symtab/symtab.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Pooling allocators make tens of thousands of lines. */
enum { LINES_MAX = 200000, FILES_MAX = 512, IMAGES_MAX = 1000, TOLD_MAX = 4 };

struct mapped {
	struct doctor *doctor;
	char *files[FILES_MAX]; /* owned: executed ones, each once */
	size_t file_count;
	int memory; /* /proc/PID/mem */
	size_t image_count, told;
	bool has_libc;
	bool is_about_images; /* the second time through, when the engines are known */
};

static int read_memory(void *context, uintptr_t address, void *out, size_t size)
{
	const struct mapped *mapped = context;

	return pread(mapped->memory, out, size, (off_t)address) == (ssize_t)size ? 0 : -EFAULT;
}

/* ---- files ----------------------------------------------------------------------------------- */

static bool is_new(struct mapped *mapped, const char *path)
{
	for (size_t i = 0; i < mapped->file_count; i++) {
		if (strcmp(mapped->files[i], path) == 0)
			return false;
	}
	if (mapped->file_count == FILES_MAX)
		return false;
	mapped->files[mapped->file_count] = strdup(path);
	if (mapped->files[mapped->file_count] == NULL)
		return false;
	mapped->file_count++;
	return true;
}

/* PATH of the process as we reach it: below its root, or plainly where that is the same file. */
static void reach(const struct doctor *doctor, const char *path, char reached[], size_t size)
{
	struct stat inside, plain;

	snprintf(reached, size, "%s%s", doctor->root, path);
	if (stat(reached, &inside) != 0 ||
	    (stat(path, &plain) == 0 && inside.st_dev == plain.st_dev &&
	     inside.st_ino == plain.st_ino))
		snprintf(reached, size, "%s", path);
}

static void look_at_file(struct mapped *mapped, const char *path)
{
	struct doctor *doctor = mapped->doctor;
	const char *slash = strrchr(path, '/');
	char reached[PATH_MAX + 32];
	struct elffile file;

	reach(doctor, path, reached, sizeof(reached));
	if (strcmp(slash, "/libguestprof.so") == 0) {
		doctor->is_preloaded = true;
		return;
	}
	if (strcmp(slash, "/libc.so.6") == 0 && !mapped->has_libc) {
		mapped->has_libc = true;
		doctor_library_libc(doctor, reached);
	}
	if (elffile_open(&file, reached) != 0)
		return;
	doctor_engine_look(doctor, &file, reached, strcmp(path, doctor->program) == 0);
	elffile_close(&file);
}

/* ---- images ---------------------------------------------------------------------------------- */

static void look_for_image(struct mapped *mapped, uintptr_t start)
{
	struct memory memory = { .read = read_memory, .context = mapped };
	struct image_layout layout;
	char place[32];

	if (mapped->memory < 0 || mapped->image_count == IMAGES_MAX ||
	    image_probe(&memory, start, &layout) != 0)
		return;
	mapped->image_count++;
	/* A few are shown; what is not seen is, whichever it is. */
	if (mapped->told++ < TOLD_MAX || layout.has_guest_debug || layout.is_bytecode) {
		snprintf(place, sizeof(place), "the image at 0x%" PRIxPTR, start);
		doctor_guest_layout(mapped->doctor, place, &layout);
	}
}

/* ---- lines ----------------------------------------------------------------------------------- */

/* START-END PERM OFFSET DEV INODE PATH (proc(5)). */
static void take_line(struct mapped *mapped, char *line)
{
	unsigned long start, end, offset;
	char permissions[8];
	int at = 0;

	line[strcspn(line, "\n")] = '\0';
	if (sscanf(line, "%lx-%lx %7s %lx %*s %*s %n", &start, &end, permissions, &offset, &at) <
		    4 ||
	    at == 0)
		return;
	if (!mapped->is_about_images) {
		if (line[at] == '/' && permissions[2] == 'x' && is_new(mapped, line + at))
			look_at_file(mapped, line + at);
		return;
	}
	/* An engine makes its images unwritable; those from files are mapped privately. */
	if ((line[at] == '\0' || (line[at] == '/' && offset == 0)) && permissions[0] == 'r' &&
	    permissions[1] == '-')
		look_for_image(mapped, start);
}

static void take_lines(struct mapped *mapped, FILE *maps)
{
	char *line = NULL;
	size_t room = 0;

	rewind(maps);
	for (size_t i = 0; i < LINES_MAX && getline(&line, &room, maps) > 0; i++) {
		mapped->doctor->is_readable = true;
		take_line(mapped, line);
	}
	free(line);
}

void doctor_maps(struct doctor *doctor)
{
	struct mapped mapped = { .doctor = doctor };
	char path[64];
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%d/mem", (int)doctor->pid);
	mapped.memory = open(path, O_RDONLY | O_CLOEXEC);
	snprintf(path, sizeof(path), "/proc/%d/maps", (int)doctor->pid);
	maps = fopen(path, "re");
	if (maps != NULL) {
		take_lines(&mapped, maps);
		mapped.is_about_images = true;
		take_lines(&mapped, maps);
	}
	if (mapped.image_count > TOLD_MAX)
		doctor_add(doctor, DOCTOR_OK, "guest", NULL, "%zu images of code in all",
			   mapped.image_count);
	if (maps != NULL)
		fclose(maps);
	if (mapped.memory >= 0)
		close(mapped.memory);
	for (size_t i = 0; i < mapped.file_count; i++)
		free(mapped.files[i]);
}
