/* SPDX-License-Identifier: MIT */
/*
 * state.c - the one shared switch board; zero, and so off, before the constructor.
 */
#include "preload/base/state.h"

struct state state;
__thread __attribute__((tls_model("initial-exec"),
			visibility("hidden"))) struct inheritance *state_inheritance;
