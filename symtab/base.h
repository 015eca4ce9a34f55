/* SPDX-License-Identifier: MIT */
/*
 * base.h - attributes and helpers that every room may use.
 */
#ifndef SYMTAB_BASE_H
#define SYMTAB_BASE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Visible to the host: the names we interpose, and nothing else (preload/exports.map). */
#define EXPORT __attribute__((visibility("default")))

#define PRINTF_LIKE(text, first) __attribute__((__format__(__printf__, text, first)))

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

#define container_of(ptr, type, member) ((type *)((char *)(ptr)-offsetof(type, member)))

#endif /* SYMTAB_BASE_H */
