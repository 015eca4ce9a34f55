/* SPDX-License-Identifier: MIT */
/*
 * thrower.c - a C program over throwing.cc. Arguments: the library, to be opened (it is not linked:
 * the same program serves the linked variant by LD_PRELOAD of it), and the guest.
 */
#include <dlfcn.h>
#include <stdio.h>

#include "guest.h"

int main(int argc, char **argv)
{
	int (*run)(void);
	void *library;

	guest_expect(argc == 3, "usage: thrower LIBRARY GUEST");
	library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
	guest_expect(library != NULL, "dlopen");
	run = (int (*)(void))dlsym(library, "throwing_run");
	guest_expect(run != NULL, "dlsym");
	guest_load(argv[2]);
	guest_burn(200);
	if (run() != 0)
		return 1;
	guest_burn(200);
	return run();
}
