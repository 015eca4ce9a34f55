/* SPDX-License-Identifier: MIT */
/*
 * guarded.c - process_vm_readv on ourselves.
 *
 * Where a sandbox refuses that call, a pipe does the same work: write() answers EFAULT for a bad
 * address, and what it took can be read back.
 */
#include "preload/base/guarded.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum { PIPE_STEP = 4096 }; /* never more than an empty pipe takes without blocking */

static int read_through_pipe(uintptr_t address, uint8_t *out, size_t size)
{
	int ends[2], result = 0;

	if (pipe2(ends, O_CLOEXEC) != 0)
		return -EFAULT;
	while (size > 0) {
		size_t step = size < PIPE_STEP ? size : PIPE_STEP;
		ssize_t written = write(ends[1], (const void *)address, step);

		if (written <= 0 || read(ends[0], out, (size_t)written) != written) {
			result = -EFAULT;
			break;
		}
		address += (size_t)written;
		out += written;
		size -= (size_t)written;
	}
	close(ends[0]);
	close(ends[1]);
	return result;
}

int guarded_read(uintptr_t address, void *out, size_t size)
{
	int saved_errno = errno, result = 0;
	struct iovec here = { .iov_base = out, .iov_len = size };
	struct iovec there = { .iov_base = (void *)address, .iov_len = size };
	ssize_t copied;

	if (size == 0)
		return 0;
	if (address + size < address)
		return -EFAULT;
	/* The raw pid each time: after a fork a cached one would read the parent. */
	copied = process_vm_readv((pid_t)syscall(SYS_getpid), &here, 1, &there, 1, 0);
	if (copied < 0 && (errno == EPERM || errno == ENOSYS))
		result = read_through_pipe(address, out, size);
	else if (copied != (ssize_t)size)
		result = -EFAULT;
	errno = saved_errno;
	return result;
}

static int memory_read_guarded(void *context, uintptr_t address, void *out, size_t size)
{
	(void)context;
	return guarded_read(address, out, size);
}

const struct memory guarded_memory = { .read = memory_read_guarded };
