/* SPDX-License-Identifier: MIT */
/* binfile.c - a path, what stat said of it, and a reading that compares. */
#include "preload/load/binfile.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "preload/base/readfull.h"
#include "preload/load/parse.h"
#include "symtab/symtab.h"

enum { MAX_FILE = 256 << 20 };

struct binfile {
	atomic_uint refs;
	char *path; /* absolute */
	struct stat status;
	uint64_t offset;
	size_t size;
};

bool binfile_is_same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

static bool fits(const struct stat *status, uint64_t offset, size_t size)
{
	uint64_t all = (uint64_t)status->st_size;

	return S_ISREG(status->st_mode) && status->st_size > 0 && offset < all &&
	       size <= all - offset;
}

struct binfile *binfile_new(const char *path, uint64_t offset, size_t size)
{
	struct binfile *file = calloc(1, sizeof(*file));

	if (file == NULL)
		return NULL;
	atomic_init(&file->refs, 1);
	file->path = path != NULL ? realpath(path, NULL) : NULL;
	if (file->path == NULL || stat(file->path, &file->status) != 0 ||
	    !fits(&file->status, offset, size)) {
		binfile_unref(file);
		return NULL;
	}
	file->offset = offset;
	file->size = size != 0 ? size : (size_t)file->status.st_size - offset;
	return file;
}

struct binfile *binfile_ref(struct binfile *file)
{
	if (file != NULL)
		atomic_fetch_add_explicit(&file->refs, 1, memory_order_relaxed);
	return file;
}

void binfile_unref(struct binfile *file)
{
	/* release our writes; the last owner acquires everybody's before it frees */
	if (file == NULL || atomic_fetch_sub_explicit(&file->refs, 1, memory_order_acq_rel) != 1)
		return;
	free(file->path);
	free(file);
}

int binfile_open(const char *path, const struct stat *status)
{
	/* What is at the path now may be anything, a pipe for one. */
	int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat now;

	if (descriptor >= 0 && fstat(descriptor, &now) == 0 && S_ISREG(now.st_mode) &&
	    binfile_is_same(&now, status) && now.st_size <= MAX_FILE)
		return descriptor;
	if (descriptor >= 0)
		close(descriptor);
	return -1;
}

struct wasmbin *binfile_read(const char *path, const struct stat *status, uint64_t offset,
			     size_t size)
{
	int descriptor = binfile_open(path, status);
	uint8_t *bytes = descriptor >= 0 && size > 0 ? malloc(size) : NULL;
	struct wasmbin *wasm = NULL;

	if (bytes != NULL && lseek(descriptor, (off_t)offset, SEEK_SET) == (off_t)offset &&
	    readfull(descriptor, bytes, size))
		wasm = parse_wasm_now(bytes, size);
	if (descriptor >= 0)
		close(descriptor);
	free(bytes);
	return wasm;
}

struct wasmbin *binfile_parse(const struct binfile *file)
{
	return binfile_read(file->path, &file->status, file->offset, file->size);
}
