/* SPDX-License-Identifier: MIT */
/* cache.c - what was read of wasm binaries, on disk. Threads: ours, with its own descriptors. */
#include "preload/load/cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "preload/base/clock.h"
#include "preload/base/config.h"
#include "preload/base/log.h"
#include "preload/base/readfull.h"
#include "symtab/symtab.h"
#include "symtab/wasmpack.h"

enum {
	LEAST_WASM = 256 << 10, /* below that a file costs what it saves */
	DIGEST_SIZE = 32,
	NAME_SIZE = 2 * DIGEST_SIZE + sizeof(".gpc"),
	ENTRIES_MAX = 65536, /* looked at */
	TEMPORARY_S = 3600,  /* older: left behind by a process that was killed */
};

/* ---- the folder ------------------------------------------------------------------------------ */

static bool is_ours(int fd, mode_t type, struct stat *status)
{
	return fstat(fd, status) == 0 && (status->st_mode & S_IFMT) == type &&
	       status->st_uid == geteuid() && (status->st_mode & 022) == 0;
}

/* The folder, made if it is not there; -1. */
static int open_folder(const struct config *config)
{
	static atomic_flag said = ATOMIC_FLAG_INIT;
	struct stat status;
	int folder;

	if (config == NULL || config->cache == NULL)
		return -1;
	mkdir(config->cache, 0700);
	folder = open(config->cache, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (folder < 0) {
		log_once(&said, "GUESTPROF_CACHE: %.200s: %s", config->cache, strerror(errno));
	} else if (!is_ours(folder, S_IFDIR, &status)) {
		log_once(&said, "GUESTPROF_CACHE: %.200s is not ours alone: not used",
			 config->cache);
		close(folder);
		folder = -1;
	}
	return folder;
}

static void name_entry(const uint8_t *digest, char name[NAME_SIZE])
{
	for (size_t i = 0; i < DIGEST_SIZE; i++)
		snprintf(name + 2 * i, 3, "%02x", digest[i]);
	snprintf(name + 2 * DIGEST_SIZE, sizeof(".gpc"), ".gpc");
}

static bool is_entry(const char *name)
{
	return strlen(name) == NAME_SIZE - 1 &&
	       strspn(name, "0123456789abcdef") == 2 * DIGEST_SIZE &&
	       strcmp(name + 2 * DIGEST_SIZE, ".gpc") == 0;
}

/* ---- read ------------------------------------------------------------------------------------ */

/* The bytes of the file NAME, which counts as used now; NULL. */
static uint8_t *read_entry(int folder, const char *name, uint64_t limit, size_t *size)
{
	int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat status;
	uint8_t *bytes = NULL;

	if (fd < 0)
		return NULL;
	if (is_ours(fd, S_IFREG, &status) && status.st_size > 0 &&
	    (uint64_t)status.st_size <= limit) {
		*size = (size_t)status.st_size;
		bytes = malloc(*size);
	}
	if (bytes != NULL && !readfull(fd, bytes, *size)) {
		free(bytes);
		bytes = NULL;
	}
	if (bytes != NULL)
		futimens(fd, NULL);
	close(fd);
	return bytes;
}

static struct wasmbin *find(int folder, const struct config *config, const uint8_t *digest)
{
	struct wasmbin *bin;
	char name[NAME_SIZE];
	size_t size;
	uint8_t *bytes;

	name_entry(digest, name);
	bytes = read_entry(folder, name, config->cache_size, &size);
	if (bytes == NULL)
		return NULL;
	bin = wasmpack_read(bytes, size, digest);
	if (bin == NULL && errno == EINVAL) {
		log_line(LOG_INFO, "GUESTPROF_CACHE: %s is damaged: made anew", name);
		unlinkat(folder, name, 0);
	}
	free(bytes);
	return bin;
}

struct wasmbin *cache_parse(const uint8_t *wasm, size_t size, bool *is_new)
{
	const struct config *config = config_current();
	int folder = size >= LEAST_WASM ? open_folder(config) : -1;
	uint8_t digest[DIGEST_SIZE];
	struct wasmbin *bin;

	*is_new = false;
	if (folder < 0)
		return wasmbin_parse(wasm, size);
	wasmbin_hash(wasm, size, digest);
	bin = find(folder, config, digest);
	close(folder);
	if (bin != NULL)
		return bin;
	*is_new = true;
	return wasmbin_parse_hashed(wasm, size, digest);
}

/* ---- written --------------------------------------------------------------------------------- */

static bool write_all(int fd, const uint8_t *bytes, size_t size)
{
	size_t at = 0;
	ssize_t put = 1;

	while (at < size && put > 0) {
		put = write(fd, bytes + at, size - at);
		if (put > 0)
			at += (size_t)put;
		else if (put < 0 && errno == EINTR)
			put = 1;
	}
	return at == size;
}

static bool write_entry(int folder, const char *name, const uint8_t *bytes, size_t size)
{
	char temporary[NAME_SIZE + 32];
	bool is_written;
	int fd;

	/* the time too: in another container that shares the folder a process may have our number
	 */
	snprintf(temporary, sizeof(temporary), ".%.64s.%d.%llx", name, (int)getpid(),
		 (unsigned long long)clock_ns(CLOCK_REALTIME));
	fd = openat(folder, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return false;
	is_written = write_all(fd, bytes, size);
	is_written = close(fd) == 0 && is_written;
	if (is_written && renameat(folder, temporary, folder, name) == 0)
		return true;
	unlinkat(folder, temporary, 0);
	return false;
}

struct entry {
	char name[NAME_SIZE];
	uint64_t size;
	struct timespec used;
};

static int by_use(const void *left, const void *right)
{
	const struct entry *a = left, *b = right;

	if (a->used.tv_sec != b->used.tv_sec)
		return a->used.tv_sec < b->used.tv_sec ? -1 : 1;
	return (a->used.tv_nsec > b->used.tv_nsec) - (a->used.tv_nsec < b->used.tv_nsec);
}

/* Lists the entries, and removes what killed processes left. Returns their number. */
static size_t list_entries(int folder, DIR *stream, struct entry *entries, uint64_t *total)
{
	time_t now = time(NULL);
	struct dirent *item;
	struct stat status;
	size_t count = 0;

	*total = 0;
	while (count < ENTRIES_MAX && (item = readdir(stream)) != NULL) {
		bool is_temporary = item->d_name[0] == '.' && strlen(item->d_name) > 65;

		if (!is_entry(item->d_name) && !is_temporary)
			continue;
		if (fstatat(folder, item->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0)
			continue;
		if (is_temporary && now - status.st_mtim.tv_sec > TEMPORARY_S)
			unlinkat(folder, item->d_name, 0);
		if (is_temporary)
			continue;
		memcpy(entries[count].name, item->d_name, NAME_SIZE);
		entries[count].size = (uint64_t)status.st_size;
		entries[count++].used = status.st_mtim;
		*total += (uint64_t)status.st_size;
	}
	return count;
}

/* Other processes may be at it: what is gone is gone. */
static void evict(int folder, uint64_t limit)
{
	int again = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *stream = again >= 0 ? fdopendir(again) : NULL;
	struct entry *entries = malloc(ENTRIES_MAX * sizeof(*entries));
	uint64_t total;
	size_t count;

	if (stream != NULL && entries != NULL) {
		count = list_entries(folder, stream, entries, &total);
		qsort(entries, count, sizeof(*entries), by_use);
		for (size_t i = 0; i < count && total > limit; i++) {
			unlinkat(folder, entries[i].name, 0);
			total -= entries[i].size;
		}
	}
	free(entries);
	if (stream != NULL)
		closedir(stream);
	else if (again >= 0)
		close(again);
}

void cache_keep(const struct wasmbin *bin)
{
	const struct config *config = config_current();
	int folder = open_folder(config);
	char name[NAME_SIZE];
	uint8_t *bytes;
	size_t size;

	if (folder < 0)
		return;
	name_entry(wasmbin_sha256(bin), name);
	bytes = wasmpack_write(bin, &size);
	if (bytes != NULL && size <= config->cache_size) {
		if (write_entry(folder, name, bytes, size))
			evict(folder, config->cache_size);
		else
			log_line(LOG_DEBUG, "GUESTPROF_CACHE: %s: %s", name, strerror(errno));
	}
	free(bytes);
	close(folder);
}
