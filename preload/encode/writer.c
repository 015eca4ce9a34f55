/* SPDX-License-Identifier: MIT */
/* writer.c - the recording on disk. Threads: one at a time, with one descriptor table. */
#include "preload/encode/writer.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "preload/base/log.h"
#include "preload/base/stats.h"
#include "preload/encode/chunk.h"
#include "preload/encode/disk.h"
#include "preload/encode/gzip.h"
#include "preload/encode/paths.h"
#include "preload/encode/pb.h"
#include "preload/encode/rotation.h"

enum { TRIES = 1000 }; /* names that may be taken before we give up */

struct writer {
	struct path path;
	bool exact;		/* the finished file has the name given */
	bool is_fallback;	/* the directory is not the one asked for */
	int directory, file;	/* -1: none */
	unsigned int try;	/* number in the file's name */
	unsigned int first_try; /* ... that is tried first */
	struct rotation rotation;
	uint64_t start_unix_ns, pid;
	char program[64];
	char temporary[PATH_MAX]; /* TMPDIR or /tmp */
	uint64_t size;		  /* of the file: whole chunks */
	int error;		  /* the first one: nothing is written to this recording any more */
	int path_error;		  /* there is no directory: nor to others */
	struct pb_writer info, bytes;
	uint64_t stats_before[STAT_COUNT]; /* as in struct chunk */
	const uint64_t *stats;		   /* the same; the caller's until writer_finish() */
	char name[NAME_MAX + 1];	   /* of the file as it is now; "" none */
	char shown[PATH_MAX + NAME_MAX + 2];
};

/* ---- where ----------------------------------------------------------------------------------- */

/* The name asked for is one file's: it is the first guest process's, the others add their pid. */
static const char *running_suffix(const struct writer *writer)
{
	if (writer->exact && !writer->path.has_pb && !writer->path.has_gz)
		return "";
	return ".pb";
}

static const char *final_suffix(const struct writer *writer)
{
	if (writer->exact && writer->path.has_gz)
		return writer->path.has_pb ? ".pb.gz" : ".gz";
	return writer->exact ? running_suffix(writer) : ".pb.gz";
}

static void show(struct writer *writer, const char *name)
{
	bool is_root = strcmp(writer->path.directory, "/") == 0;

	snprintf(writer->name, sizeof(writer->name), "%s", name);
	if (*name == '\0')
		writer->shown[0] = '\0';
	else
		snprintf(writer->shown, sizeof(writer->shown), "%s/%s",
			 is_root ? "" : writer->path.directory, name);
}

static void close_file(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* Moves to the user's directory for temporary files, and says so. */
static int fall_back(struct writer *writer, int why)
{
	char directory[PATH_MAX];
	int fd = writer->is_fallback
			 ? why
			 : disk_fallback(writer->temporary, directory, sizeof(directory));

	if (fd < 0) {
		log_line(LOG_ERROR, "cannot write in %s (%s): nothing is recorded",
			 writer->path.directory, strerror(-why));
		return fd;
	}
	log_line(LOG_ERROR, "cannot write in %s (%s): the recording goes to %s",
		 writer->path.directory, strerror(-why), directory);
	writer->is_fallback = true;
	strcpy(writer->path.directory, directory);
	close_file(&writer->directory);
	writer->directory = fd;
	return 0;
}

static void set_facts(struct writer *writer, const struct path_facts *facts)
{
	const char *temporary = paths_variable(facts, "TMPDIR", strlen("TMPDIR"));

	if (temporary == NULL || temporary[0] != '/')
		temporary = "/tmp";
	snprintf(writer->temporary, sizeof(writer->temporary), "%s", temporary);
	memcpy(writer->program, facts->program, sizeof(writer->program));
	writer->pid = facts->pid;
}

static bool is_directory(const char *path)
{
	struct stat facts;

	return stat(path, &facts) == 0 && S_ISDIR(facts.st_mode);
}

static int fix_path(struct writer *writer, const char *pattern)
{
	struct path_facts facts;
	char working_directory[PATH_MAX], slashed[PATH_MAX];
	int error;

	if (getcwd(working_directory, sizeof(working_directory)) == NULL)
		strcpy(working_directory, "/");
	paths_facts(&facts, writer->start_unix_ns);
	set_facts(writer, &facts);
	if (snprintf(slashed, sizeof(slashed), "%s/", pattern) < PATH_MAX && is_directory(slashed))
		pattern = slashed;
	error = paths_expand(pattern, &facts, working_directory, writer->exact, &writer->path);
	if (error != 0)
		/* Its own default name in the fallback directory is still a recording. */
		paths_expand("", &facts, "/", false, &writer->path);
	if (error == 0)
		error = writer->directory = disk_directory(writer->path.directory);
	if (error < 0)
		error = fall_back(writer, error);
	free((char *)facts.environment);
	return error < 0 ? error : 0;
}

struct writer *writer_prepare(const char *pattern, bool exact, uint64_t start_unix_ns)
{
	struct writer *writer;

	if (strcmp(pattern, "none") == 0) {
		errno = ENOENT;
		return NULL;
	}
	writer = calloc(1, sizeof(*writer));
	if (writer == NULL)
		return NULL;
	writer->directory = writer->file = -1;
	writer->exact = exact;
	writer->start_unix_ns = start_unix_ns;
	writer->error = writer->path_error = fix_path(writer, pattern);
	return writer;
}

/* ---- the running file ------------------------------------------------------------------------ */

/* Another guest process has the exact name: from here on as without it, with our pid in the name.
 */
static void leave_exact_name(struct writer *writer)
{
	size_t used = strlen(writer->path.stem);
	char pid[24];

	snprintf(pid, sizeof(pid), ".%llu", (unsigned long long)writer->pid);
	if (used + strlen(pid) > PATHS_STEM_MAX)
		used = PATHS_STEM_MAX - strlen(pid);
	strcpy(writer->path.stem + used, pid);
	writer->exact = false;
}

/* Creates the running file under number TRY, if that and the final name are free. */
static int create_numbered(struct writer *writer, unsigned int try)
{
	char running[NAME_MAX + 1], final[NAME_MAX + 1];

	paths_candidate(&writer->path, try, running_suffix(writer), running);
	paths_candidate(&writer->path, try, final_suffix(writer), final);
	if (disk_exists(writer->directory, final))
		return -EEXIST;
	writer->file = disk_create(writer->directory, running);
	if (writer->file < 0)
		return writer->file;
	writer->try = try;
	show(writer, running);
	return 0;
}

static int create_file(struct writer *writer)
{
	int error = -EEXIST;

	if (writer->exact) {
		error = create_numbered(writer, 0);
		if (error == -EEXIST)
			leave_exact_name(writer);
	}
	for (unsigned int i = 0; error == -EEXIST && i < TRIES; i++)
		error = create_numbered(writer, writer->first_try + i);
	return error;
}

static int open_file(struct writer *writer)
{
	int error = create_file(writer);

	if (error != 0 && !writer->is_fallback) {
		error = fall_back(writer, error);
		if (error == 0)
			error = create_file(writer);
	}
	if (error != 0)
		log_line(LOG_ERROR, "cannot create the recording in %s: %s", writer->path.directory,
			 strerror(-error));
	return error;
}

/* ---- appending ------------------------------------------------------------------------------- */

/* Writes what is encoded; on an error the file ends with its last whole chunk. */
static int write_bytes(struct writer *writer)
{
	int error = writer->bytes.error;

	if (error == 0)
		error = disk_write(writer->file, writer->bytes.bytes, writer->bytes.size,
				   writer->size);
	if (error == 0) {
		writer->size += writer->bytes.size;
	} else if (writer->file >= 0) {
		if (ftruncate(writer->file, (off_t)writer->size) != 0)
			log_line(LOG_DEBUG, "cannot cut %s back", writer->shown);
		log_line(LOG_ERROR, "cannot write %s: %s: the recording ends here", writer->shown,
			 strerror(-error));
	}
	pb_free(&writer->bytes);
	return error;
}

static int append(struct writer *writer, const struct chunk *chunk, const struct writer_info *info)
{
	struct chunk_head head = { writer->start_unix_ns, info->period_ns };

	if (writer->size == 0 && chunk->stats_before != NULL)
		memcpy(writer->stats_before, chunk->stats_before, sizeof(writer->stats_before));
	writer->stats = chunk->stats;
	writer->info.size = 0;
	chunk_encode_info(&writer->info, writer->pid, writer->program, info);
	chunk_encode(&writer->bytes, chunk, &writer->info, writer->size == 0 ? &head : NULL);
	return write_bytes(writer);
}

int writer_append(struct writer *writer, const struct chunk *chunk, const struct writer_info *info)
{
	if (writer->error == 0 && writer->file < 0)
		writer->error = open_file(writer);
	if (writer->error == 0)
		writer->error = append(writer, chunk, info);
	for (size_t i = 0; writer->error != 0 && i < chunk->sample_count; i++)
		stat_add(STAT_LOST_WRITE, chunk->samples[i].count);
	return writer->error;
}

/* ---- the end --------------------------------------------------------------------------------- */

/* The compressed copy under a name that is ours because the running one is; NAME: NAME_MAX + 1. */
static int compress(struct writer *writer, char *name, uint64_t budget_ns)
{
	int fd, error;

	snprintf(name, NAME_MAX + 1, "%.*s.tmp", NAME_MAX - 4, writer->name);
	unlinkat(writer->directory, name, 0);
	fd = disk_create(writer->directory, name);
	if (fd < 0)
		return fd;
	error = gzip_file(writer->file, writer->size, fd, budget_ns);
	close(fd);
	if (error != 0)
		unlinkat(writer->directory, name, 0);
	return error;
}

/* Gives the finished file FROM its final name: a free one, but where a certain one was asked for.
 */
static int publish(struct writer *writer, const char *from)
{
	char running[NAME_MAX + 1], final[NAME_MAX + 1];
	unsigned int try = writer->try;
	int error;

	snprintf(running, sizeof(running), "%s", writer->name);
	do {
		paths_candidate(&writer->path, try, final_suffix(writer), final);
		error = disk_rename(writer->directory, from, final, writer->exact);
	} while (error == -EEXIST && ++try < writer->try + TRIES);
	if (error == 0) {
		unlinkat(writer->directory, running, 0);
		writer->try = try;
		show(writer, final);
	}
	return error;
}

/* Compresses and renames; a file that stays as it was is no error, every reader takes it. */
static int close_compressed(struct writer *writer, uint64_t budget_ns)
{
	char compressed[NAME_MAX + 1];
	int error;

	if (strcmp(running_suffix(writer), final_suffix(writer)) == 0)
		return 0;
	error = compress(writer, compressed, budget_ns);
	if (error == 0) {
		error = publish(writer, compressed);
		if (error != 0)
			unlinkat(writer->directory, compressed, 0);
	}
	if (error != 0 && error != -ETIME)
		log_line(LOG_ERROR, "cannot compress %s: %s", writer->shown, strerror(-error));
	return error == -ETIME ? 0 : error;
}

static int end_file(struct writer *writer, uint64_t budget_ns)
{
	const struct chunk_stats counters = { writer->stats, writer->stats_before };
	int error = writer->error;

	if (error == 0) {
		chunk_encode_end(&writer->bytes, &writer->info, &counters);
		error = write_bytes(writer);
	}
	if (error == 0)
		error = close_compressed(writer, budget_ns);
	return error;
}

static int end_recording(struct writer *writer, uint64_t budget_ns)
{
	int error = writer->error;

	if (writer->file >= 0 && writer->size == 0) {
		unlinkat(writer->directory, writer->name, 0);
		show(writer, "");
	} else if (writer->file >= 0) {
		error = end_file(writer, budget_ns);
	}
	close_file(&writer->file);
	return error;
}

int writer_finish(struct writer *writer, uint64_t budget_ns)
{
	int error = end_recording(writer, budget_ns);

	close_file(&writer->directory);
	writer->error = -EBADF;
	return error;
}

int writer_next(struct writer *writer, uint64_t budget_ns, uint64_t start_unix_ns, uint32_t keep)
{
	bool has_file = writer->file >= 0 && writer->size != 0;
	int error = end_recording(writer, budget_ns);

	if (has_file)
		rotation_add(&writer->rotation, writer->directory, writer->name);
	if (has_file && keep != 0)
		rotation_trim(&writer->rotation, writer->directory, keep - 1);
	if (has_file)
		writer->first_try = writer->try + 1;
	writer->start_unix_ns = start_unix_ns;
	writer->size = 0;
	writer->info.size = 0;
	writer->error = writer->path_error;
	return error;
}

uint64_t writer_size(const struct writer *writer)
{
	return writer->size;
}

int writer_file(const struct writer *writer)
{
	return writer->file;
}

const char *writer_path(const struct writer *writer)
{
	return writer->shown;
}

void writer_free(struct writer *writer, bool forked)
{
	if (writer == NULL)
		return;
	/* In a child these numbers are descriptors of the host, or none. */
	if (!forked) {
		close_file(&writer->file);
		close_file(&writer->directory);
	}
	rotation_free(&writer->rotation);
	pb_free(&writer->info);
	pb_free(&writer->bytes);
	free(writer);
}
