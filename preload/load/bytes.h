/* SPDX-License-Identifier: MIT */
/*
 * bytes.h - wasm bytes on their way from a load call to our thread.
 *
 * load.h has the host's side (begin, end, free). A small binary is copied at once on the host's
 * thread; a large one is read by our thread straight from the host's buffer while the engine
 * compiles, for copying and hashing 45 MB would show on the host's thread.
 */
#ifndef PRELOAD_LOAD_BYTES_H
#define PRELOAD_LOAD_BYTES_H

#include "symtab/base.h"

struct load_bytes;
struct wasmbin;

/* Our thread: reads binaries that wait. True when there was one. */
bool bytes_work(void);

/*
 * What was read, after load_bytes_end(); NULL when nothing could be (said once). The caller gets a
 * reference. Our thread only: a small binary is parsed here.
 */
struct wasmbin *bytes_parsed(struct load_bytes *bytes);

/* Whether bytes_parsed() will give something: the image need not tell names. Any thread; NULL: no.
 */
bool bytes_are_read(const struct load_bytes *bytes);

/* Around a fork. */
void bytes_fork_prepare(void);
void bytes_fork_parent(void);
void bytes_fork_child(void);

#endif /* PRELOAD_LOAD_BYTES_H */
