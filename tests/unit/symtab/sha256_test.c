/* SPDX-License-Identifier: MIT */
/*
 * sha256_test.c - the digests of sha256_checks.h, made by the portable code: this program says that
 * the CPU has no instructions for it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/symtab/sha256_checks.h"

bool sha256_by_cpu(uint32_t state[8], const uint8_t *blocks, size_t count)
{
	(void)state, (void)blocks, (void)count;
	return false;
}

bool sha256_by_cpu_two(uint32_t state[8], const uint8_t *blocks, uint32_t other_state[8],
		       const uint8_t *other_blocks, size_t count)
{
	(void)state, (void)blocks, (void)other_state, (void)other_blocks, (void)count;
	return false;
}

int main(void)
{
	return sha256_checks();
}
