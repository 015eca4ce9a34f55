/* SPDX-License-Identifier: MIT */
/* disk.c - directories and files in the host. Threads: any; descriptors are the calling thread's.
 */
#include "preload/encode/disk.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "preload/encode/recording.h"

/* 0 to 2 are the host's, also while it has closed them: it would print into our file. */
static int above_standard(int fd)
{
	int high, error;

	if (fd < 0)
		return -errno;
	if (fd > 2)
		return fd;
	high = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	error = errno;
	close(fd);
	return high < 0 ? -error : high;
}

int disk_directory(const char *path)
{
	int fd = above_standard(open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	int error;

	if (fd < 0)
		return fd;
	if (faccessat(fd, ".", W_OK | X_OK, AT_EACCESS) == 0)
		return fd;
	error = errno;
	close(fd);
	return -error;
}

/* Somebody else's directory of that name would show them what we write, or lead us elsewhere. */
static bool is_private(int fd)
{
	struct stat facts;

	return fstat(fd, &facts) == 0 && facts.st_uid == geteuid() && (facts.st_mode & 077) == 0;
}

int disk_fallback(const char *temporary, char *out, size_t size)
{
	int length = snprintf(out, size, "%s/guestprof-%u", temporary, (unsigned int)geteuid());
	int fd;

	if (length < 0 || (size_t)length >= size)
		return -ENAMETOOLONG;
	if (mkdir(out, 0700) != 0 && errno != EEXIST)
		return -errno;
	fd = above_standard(open(out, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
	if (fd >= 0 && !is_private(fd)) {
		close(fd);
		return -EPERM;
	}
	return fd;
}

int disk_create(int directory, const char *name)
{
	int fd = above_standard(
		openat(directory, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));

	if (fd >= 0)
		fchmod(fd, 0600); /* whatever the host's umask took away */
	return fd;
}

bool disk_exists(int directory, const char *name)
{
	struct stat facts;

	return fstatat(directory, name, &facts, AT_SYMLINK_NOFOLLOW) == 0;
}

/* ---- writing --------------------------------------------------------------------------------- */

/* Blocks SIGXFSZ; *WAS tells how it was, for allow_signal(). */
static void hold_signal(sigset_t *was)
{
	sigset_t limit;

	sigemptyset(&limit);
	sigaddset(&limit, SIGXFSZ);
	pthread_sigmask(SIG_BLOCK, &limit, was);
}

/* The kernel sends SIGXFSZ to the writing thread: ours is taken back before it can be delivered. */
static void allow_signal(const sigset_t *was, bool is_ours)
{
	const struct timespec now = { 0 };
	sigset_t limit;

	sigemptyset(&limit);
	sigaddset(&limit, SIGXFSZ);
	if (is_ours)
		sigtimedwait(&limit, NULL, &now);
	pthread_sigmask(SIG_SETMASK, was, NULL);
}

static int write_pieces(int fd, const uint8_t *bytes, size_t size, uint64_t offset)
{
	while (size > 0) {
		size_t piece = RECORDING_PAGE - offset % RECORDING_PAGE;
		ssize_t written = pwrite(fd, bytes, piece < size ? piece : size, (off_t)offset);

		if (written < 0 && errno == EINTR)
			continue;
		if (written <= 0)
			return written < 0 ? -errno : -ENOSPC;
		bytes += written;
		size -= (size_t)written;
		offset += (uint64_t)written;
	}
	return 0;
}

int disk_write(int fd, const void *bytes, size_t size, uint64_t offset)
{
	sigset_t was;
	int error;

	hold_signal(&was);
	error = write_pieces(fd, bytes, size, offset);
	allow_signal(&was, error == -EFBIG);
	return error;
}

/* ---- names ----------------------------------------------------------------------------------- */

int disk_rename(int directory, const char *from, const char *to, bool replace)
{
	enum { NO_REPLACE = 1 }; /* RENAME_NOREPLACE of linux/fs.h */

	if (replace)
		return renameat(directory, from, directory, to) == 0 ? 0 : -errno;
	/* The function came with glibc 2.28, the call with Linux 3.15. */
	if (syscall(SYS_renameat2, directory, from, directory, to, NO_REPLACE) == 0)
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return -errno;
	/* The file system cannot do it at once (NFS): a link can. */
	if (linkat(directory, from, directory, to, 0) == 0)
		return unlinkat(directory, from, 0) == 0 ? 0 : -errno;
	if (errno == EEXIST || disk_exists(directory, to))
		return -EEXIST;
	return renameat(directory, from, directory, to) == 0 ? 0 : -errno;
}
