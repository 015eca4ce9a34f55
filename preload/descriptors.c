/* SPDX-License-Identifier: MIT */
/* descriptors.c - close_range(2) with CLOSE_RANGE_UNSHARE, or unshare(2). Threads: ours. */
#include "preload/descriptors.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "preload/base/log.h"

/* <linux/close_range.h>, <sched.h> */
enum { UNSHARE = 2, SHARED_FILES = 0x400, DESCRIPTORS_MAX = 65536 };

/* Whatever is printed on our thread by mistake must find no socket there, and no file. */
static void occupy_standard_streams(void)
{
	for (int fd = 0; fd <= STDERR_FILENO; fd++) {
		int got = open("/", O_PATH | O_CLOEXEC);

		if (got > STDERR_FILENO)
			close(got);
	}
}

void descriptors_close(void)
{
	if (syscall(SYS_close_range, 0U, ~0U, 0U) == 0)
		return;
	/* Before Linux 5.9. */
	for (int fd = 0; fd < DESCRIPTORS_MAX; fd++)
		close(fd);
}

bool descriptors_own(void)
{
	/* close_range(2) since Linux 5.9, the flag since 5.11 */
	if (syscall(SYS_close_range, 0U, ~0U, UNSHARE) != 0) {
		if (syscall(SYS_unshare, SHARED_FILES) != 0)
			return false;
		descriptors_close();
	}
	occupy_standard_streams();
	log_own_descriptors();
	return true;
}
