/* SPDX-License-Identifier: MIT */
/* v8.h - the moments at which we look for V8 on the calling thread. */
#ifndef PRELOAD_RUNTIME_V8_H
#define PRELOAD_RUNTIME_V8_H

/*
 * The host has opened PATH. Keeps errno. Cheap for a path that is not called like a script's, and
 * where there is no V8.
 */
void runtime_v8_opened(const char *path);

#endif /* PRELOAD_RUNTIME_V8_H */
