/* SPDX-License-Identifier: MIT */
/*
 * place.c - makes, replaces and removes the socket's file. Threads: ours, and the constructor's.
 *
 * Names are reached through a descriptor of their directory (/proc/thread-self/fd/N/NAME, for our
 * thread has a descriptor table of its own): so a long path fits into a socket's address, and what
 * becomes of the path meanwhile does not matter.
 */
#include "preload/control/place.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "preload/base/log.h"
#include "preload/encode/disk.h"

enum { BACKLOG = 8, LOCK_TRIES = 20, LOCK_PAUSE_NS = 5000000 };

static int copy(char *out, size_t size, const char *text, size_t length)
{
	if (length >= size)
		return -ENAMETOOLONG;
	memcpy(out, text, length);
	out[length] = '\0';
	return 0;
}

static bool is_directory(const char *path)
{
	struct stat facts;

	return stat(path, &facts) == 0 && S_ISDIR(facts.st_mode);
}

static int set_path(struct place *place, const char *path)
{
	const char *slash = strrchr(path, '/');
	int error;

	/* A directory, also without its slash: the usual name in it. */
	if (slash[1] != '\0' && is_directory(path))
		return copy(place->directory, sizeof(place->directory), path, strlen(path));
	error = copy(place->directory, sizeof(place->directory), path,
		     slash == path ? 1 : (size_t)(slash - path));
	if (error == 0 && slash[1] != '\0')
		error = copy(place->pattern, sizeof(place->pattern), slash + 1, strlen(slash + 1));
	return error;
}

int place_configure(struct place *place, const char *control, int64_t gid, const char *runtime,
		    const char *temporary)
{
	*place = (struct place){ .gid = gid, .pattern = "%p.sock" };
	if (runtime != NULL && runtime[0] == '/' && strlen(runtime) < sizeof(place->runtime) - 16)
		strcpy(place->runtime, runtime);
	if (temporary == NULL || temporary[0] != '/' ||
	    strlen(temporary) >= sizeof(place->temporary) - 32)
		temporary = "/tmp";
	strcpy(place->temporary, temporary);
	return control[0] == '/' ? set_path(place, control) : 0;
}

/* ---- the directory --------------------------------------------------------------------------- */

/* `guestprof` in the user's runtime directory, which is the user's alone. */
static int open_runtime(const struct place *place)
{
	char path[PATH_MAX + 16];
	struct stat facts;
	int fd;

	if (place->runtime[0] == '\0')
		return -ENOENT;
	if (stat(place->runtime, &facts) != 0 || facts.st_uid != geteuid() ||
	    (facts.st_mode & 022) != 0)
		return -EPERM;
	snprintf(path, sizeof(path), "%s/guestprof", place->runtime);
	if (mkdir(path, 0700) != 0 && errno != EEXIST)
		return -errno;
	/* Nobody else can have put one there; but it leads to where others may see the socket. */
	if (lstat(path, &facts) != 0 || S_ISLNK(facts.st_mode))
		return -ELOOP;
	fd = disk_directory(path);
	if (fd >= 0 &&
	    (fstat(fd, &facts) != 0 || facts.st_uid != geteuid() || (facts.st_mode & 022) != 0)) {
		close(fd);
		return -EPERM;
	}
	return fd;
}

static int open_directory(struct place *place)
{
	char path[PATH_MAX];
	int fd;

	if (place->directory[0] != '\0')
		return disk_directory(place->directory);
	fd = open_runtime(place);
	return fd >= 0 ? fd : disk_fallback(place->temporary, path, sizeof(path));
}

/* PATTERN with the pid in the place of %p. */
static int expand_name(struct place *place)
{
	const char *percent = strstr(place->pattern, "%p");
	int length;

	if (percent == NULL)
		length = snprintf(place->name, sizeof(place->name), "%s", place->pattern);
	else
		length = snprintf(place->name, sizeof(place->name), "%.*s%d%s",
				  (int)(percent - place->pattern), place->pattern, (int)getpid(),
				  percent + 2);
	return (size_t)length < sizeof(place->name) ? 0 : -ENAMETOOLONG;
}

/* ---- the socket ------------------------------------------------------------------------------ */

static int make_address(const struct place *place, struct sockaddr_un *address)
{
	int length;

	*address = (struct sockaddr_un){ .sun_family = AF_UNIX };
	length = snprintf(address->sun_path, sizeof(address->sun_path),
			  "/proc/thread-self/fd/%d/%s", place->directory_fd, place->name);
	/* No /proc, or a very long name: the path itself may be short enough. */
	if ((size_t)length >= sizeof(address->sun_path) ||
	    access("/proc/thread-self/fd", X_OK) != 0)
		length = snprintf(address->sun_path, sizeof(address->sun_path), "%s/%s",
				  place->directory, place->name);
	return (size_t)length < sizeof(address->sun_path) ? 0 : -ENAMETOOLONG;
}

static int new_socket(void)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	return fd < 0 ? -errno : fd;
}

/* A socket of this name to which nobody listens any more: its process was killed. */
static bool is_stale(const struct place *place, const struct sockaddr_un *address)
{
	struct stat facts;
	int fd, error;

	if (fstatat(place->directory_fd, place->name, &facts, AT_SYMLINK_NOFOLLOW) != 0 ||
	    !S_ISSOCK(facts.st_mode) || facts.st_uid != geteuid())
		return false;
	fd = new_socket();
	if (fd < 0)
		return false;
	error = connect(fd, (const struct sockaddr *)address, sizeof(*address)) == 0 ? 0 : errno;
	close(fd);
	return error == ECONNREFUSED;
}

static int bind_there(const struct place *place, int fd, const struct sockaddr_un *address)
{
	if (bind(fd, (const struct sockaddr *)address, sizeof(*address)) == 0)
		return 0;
	if (errno != EADDRINUSE || !is_stale(place, address) ||
	    unlinkat(place->directory_fd, place->name, 0) != 0)
		return -errno;
	return bind(fd, (const struct sockaddr *)address, sizeof(*address)) == 0 ? 0 : -errno;
}

/* Two processes that find the same stale socket must not remove each other's new one. */
static void lock_directory(int fd)
{
	const struct timespec pause = { .tv_nsec = LOCK_PAUSE_NS };

	for (int i = 0; i < LOCK_TRIES && flock(fd, LOCK_EX | LOCK_NB) != 0; i++)
		nanosleep(&pause, NULL);
}

/* What the umask took away, through a descriptor: a name might be another file by now. */
static int set_mode(struct place *place, mode_t mode)
{
	char path[64];
	struct stat facts;
	int error = 0;
	int fd = openat(place->directory_fd, place->name, O_PATH | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	snprintf(path, sizeof(path), "/proc/thread-self/fd/%d", fd);
	if (fstat(fd, &facts) != 0 || !S_ISSOCK(facts.st_mode))
		error = -EPERM;
	else if ((facts.st_mode & 07777) != mode && chmod(path, mode) != 0)
		error = -errno;
	if (error == 0 && place->gid >= 0 &&
	    fchownat(fd, "", (uid_t)-1, (gid_t)place->gid, AT_EMPTY_PATH) != 0)
		error = -errno;
	place->device = facts.st_dev;
	place->inode = facts.st_ino;
	close(fd);
	return error;
}

static int make_socket(struct place *place)
{
	mode_t mode = place->gid >= 0 ? 0660 : 0600;
	struct sockaddr_un address;
	int fd, error = make_address(place, &address);

	if (error != 0)
		return error;
	fd = new_socket();
	if (fd < 0)
		return fd;
	/* The file's mode is that of the socket, less the umask (unix(7), net/unix/af_unix.c). */
	fchmod(fd, mode);
	lock_directory(place->directory_fd);
	error = bind_there(place, fd, &address);
	if (error == 0)
		error = set_mode(place, mode);
	if (error == 0 && listen(fd, BACKLOG) != 0)
		error = -errno;
	flock(place->directory_fd, LOCK_UN);
	if (error == 0)
		return fd;
	close(fd);
	if (error != -EADDRINUSE)
		place_remove(place);
	return error;
}

int place_listen(struct place *place)
{
	int fd, error = expand_name(place);

	if (error != 0)
		return error;
	place->directory_fd = open_directory(place);
	if (place->directory_fd < 0) {
		error = place->directory_fd;
		place->directory_fd = 0;
		return error;
	}
	fd = make_socket(place);
	if (fd < 0 && place->directory_fd > 0) {
		close(place->directory_fd);
		place->directory_fd = 0;
	}
	return fd;
}

void place_remove(struct place *place)
{
	struct stat facts;

	if (place->directory_fd <= 0)
		return;
	if (place->inode != 0 &&
	    fstatat(place->directory_fd, place->name, &facts, AT_SYMLINK_NOFOLLOW) == 0 &&
	    facts.st_dev == place->device && facts.st_ino == place->inode)
		unlinkat(place->directory_fd, place->name, 0);
	close(place->directory_fd);
	place->directory_fd = 0;
	place->inode = 0;
}
