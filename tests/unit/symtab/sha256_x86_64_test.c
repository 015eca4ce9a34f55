/* SPDX-License-Identifier: MIT */
/*
 * sha256_x86_64_test.c - the digests of sha256_checks.h, by the CPU's instructions if it has
 * them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/symtab/sha256_checks.h"

static bool cpu_has_none(void)
{
	uint32_t state[8] = { 0 };

	return !sha256_by_cpu(state, NULL, 0);
}

int main(void)
{
	if (cpu_has_none()) {
		print_message("skipped: this CPU has no SHA instructions\n");
		return 77;
	}
	return sha256_checks();
}
