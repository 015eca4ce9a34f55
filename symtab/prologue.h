/* SPDX-License-Identifier: MIT */
/*
 * prologue.h - whether a function begins by setting up a frame pointer.
 */
#ifndef SYMTAB_PROLOGUE_H
#define SYMTAB_PROLOGUE_H

#include "symtab/base.h"

enum { PROLOGUE_SIZE = 4 };

/* Whether CODE, a function's first PROLOGUE_SIZE bytes, is what the handler's walk counts on. */
bool prologue_has_frame_pointer(const uint8_t *code);

#endif /* SYMTAB_PROLOGUE_H */
