/* SPDX-License-Identifier: MIT */
/*
 * followed.c - up to four files, and how far each was read.
 *
 * A host may begin its file anew, under the same name or in the same file: the bytes before the
 * place that we have reached then are others, and we begin anew as well.
 */
#include "preload/runtime/followed.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "preload/base/fdpath.h"
#include "preload/base/log.h"
#include "preload/base/state.h"

enum { FILES = 4, TURN_BYTES = 1 << 20, MARK = 32, PID_DIGITS = 10 };
#define TOTAL_BYTES (UINT64_C(256) << 20) /* of one file */

struct file {
	/* The host's threads and ours, under the lock. */
	const struct followed_format *format; /* NULL: a free place */
	char *path;			      /* absolute */
	dev_t device;
	ino_t inode;
	bool is_fresh; /* to be opened by our thread */

	/* Our thread's. */
	int descriptor; /* -1: not opened, or given up */
	uint64_t at, total;
	uint32_t state;
	uint8_t mark[MARK]; /* the bytes before AT */
	size_t mark_size;
};

static struct {
	pthread_mutex_t lock;
	struct file files[FILES];
	uint32_t next;	       /* the place that is taken next when there is no free one */
	atomic_bool is_wanted; /* there is a file */
} self = {
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.files = { [0 ... FILES - 1] = { .descriptor = -1 } },
};

/* ---- the host's threads ---------------------------------------------------------------------- */

bool followed_is_called(const struct followed_format *format, const char *path)
{
	const char *slash = path != NULL ? strrchr(path, '/') : NULL;
	const char *name = slash != NULL ? slash + 1 : path;
	size_t before = strlen(format->before), digits;
	char pid[PID_DIGITS + 2];

	if (name == NULL || strncmp(name, format->before, before) != 0)
		return false;
	digits = strspn(name + before, "0123456789");
	if (digits == 0 || digits > PID_DIGITS ||
	    strcmp(name + before + digits, format->behind) != 0)
		return false;
	snprintf(pid, sizeof(pid), "%d", (int)getpid());
	return strlen(pid) == digits && memcmp(name + before, pid, digits) == 0;
}

static struct file *place_of(const struct stat *status)
{
	for (size_t i = 0; i < FILES; i++)
		if (self.files[i].format != NULL && self.files[i].device == status->st_dev &&
		    self.files[i].inode == status->st_ino)
			return NULL;
	for (size_t i = 0; i < FILES; i++)
		if (self.files[i].format == NULL)
			return &self.files[i];
	return &self.files[self.next++ % FILES];
}

/* Under the lock. The descriptor of whatever was in PLACE is our thread's to close. */
static void keep(struct file *place, const struct followed_format *format,
		 const struct stat *status, char *path)
{
	free(place->path);
	place->format = format;
	place->path = path;
	place->device = status->st_dev;
	place->inode = status->st_ino;
	place->is_fresh = true;
	atomic_store(&self.is_wanted, true);
}

void followed_opened(const struct followed_format *format, const char *path, int descriptor)
{
	struct stat status;
	struct file *place;
	char *absolute;

	if (!followed_is_called(format, path) || fstat(descriptor, &status) != 0 ||
	    !S_ISREG(status.st_mode))
		return;
	pthread_mutex_lock(&self.lock);
	place = place_of(&status);
	absolute = place != NULL ? fdpath_absolute(path, descriptor) : NULL;
	if (absolute != NULL)
		keep(place, format, &status, absolute);
	pthread_mutex_unlock(&self.lock);
	if (state.on_first_guest != NULL)
		state.on_first_guest();
	if (state.wake != NULL)
		state.wake();
}

/* ---- our thread ------------------------------------------------------------------------------ */

static void give_up(struct file *file, const char *why)
{
	log_line(LOG_INFO, "%s is not read: %s", file->path, why);
	if (file->descriptor >= 0)
		close(file->descriptor);
	file->descriptor = -1;
}

static const char *why_not(const struct file *file, const struct stat *status)
{
	if (!S_ISREG(status->st_mode) || status->st_dev != file->device ||
	    status->st_ino != file->inode)
		return "it is not the file that the host opened";
	return status->st_uid != geteuid() ? "it is another user's" : NULL;
}

/* FILE is new to us. Under the lock: its path is the host's threads' too. */
static void begin(struct file *file)
{
	const char *why = "it cannot be opened";
	struct stat status;

	if (file->descriptor >= 0)
		close(file->descriptor);
	file->is_fresh = false;
	file->at = file->total = 0;
	file->state = 0;
	file->mark_size = 0;
	file->descriptor =
		open(file->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW);
	if (file->descriptor >= 0 && fstat(file->descriptor, &status) == 0)
		why = why_not(file, &status);
	if (why != NULL)
		give_up(file, why);
	else
		log_line(LOG_DEBUG, "%s is followed", file->path);
}

/* Whether what we have read is still there. */
static bool goes_on(const struct file *file, uint64_t size)
{
	uint8_t mark[MARK];

	return size >= file->at &&
	       pread(file->descriptor, mark, file->mark_size,
		     (off_t)(file->at - file->mark_size)) == (ssize_t)file->mark_size &&
	       memcmp(mark, file->mark, file->mark_size) == 0;
}

static void set_mark(struct file *file)
{
	uint64_t size = file->at < MARK ? file->at : MARK;
	ssize_t got = pread(file->descriptor, file->mark, (size_t)size, (off_t)(file->at - size));

	file->mark_size = got == (ssize_t)size ? (size_t)size : 0;
}

/* One window of FILE, which has SIZE bytes. What was taken of it; 0: nothing yet. */
static int64_t read_window(struct file *file, uint64_t size, uint8_t *buffer)
{
	struct followed_part part = { .bytes = buffer, .left = size - file->at, .at = file->at };
	size_t wanted = part.left < FOLLOWED_WINDOW ? (size_t)part.left : FOLLOWED_WINDOW;
	ssize_t got = pread(file->descriptor, buffer, wanted, (off_t)file->at);

	if (got != (ssize_t)wanted)
		return 0; /* it is being cut: next time */
	part.size = wanted;
	return file->format->take(&part, &file->state);
}

static void read_on(struct file *file, uint64_t size, uint8_t *buffer)
{
	uint64_t first = file->total;
	int64_t taken = 1;

	while (taken > 0 && file->at < size && file->total - first < TURN_BYTES) {
		taken = read_window(file, size, buffer);
		if (taken > 0 && (uint64_t)taken > size - file->at)
			taken = -EINVAL;
		if (taken > 0) {
			file->at += (uint64_t)taken;
			file->total +=
				(uint64_t)(taken < FOLLOWED_WINDOW ? taken : FOLLOWED_WINDOW);
		}
	}
	set_mark(file);
	if (taken < 0)
		give_up(file, "it is damaged from here on");
	else if (file->total > TOTAL_BYTES)
		give_up(file, "it is too long");
}

static void look_at(struct file *file, uint8_t *buffer)
{
	struct stat status;

	if (fstat(file->descriptor, &status) != 0 || status.st_size < 0)
		return;
	if (!goes_on(file, (uint64_t)status.st_size)) {
		file->at = 0;
		file->state = 0;
		file->mark_size = 0;
	}
	if (file->at < (uint64_t)status.st_size)
		read_on(file, (uint64_t)status.st_size, buffer);
}

void followed_work(void)
{
	static uint8_t buffer[FOLLOWED_WINDOW];

	if (!atomic_load_explicit(&self.is_wanted, memory_order_relaxed))
		return;
	/* Held while we read: the host waits for it only where it opens another such file. */
	pthread_mutex_lock(&self.lock);
	for (size_t i = 0; i < FILES; i++) {
		struct file *file = &self.files[i];

		if (file->format == NULL)
			continue;
		if (file->is_fresh)
			begin(file);
		if (file->descriptor >= 0)
			look_at(file, buffer);
	}
	pthread_mutex_unlock(&self.lock);
}

void followed_fork_child(void)
{
	pthread_mutex_init(&self.lock, NULL);
	atomic_store(&self.is_wanted, false);
	for (size_t i = 0; i < FILES; i++) {
		self.files[i].format = NULL;
		self.files[i].descriptor = -1; /* a number of the parent's table */
	}
}
