/* SPDX-License-Identifier: MIT */
/* doctor_guest.c - guests that the command line names: their names, lines, and how they were made.
 */
#include "preload/cmd/doctor/doctor.h"

#include "preload/cmd/symbolize/modulefile.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* So many words are looked at; larger files are not. */
enum { WORDS_MAX = 64, GUEST_MAX = 256 << 20 };

#define NAMES_FROM "guestprof symbolize --wasm FILE adds them later, from a build that has them"

static uint64_t count_functions(const struct wasmbin *bin, uint64_t *named)
{
	uint64_t count = 0;

	*named = 0;
	for (uint32_t i = 0; i < wasmbin_core_count(bin); i++) {
		count += wasmbin_defined_functions(bin, i);
		*named += wasmbin_named_functions(bin, i);
	}
	return count;
}

static void tell_wasm(struct doctor *doctor, const char *path, const struct source *bytes)
{
	struct wasmbin *bin = wasmbin_parse(bytes->bytes, bytes->size);
	uint64_t count, named;
	bool has_lines;

	if (bin == NULL) {
		doctor_add(doctor, DOCTOR_LIMIT, "guest", "guestprof id FILE says more",
			   "%s is no wasm that is known", path);
		return;
	}
	count = count_functions(bin, &named);
	has_lines = wasmbin_keep_debug(bin, bytes->bytes, bytes->size, bytes->size) == 0 &&
		    wasmbin_debug_size(bin) > 0;
	if (count == 0)
		doctor_add(doctor, DOCTOR_LIMIT, "guest", NULL,
			   "%s defines no function: there is nothing to sample", path);
	else if (named == 0)
		doctor_add(doctor, DOCTOR_LIMIT, "guest", NAMES_FROM,
			   "%s is stripped: its %llu functions have no names", path,
			   (unsigned long long)count);
	else
		doctor_add(doctor, DOCTOR_OK, "guest", NULL,
			   "%s: %llu functions, %llu of them named, %s source lines", path,
			   (unsigned long long)count, (unsigned long long)named,
			   has_lines ? "with" : "without");
	wasmbin_unref(bin);
}

/* Interpreted guests are known by the calls that enter them, where those can be seen. */
static bool has_calls(const struct doctor *doctor)
{
	for (size_t i = 0; i < doctor->engine_count; i++) {
		const char *seen_by = doctor->engines[i].seen_by;

		if (seen_by != NULL && strcmp(seen_by, "calls") == 0)
			return true;
	}
	return false;
}

static void tell_interpreter(struct doctor *doctor, const char *path, const char *says,
			     const char *cure)
{
	if (has_calls(doctor))
		doctor_add(doctor, DOCTOR_LIMIT, "guest", cure,
			   "%s %s the interpreter (pulley): the time of each instance is seen, and "
			   "no functions",
			   path, says);
	else
		doctor_add(doctor, DOCTOR_NO, "guest", cure,
			   "%s %s the interpreter (pulley), which leaves no native frames to "
			   "sample, and no call of a C API tells whose time it is",
			   path, says);
}

void doctor_guest_layout(struct doctor *doctor, const char *path, const struct image_layout *layout)
{
	const char *version = layout->engine_version;

	if (layout->has_guest_debug)
		doctor_add(doctor, DOCTOR_NO, "guest", "set Config::guest_debug(false)",
			   "%s was compiled with guest debugging on: such modules are refused",
			   path);
	else if (layout->is_bytecode)
		tell_interpreter(
			doctor, path, "is for",
			"compile for this CPU: Config::target(\"x86_64-unknown-linux-gnu\")");
	else if (layout->text_size == 0)
		doctor_add(doctor, DOCTOR_LIMIT, "guest", NULL, "%s defines no function", path);
	else
		doctor_add(doctor, DOCTOR_OK, "guest", NULL, "%s: native code by wasmtime %s", path,
			   version[0] != '\0' ? version : "of a version that it does not say");
}

static void tell_image(struct doctor *doctor, const char *path, struct source *bytes)
{
	struct image_layout layout;

	if (modulefile_probe(bytes, &layout) == 0)
		doctor_guest_layout(doctor, path, &layout);
}

/* Whether the file PATH begins as a guest does: wasm, or an ELF file of wasmtime's OSABI. */
static bool is_guest(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	uint8_t head[EI_NIDENT] = { 0 };
	struct stat about;
	bool is_it = false;

	if (fd < 0)
		return false;
	if (fstat(fd, &about) == 0 && S_ISREG(about.st_mode) && about.st_size <= GUEST_MAX &&
	    pread(fd, head, sizeof(head), 0) >= 8)
		is_it = memcmp(head, "\0asm", 4) == 0 ||
			(memcmp(head, ELFMAG, SELFMAG) == 0 && head[EI_OSABI] == 200);
	close(fd);
	return is_it;
}

static void look_at_file(struct doctor *doctor, const char *path)
{
	struct source bytes;
	char *why = NULL;

	if (source_read_raw(path, &bytes, &why) != 0) {
		free(why);
		return;
	}
	if (bytes.size >= 4 && memcmp(bytes.bytes, "\0asm", 4) == 0)
		tell_wasm(doctor, path, &bytes);
	else
		tell_image(doctor, path, &bytes);
	source_free(&bytes);
}

void doctor_guest_files(struct doctor *doctor)
{
	for (int i = 1; i < WORDS_MAX && doctor->command[i] != NULL; i++) {
		const char *word = doctor->command[i];

		if (is_guest(word))
			look_at_file(doctor, word);
		/* As in `-W...,--target pulley64`: the name of the interpreter's CPUs. */
		if (strstr(word, "pulley32") != NULL || strstr(word, "pulley64") != NULL)
			tell_interpreter(doctor, word, "asks for", "leave that out");
	}
}
