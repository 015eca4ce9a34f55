/* SPDX-License-Identifier: MIT */
/*
 * selecting.h - the options that name a tenant: of `share`, and of `audit`, which must get the
 * same.
 */
#ifndef PRELOAD_CMD_SELECTING_H
#define PRELOAD_CMD_SELECTING_H

#include "preload/read/selection.h"

#include <getopt.h>

/* Zeroed memory is no selection. */
struct selecting {
	const char *command; /* for messages */
	struct selection selection;
};

enum { SELECTING_LABEL = 'Z' + 1, SELECTING_MODULE, SELECTING_INSTANCE, SELECTING_KEEP };
#define SELECTING_OPTIONS                                                    \
	{ "label", required_argument, NULL, SELECTING_LABEL },               \
		{ "module", required_argument, NULL, SELECTING_MODULE },     \
		{ "instance", required_argument, NULL, SELECTING_INSTANCE }, \
	{                                                                    \
		"keep-label", required_argument, NULL, SELECTING_KEEP        \
	}

/* Takes ARGUMENT, which is borrowed, of OPTION. False after having said what is wrong. */
bool selecting_option(struct selecting *selecting, int option, const char *argument);

/* Is there one? False after having said that there is none. */
bool selecting_check(const struct selecting *selecting);
void selecting_free(struct selecting *selecting);

/* `labelled tenant=acme`, in TEXT. */
const char *selecting_describe(const struct selecting *selecting, char *text, size_t size);

/* One line: which labels, modules or instances there are in RECORDING instead. */
void selecting_say_choices(const struct selecting *selecting, const struct recording *recording);

#endif /* PRELOAD_CMD_SELECTING_H */
