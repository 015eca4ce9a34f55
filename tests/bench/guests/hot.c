/* SPDX-License-Identifier: MIT */
/* hot.c - loops and few calls: what a profiler adds to each turn of a loop shows here. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 192, STEPS = 4000000 };

static float left[N][N], right[N][N], product[N][N];

__attribute__((noinline)) static void multiply(void)
{
	for (int i = 0; i < N; i++)
		for (int k = 0; k < N; k++)
			for (int j = 0; j < N; j++)
				product[i][j] += left[i][k] * right[k][j];
}

__attribute__((noinline)) static uint32_t mix(uint32_t seed)
{
	for (uint32_t i = 0; i < STEPS; i++) {
		seed ^= seed << 13;
		seed ^= seed >> 17;
		seed ^= seed << 5;
	}
	return seed;
}

int main(int argc, char **argv)
{
	uint32_t sum = 1;

	for (int i = 0; i < N * N; i++) {
		left[i / N][i % N] = (float)(i % 7);
		right[i / N][i % N] = (float)(i % 5);
	}
	for (int i = argc > 1 ? atoi(argv[1]) : 1; i > 0; i--) {
		multiply();
		sum = mix(sum);
	}
	printf("%u %f\n", sum, (double)product[3][5]);
	return 0;
}
