/* SPDX-License-Identifier: MIT */
/*
 * opened.h - what the host opened, told to whom it concerns by what it is called.
 */
#ifndef PRELOAD_RUNTIME_OPENED_H
#define PRELOAD_RUNTIME_OPENED_H

/*
 * state.on_opened. For a file with any other name than those that mean something to us: a few
 * comparisons, no lock, no allocation, no call.
 */
void runtime_opened(const char *path, int descriptor);

#endif /* PRELOAD_RUNTIME_OPENED_H */
