/* SPDX-License-Identifier: MIT */
/* fib.c - nothing but calls: what a profiler adds to each call shows here first. */
#include <stdio.h>
#include <stdlib.h>

__attribute__((noinline)) static unsigned int fib(unsigned int n)
{
	return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

int main(int argc, char **argv)
{
	printf("%u\n", fib(argc > 1 ? (unsigned int)atoi(argv[1]) : 30));
	return 0;
}
