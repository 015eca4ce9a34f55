/* SPDX-License-Identifier: MIT */
/*
 * callsites.h - host calls named afterwards, by the call instruction in a wasm file.
 */
#ifndef PRELOAD_CMD_SYMBOLIZE_CALLSITES_H
#define PRELOAD_CMD_SYMBOLIZE_CALLSITES_H

#include "preload/cmd/symbolize/applying.h"

/*
 * BINARY is subject ID, by APPLYING's match. In each sample: where the host's frames come right
 * after a guest's that is at a `call` of an import, they are shown as a call of that import: in its
 * place, or beside the host's own frames where all of these were recorded. What the recording names
 * by a call instruction already stays. 0 or -ENOMEM.
 */
int callsites_apply(struct applying *applying, uint32_t id, const struct wasmbin *binary);

#endif /* PRELOAD_CMD_SYMBOLIZE_CALLSITES_H */
