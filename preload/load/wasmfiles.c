/* SPDX-License-Identifier: MIT */
/*
 * wasmfiles.c - a list of 64 files, by what stat says of them.
 *
 * On the host's thread: one fstat and, for a file that is new, one readlink; nothing is read. Which
 * of them belongs to a module is asked late, on our thread, when there is such a module.
 */
#include "preload/load/wasmfiles.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "preload/base/fdpath.h"
#include "preload/base/log.h"
#include "preload/load/binfile.h"
#include "symtab/cursor.h"
#include "symtab/wasmbin.h"

enum { FILES = 64, MAX_MATCHED = 16 << 20, MAX_SECTIONS = 4096 };
enum { PREAMBLE = 8, SECTION_FUNCTION = 3, HEAD = 16 /* id, size and a count, 1 + 5 + 5 */ };

/* Functions of a file that was not looked at yet, or that is no core module. */
#define NOT_COUNTED UINT32_MAX
#define NO_MODULE (UINT32_MAX - 1)

struct file {
	char *path; /* absolute; NULL: a free place */
	struct stat status;
	uint64_t first, last; /* when it was opened: numbers from 1 */
	uint32_t functions;
	uint32_t modules; /* that were made of it */
};

static struct {
	pthread_mutex_t lock; /* guards all below */
	struct file files[FILES];
	uint64_t opened;
} self = { .lock = PTHREAD_MUTEX_INITIALIZER };

bool wasmfiles_is_called_so(const char *path)
{
	static const char ending[] = ".wasm";
	size_t length = path != NULL ? strlen(path) : 0;

	return length >= sizeof(ending) - 1 &&
	       memcmp(path + length - (sizeof(ending) - 1), ending, sizeof(ending) - 1) == 0;
}

/* ---- the host's threads ---------------------------------------------------------------------- */

/* The file with STATUS, else the place for a new one: a free one, or the longest ago. */
static struct file *place_of(const struct stat *status)
{
	struct file *place = &self.files[0];

	for (size_t i = 0; i < FILES; i++) {
		struct file *file = &self.files[i];

		if (file->path != NULL && binfile_is_same(&file->status, status))
			return file;
		if (place->path != NULL && (file->path == NULL || file->last < place->last))
			place = file;
	}
	return place;
}

static void keep(struct file *place, const struct stat *status, const char *path, int descriptor)
{
	if (place->path == NULL || !binfile_is_same(&place->status, status)) {
		char *copy = fdpath_absolute(path, descriptor);

		if (copy == NULL)
			return;
		free(place->path);
		*place = (struct file){
			.path = copy,
			.status = *status,
			.first = self.opened,
			.functions = NOT_COUNTED,
		};
	}
	place->last = self.opened;
}

void wasmfiles_opened(const char *path, int descriptor)
{
	struct stat status;

	if (fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode))
		return;
	pthread_mutex_lock(&self.lock);
	self.opened++;
	keep(place_of(&status), &status, path, descriptor);
	pthread_mutex_unlock(&self.lock);
}

/* ---- our thread ------------------------------------------------------------------------------ */

/* A copy of the file at INDEX, whose path the caller frees. False: there is none. */
static bool copy_file(size_t index, struct file *copy)
{
	pthread_mutex_lock(&self.lock);
	*copy = self.files[index];
	copy->path = copy->path != NULL ? strdup(copy->path) : NULL;
	pthread_mutex_unlock(&self.lock);
	return copy->path != NULL;
}

/* Functions that the core module in DESCRIPTOR defines: only heads of sections are read. */
static uint32_t count_functions(int descriptor)
{
	static const uint8_t preamble[PREAMBLE] = "\0asm\1\0\0\0";
	uint8_t head[HEAD];
	off_t offset = PREAMBLE;

	if (pread(descriptor, head, PREAMBLE, 0) != PREAMBLE ||
	    memcmp(head, preamble, PREAMBLE) != 0)
		return NO_MODULE;
	for (int section = 0; section < MAX_SECTIONS; section++) {
		ssize_t length = pread(descriptor, head, sizeof(head), offset);
		struct cursor cursor = cursor_of(head, length > 0 ? (size_t)length : 0);
		uint8_t id = cursor_u8(&cursor);
		uint32_t size = cursor_uleb32(&cursor), count;

		if (cursor.failed)
			break;
		offset += (off_t)cursor_offset(&cursor) + (off_t)size;
		if (id != SECTION_FUNCTION)
			continue;
		count = cursor_uleb32(&cursor);
		return !cursor.failed && count < NO_MODULE ? count : NO_MODULE;
	}
	return NO_MODULE;
}

/* Looks at files that nobody looked at yet. */
static void count_all(void)
{
	for (size_t i = 0; i < FILES; i++) {
		struct file file;
		int descriptor;

		if (!copy_file(i, &file))
			continue;
		if (file.functions == NOT_COUNTED) {
			descriptor = binfile_open(file.path, &file.status);
			file.functions = descriptor >= 0 ? count_functions(descriptor) : NO_MODULE;
			if (descriptor >= 0)
				close(descriptor);
			pthread_mutex_lock(&self.lock);
			if (binfile_is_same(&self.files[i].status, &file.status))
				self.files[i].functions = file.functions;
			pthread_mutex_unlock(&self.lock);
		}
		free(file.path);
	}
}

/* Whether A is the better of two with the right number of functions. */
static bool is_before(const struct file *a, const struct file *b)
{
	if ((a->modules == 0) != (b->modules == 0))
		return a->modules == 0;
	return a->modules == 0 ? a->first < b->first : a->last > b->last;
}

/* Takes a copy of the file that is the one; false when there is none with so many FUNCTIONS. */
static bool choose(uint32_t functions, struct file *chosen)
{
	struct file *best = NULL;

	pthread_mutex_lock(&self.lock);
	for (size_t i = 0; i < FILES; i++) {
		struct file *file = &self.files[i];

		if (file->path != NULL && file->functions == functions &&
		    (best == NULL || is_before(file, best)))
			best = file;
	}
	if (best != NULL) {
		best->modules++;
		*chosen = *best;
		chosen->path = strdup(best->path);
	}
	pthread_mutex_unlock(&self.lock);
	return best != NULL && chosen->path != NULL;
}

static struct wasmbin *read_binary(const struct file *file)
{
	return binfile_read(file->path, &file->status, 0, (size_t)file->status.st_size);
}

struct wasmbin *wasmfiles_find(uint32_t functions, char **path)
{
	struct wasmbin *wasm;
	struct file file;

	*path = NULL;
	count_all();
	if (functions >= NO_MODULE || !choose(functions, &file))
		return NULL;
	wasm = read_binary(&file);
	if (wasm == NULL) {
		log_line(LOG_INFO, "%s has changed or cannot be read", file.path);
		free(file.path);
		return NULL;
	}
	*path = file.path;
	return wasm;
}

struct wasmbin *wasmfiles_match(bool (*is_it)(void *context, const struct wasmbin *wasm),
				void *context, char **path)
{
	struct wasmbin *found = NULL;

	*path = NULL;
	for (size_t i = 0; i < FILES && found == NULL; i++) {
		struct file file;

		if (!copy_file(i, &file))
			continue;
		if (file.status.st_size <= MAX_MATCHED)
			found = read_binary(&file);
		if (found != NULL && !is_it(context, found)) {
			wasmbin_unref(found);
			found = NULL;
		}
		if (found != NULL)
			*path = file.path;
		else
			free(file.path);
	}
	return found;
}

void wasmfiles_fork_prepare(void)
{
	pthread_mutex_lock(&self.lock);
}

void wasmfiles_fork_parent(void)
{
	pthread_mutex_unlock(&self.lock);
}

void wasmfiles_fork_child(void)
{
	pthread_mutex_init(&self.lock, NULL);
}
