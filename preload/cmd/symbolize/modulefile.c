/* SPDX-License-Identifier: MIT */
/* modulefile.c - a file that says something of modules: wasm, a precompiled image, or a recording.
 */
#include "preload/cmd/symbolize/modulefile.h"

#include "preload/cmd/say.h"
#include "preload/read/source.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- reading ----------------------------------------------------------------------------------
 */

static int read_from(void *context, uintptr_t address, void *out, size_t size)
{
	const struct source *source = context;
	uintptr_t start = (uintptr_t)source->bytes;

	if (address < start || address - start > source->size ||
	    size > source->size - (address - start))
		return -EFAULT;
	memcpy(out, (const void *)address, size);
	return 0;
}

int modulefile_probe(struct source *bytes, struct image_layout *layout)
{
	struct memory memory = { .read = read_from, .context = bytes };

	return image_probe(&memory, (uintptr_t)bytes->bytes, layout);
}

static int read_image(struct modulefile *file, struct source *bytes)
{
	struct memory memory = { .read = read_from, .context = bytes };
	struct module_source source = { .engine = "wasmtime", .path = file->path };
	int error = modulefile_probe(bytes, &source.layout);

	if (error != 0) {
		say_line("%s: an ELF file, but no image of an engine", file->path);
		return -1;
	}
	source.tables = image_copy(&memory, &source.layout);
	if (source.tables != NULL)
		image_hash(source.tables, &memory, &source.layout);
	file->image = source.tables != NULL ? module_new(&source) : NULL;
	if (file->image == NULL)
		say_line("%s: %s", file->path,
			 errno == EFAULT ? "the image is cut short" : strerror(errno));
	return file->image != NULL ? 0 : -1;
}

static int read_wasm(struct modulefile *file, const struct source *bytes)
{
	file->wasm = wasmbin_parse_bodies(bytes->bytes, bytes->size);
	if (file->wasm == NULL) {
		say_line("%s: %s", file->path,
			 errno == EINVAL ? "not a version of wasm that is known" : strerror(errno));
		return -1;
	}
	if (wasmbin_problem(file->wasm) != NULL)
		say_line("%s: %s", file->path, wasmbin_problem(file->wasm));
	return 0;
}

static int read_recording(struct modulefile *file)
{
	char *why = NULL;

	file->recording = recording_read(file->path, &why);
	if (file->recording == NULL)
		say_line("%s", why != NULL ? why : strerror(ENOMEM));
	free(why);
	return file->recording != NULL ? 0 : -1;
}

int modulefile_read(struct modulefile *file, const char *path)
{
	struct source source;
	char *why = NULL;
	int status;

	*file = (struct modulefile){ .path = path };
	if (strcmp(path, "-") == 0)
		return read_recording(file);
	if (source_read(path, &source, &why) != 0) {
		say_line("%s", why != NULL ? why : strerror(ENOMEM));
		free(why);
		return -1;
	}
	if (source.size >= 4 && memcmp(source.bytes, "\0asm", 4) == 0)
		status = read_wasm(file, &source);
	else if (source.size >= SELFMAG && memcmp(source.bytes, ELFMAG, SELFMAG) == 0)
		status = read_image(file, &source);
	else
		status = read_recording(file);
	source_free(&source);
	return status;
}

void modulefile_fini(struct modulefile *file)
{
	wasmbin_unref(file->wasm);
	module_unref(file->image);
	if (file->recording != NULL)
		recording_free(file->recording);
	*file = (struct modulefile){ 0 };
}
