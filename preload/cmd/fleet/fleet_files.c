/* SPDX-License-Identifier: MIT */
/* fleet_files.c - finds recordings in directories and reads them as they grow. Threads: one at a
 * time. */
#include "preload/cmd/fleet/fleet_files.h"

#include "preload/cmd/fleet/fleet.h"
#include "preload/cmd/live/counting.h"
#include "preload/cmd/processkey.h"
#include "preload/cmd/say.h"
#include "preload/read/rows.h"
#include "preload/read/source.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PIECE = 4 << 20, PIECE_MAX = 256 << 20 };

struct fleet_file {
	char *path; /* as it was found */
	dev_t device;
	ino_t inode;
	int fd; /* -1: not open */
	struct feed *feed;
	char *key;	       /* of its process; NULL: not known yet */
	uint64_t taken;	       /* bytes that the feed has */
	uint64_t told;	       /* bytes up to which the census knows it */
	uint64_t changed_ns;   /* when it grew last */
	bool is_gz, is_broken; /* broken: never again */
	bool is_listed;	       /* by the last scan */
	struct counting counting;
};

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash != NULL ? slash + 1 : path;
}

static bool ends_in(const char *name, const char *end)
{
	size_t length = strlen(name), end_length = strlen(end);

	return length > end_length && strcmp(name + length - end_length, end) == 0;
}

static void close_file(struct fleet_files *files, struct fleet_file *file)
{
	if (file->feed != NULL) {
		files->dropped += feed_dropped(file->feed);
		files->open--;
	}
	feed_free(file->feed);
	file->feed = NULL;
	file->taken = 0;
	counting_free(&file->counting);
	if (file->fd >= 0)
		close(file->fd);
	file->fd = -1;
}

static void free_file(struct fleet_files *files, struct fleet_file *file)
{
	close_file(files, file);
	free(file->path);
	free(file->key);
}

void fleet_files_free(struct fleet_files *files)
{
	for (size_t i = 0; i < files->count; i++)
		free_file(files, &files->rows[i]);
	free(files->rows);
	*files = (struct fleet_files){ 0 };
}

/* ---- finding --------------------------------------------------------------------------------- */

static struct fleet_file *find_file(struct fleet_files *files, const struct stat *about)
{
	for (size_t i = 0; i < files->count; i++) {
		if (files->rows[i].device == about->st_dev && files->rows[i].inode == about->st_ino)
			return &files->rows[i];
	}
	return NULL;
}

/* The length of PATH without .gz. */
static size_t stem_length(const char *path)
{
	return strlen(path) - (ends_in(path, ".gz") ? strlen(".gz") : 0);
}

/* Is PATH, a .pb or .pb.gz, read already under its other name? Both are there for a moment. */
static bool is_read(const struct fleet_files *files, const char *path)
{
	size_t length = stem_length(path);

	for (size_t i = 0; i < files->count; i++) {
		const struct fleet_file *other = &files->rows[i];

		if ((other->told != 0 || other->feed != NULL) &&
		    stem_length(other->path) == length && strncmp(other->path, path, length) == 0 &&
		    strcmp(other->path, path) != 0)
			return true;
	}
	return false;
}

static uint64_t time_of(const struct stat *about)
{
	return (uint64_t)about->st_mtim.tv_sec * 1000000000u + (uint64_t)about->st_mtim.tv_nsec;
}

static int add_file(struct fleet_files *files, const char *path, const struct stat *about)
{
	struct fleet_file file = {
		.device = about->st_dev,
		.inode = about->st_ino,
		.fd = -1,
		.changed_ns = time_of(about),
		.is_gz = ends_in(path, ".gz"),
		.is_listed = true,
	};

	if (files->count == FLEET_SOURCES_MAX ||
	    rows_reserve(&files->rows, &files->room, files->count, sizeof(file)) != 0)
		return -E2BIG;
	/* Finished before we came: only its name is of interest. */
	file.is_broken = file.is_gz && file.changed_ns < files->start_ns;
	file.path = strdup(path);
	if (file.path == NULL)
		return -ENOMEM;
	files->rows[files->count++] = file;
	return 0;
}

static int look_at(struct fleet_files *files, const char *directory, const char *name)
{
	struct fleet_file *file;
	char path[PATH_MAX];
	struct stat about;

	if (!ends_in(name, ".pb") && !ends_in(name, ".pb.gz"))
		return 0;
	if ((size_t)snprintf(path, sizeof(path), "%s/%s", directory, name) >= sizeof(path) ||
	    lstat(path, &about) != 0 || !S_ISREG(about.st_mode))
		return 0;
	file = find_file(files, &about);
	if (file == NULL)
		return add_file(files, path, &about);
	file->is_listed = true;
	if (file->fd < 0 && time_of(&about) > file->changed_ns)
		file->changed_ns = time_of(&about);
	return 0;
}

int fleet_files_scan(struct fleet_files *files, const char *directory)
{
	DIR *entries = opendir(directory);
	const struct dirent *entry;
	int error = 0;

	if (entries == NULL)
		return -errno;
	while (error == 0 && (entry = readdir(entries)) != NULL)
		error = look_at(files, directory, entry->d_name);
	closedir(entries);
	if (error == -E2BIG && !files->has_told_limit) {
		files->has_told_limit = true;
		say_line("%s: more than %d recordings; others are left out", directory,
			 FLEET_SOURCES_MAX);
	}
	return error == -E2BIG ? 0 : error;
}

void fleet_files_forget(struct fleet_files *files, uint64_t now_ns)
{
	size_t kept = 0;

	for (size_t i = 0; i < files->count; i++) {
		struct fleet_file *file = &files->rows[i];
		bool is_old = !census_is_there(file->changed_ns, now_ns);

		/* What does not grow costs memory; its name, and what was counted, is kept. */
		if (is_old && file->feed != NULL)
			close_file(files, file);
		if (!file->is_listed && file->feed == NULL) {
			free_file(files, file);
			continue;
		}
		file->is_listed = false;
		files->rows[kept++] = *file;
	}
	files->count = kept;
}

bool fleet_files_has(const struct fleet_files *files, const char *name)
{
	for (size_t i = 0; i < files->count; i++) {
		const char *found = base_name(files->rows[i].path);
		size_t length = strlen(found) - (files->rows[i].is_gz ? strlen(".gz") : 0);

		if (strncmp(found, name, length) == 0 &&
		    (name[length] == '\0' || strcmp(name + length, ".gz") == 0))
			return true;
	}
	return false;
}

/* ---- reading --------------------------------------------------------------------------------- */

static void give_up(struct fleet_files *files, struct fleet_file *file, const char *why)
{
	say_line("%s: %s; it is left out", file->path, why);
	close_file(files, file);
	file->is_broken = true;
}

static bool open_file(struct fleet_files *files, struct fleet_file *file)
{
	struct stat about;

	if (files->open >= FLEET_OPEN_MAX)
		return false;
	if (!file->is_gz) {
		file->fd = open(file->path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
		if (file->fd < 0)
			return false;
		if (fstat(file->fd, &about) != 0 || about.st_ino != file->inode ||
		    about.st_dev != file->device || !S_ISREG(about.st_mode)) {
			close(file->fd);
			file->fd = -1;
			return false;
		}
	}
	file->feed = feed_new();
	if (file->feed == NULL)
		return false;
	files->open++;
	return true;
}

static const char *reason(int error)
{
	return error == -EINVAL ? "not a recording that a process writes" : strerror(-error);
}

/*
 * Gives the feed what follows, up to UNTIL. A field that is not whole stays for the next time; one
 * that is larger than the piece makes that larger.
 */
static int take_until(struct fleet_file *file, uint64_t until)
{
	size_t room = PIECE, taken = 1;
	uint8_t *piece = malloc(room);
	int error = piece != NULL ? 0 : -ENOMEM;

	while (error == 0 && file->taken < until) {
		size_t wanted = until - file->taken < room ? (size_t)(until - file->taken) : room;
		ssize_t got = pread(file->fd, piece, wanted, (off_t)file->taken);

		if (got <= 0)
			break;
		error = feed_take(file->feed, piece, (size_t)got, &taken);
		file->taken += taken;
		if (error != 0 || taken != 0)
			continue;
		if ((size_t)got < room)
			break; /* not whole yet */
		room *= 8;
		free(piece);
		piece = room <= PIECE_MAX ? malloc(room) : NULL;
		error = piece != NULL ? 0 : -EFBIG;
	}
	free(piece);
	return error;
}

static int take_gz(struct fleet_file *file)
{
	struct source source;
	char *why = NULL;
	size_t taken;
	int error = source_read(file->path, &source, &why);

	free(why);
	if (error != 0)
		return error;
	error = feed_take(file->feed, source.bytes, source.size, &taken);
	file->taken += taken;
	source_free(&source);
	return error;
}

/* What it grew by. 0, or an error that ends it. */
static int take_new(struct fleet_file *file, uint64_t now_ns)
{
	uint64_t before = file->taken;
	struct stat about;
	int error = 0;

	if (file->is_gz)
		return file->taken == 0 ? take_gz(file) : 0;
	if (fstat(file->fd, &about) != 0)
		return -errno;
	if ((uint64_t)about.st_size < file->taken)
		return -ESTALE; /* cut: no recording does that beyond its last whole chunk */
	if ((uint64_t)about.st_size == file->taken)
		return 0;
	if (file->taken < file->told) {
		error = take_until(file, file->told);
		if (error == 0)
			counting_skip(&file->counting, file->feed);
	}
	if (error == 0)
		error = take_until(file, (uint64_t)about.st_size);
	if (file->taken != before)
		file->changed_ns = before == 0 ? time_of(&about) : now_ns;
	return error;
}

static void read_file(struct fleet_files *files, struct fleet_file *file, struct census *census,
		      pthread_mutex_t *lock, uint64_t now_ns)
{
	int error;

	if (file->feed == NULL && file->told == 0)
		file->is_broken = file->is_broken || is_read(files, file->path);
	if (file->is_broken)
		return;
	if (file->feed == NULL &&
	    (!census_is_there(file->changed_ns, now_ns) || !open_file(files, file)))
		return;
	error = take_new(file, now_ns);
	if (error != 0) {
		give_up(files, file, reason(error));
		return;
	}
	if (file->taken <= file->told || feed_start_unix_ns(file->feed) == 0)
		return;
	if (file->key == NULL)
		file->key = processkey_of_file(base_name(file->path), feed_pid(file->feed));
	if (file->key == NULL)
		return;
	pthread_mutex_lock(lock);
	counting_tell(&file->counting, file->feed, file->key, census, file->changed_ns);
	pthread_mutex_unlock(lock);
	file->told = file->taken;
}

void fleet_files_read(struct fleet_files *files, struct census *census, pthread_mutex_t *lock,
		      uint64_t now_ns)
{
	for (size_t i = 0; i < files->count; i++)
		read_file(files, &files->rows[i], census, lock, now_ns);
}

int fleet_files_window(const struct fleet_files *files, uint64_t from_ns, uint64_t to_ns,
		       int (*visit)(void *context, const char *key, const struct pb_writer *bytes),
		       void *context)
{
	struct pb_writer bytes = { 0 };
	int error = 0;

	for (size_t i = 0; error == 0 && i < files->count; i++) {
		const struct fleet_file *file = &files->rows[i];

		bytes.size = 0;
		if (file->feed == NULL || file->key == NULL ||
		    !feed_window(file->feed, from_ns, to_ns, &bytes))
			continue;
		error = bytes.error;
		if (error == 0)
			error = visit(context, file->key, &bytes);
	}
	pb_free(&bytes);
	return error;
}
