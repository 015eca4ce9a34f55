/* SPDX-License-Identifier: MIT */
/*
 * state.c - the one shared switch board; zero, and so off, before the constructor.
 */
#include "preload/base/state.h"

struct state state;
