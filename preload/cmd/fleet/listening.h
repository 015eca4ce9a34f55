/* SPDX-License-Identifier: MIT */
/*
 * listening.h - a TCP socket that listens, and who may use it.
 */
#ifndef PRELOAD_CMD_FLEET_LISTENING_H
#define PRELOAD_CMD_FLEET_LISTENING_H

#include "symtab/base.h"

enum { LISTENING_TEXT_SIZE = 80, LISTENING_TOKEN_LEAST = 16 };

/*
 * Listens at ADDRESS: HOST:PORT, [IPV6]:PORT, :PORT for all; port 0: one that is free. A descriptor
 * (close-on-exec); TEXT is the address it became, *IS_LOOPBACK whether only this machine can reach
 * it. Negative: listening_reason().
 */
int listening_open(const char *address, bool *is_loopback, char text[LISTENING_TEXT_SIZE]);
const char *listening_reason(int error);

/*
 * The token in the file PATH (caller frees): its first line, LISTENING_TOKEN_LEAST characters that
 * print at least. NULL after having said why not.
 */
char *listening_token(const char *path);

#endif /* PRELOAD_CMD_FLEET_LISTENING_H */
