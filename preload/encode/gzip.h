/* SPDX-License-Identifier: MIT */
/*
 * gzip.h - a file becomes a gzip file, as a stream and within a time budget.
 */
#ifndef PRELOAD_ENCODE_GZIP_H
#define PRELOAD_ENCODE_GZIP_H

#include "symtab/base.h"

/*
 * Compresses the first SIZE bytes of FROM to the empty file TO (RFC 1952), well or, where that
 * would take longer than BUDGET_NS, fast. 0 or negative errno; -ETIME when the first MiB shows that
 * it would take longer in either way.
 */
int gzip_file(int from, uint64_t size, int to, uint64_t budget_ns);

#endif /* PRELOAD_ENCODE_GZIP_H */
