/* SPDX-License-Identifier: MIT */
/* plain.c - a program without a guest that uses the CPU. Arguments: CPU ms, exit status. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

int main(int argc, char **argv)
{
	clock_t end = clock() + (argc > 1 ? atol(argv[1]) : 100) * (CLOCKS_PER_SEC / 1000);

	while (clock() < end)
		continue;
	printf("plain: done\n");
	return argc > 2 ? atoi(argv[2]) : 0;
}
