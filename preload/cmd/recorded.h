/* SPDX-License-Identifier: MIT */
/*
 * recorded.h - the recordings that a run left: listed by the guest processes, finished, summed up.
 */
#ifndef PRELOAD_CMD_RECORDED_H
#define PRELOAD_CMD_RECORDED_H

#include "symtab/base.h"

/*
 * LIST is the file to which each process appended a line `PID PATH` when it opened its recording.
 * OUTPUT: what -o named, absolute, or NULL. Says one line for each recording, or, when there is
 * none, why PROGRAM may have had no guest.
 */
void recorded_tell(const char *list, const char *output, const char *program);

#endif /* PRELOAD_CMD_RECORDED_H */
