/* SPDX-License-Identifier: MIT */
/*
 * commands.h - what a request over the control socket does. Our thread only.
 */
#ifndef PRELOAD_COMMANDS_H
#define PRELOAD_COMMANDS_H

#include "preload/control/control.h"

/* A control_answer (control/control.h): the words and keys are those of control/protocol.h. */
void commands_answer(const struct protocol_line *request, const struct control_peer *peer,
		     struct control_reply *reply);

#endif /* PRELOAD_COMMANDS_H */
