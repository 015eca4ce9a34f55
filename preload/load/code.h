/* SPDX-License-Identifier: MIT */
/*
 * code.h - code that a load call's wrapper described function by function: load.h has its side.
 */
#ifndef PRELOAD_LOAD_CODE_H
#define PRELOAD_LOAD_CODE_H

struct load_code;
struct loading;

/* CODE's loading, new, which has its tables; NULL without memory. With the registry's lock. */
struct loading *code_add(struct load_code *code, const char *engine);

void code_free(struct load_code *code);

#endif /* PRELOAD_LOAD_CODE_H */
