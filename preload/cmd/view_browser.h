/* SPDX-License-Identifier: MIT */
/*
 * view_browser.h - opens addresses in the user's browser.
 */
#ifndef PRELOAD_CMD_VIEW_BROWSER_H
#define PRELOAD_CMD_VIEW_BROWSER_H

#include "symtab/base.h"

/*
 * Starts $BROWSER (the first program of its list, see environ(7)), or xdg-open where there is a
 * display, with ADDRESS as its only argument; its output is dropped. Does not wait, and says
 * nothing when there is none: the address was printed.
 */
void view_browser_open(const char *address);

/* What makes the Firefox Profiler at ORIGIN load ADDRESS (caller frees); NULL without memory. */
char *view_browser_from_url(const char *origin, const char *address);

#endif /* PRELOAD_CMD_VIEW_BROWSER_H */
