/* SPDX-License-Identifier: MIT */
/*
 * readfull.h - read(2) until all has come. Any thread; may change errno.
 */
#ifndef PRELOAD_BASE_READFULL_H
#define PRELOAD_BASE_READFULL_H

#include <errno.h>
#include <unistd.h>

#include "symtab/base.h"

/* The next SIZE bytes of FD. False on an error, or when there are not as many. */
static inline bool readfull(int fd, uint8_t *bytes, size_t size)
{
	size_t at = 0;
	ssize_t got = 1;

	while (at < size && got > 0) {
		got = read(fd, bytes + at, size - at);
		if (got > 0)
			at += (size_t)got;
		else if (got < 0 && errno == EINTR)
			got = 1;
	}
	return at == size;
}

#endif /* PRELOAD_BASE_READFULL_H */
