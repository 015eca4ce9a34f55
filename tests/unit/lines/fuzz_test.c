/* SPDX-License-Identifier: MIT */
/* fuzz_test.c - the fuzz entry over the seeds, cut and changed in many places. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/fuzz/lines_fuzz.c"
#include "tests/unit/lines/fixture.h"

static const char *const seeds[] = { "inline-4.wasm", "inline-5.wasm", "shapes.wasm" };

/* xorshift: the same numbers in each run. */
static uint32_t next_number(uint32_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 17;
	*state ^= *state << 5;
	return *state;
}

static void takes_the_seeds(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(seeds); i++) {
		struct bytes file = fixture_read(seeds[i]);

		assert_int_equal(LLVMFuzzerTestOneInput(file.bytes, file.size), 0);
		free(file.bytes);
	}
}

static void takes_changed_seeds(void **state)
{
	uint32_t random = 0x2545f491;

	(void)state;
	for (int round = 0; round < 3000; round++) {
		struct bytes file = fixture_read(seeds[round % 3]);

		for (uint32_t changes = next_number(&random) % 8; changes > 0; changes--)
			file.bytes[next_number(&random) % file.size] =
				(uint8_t)next_number(&random);
		if (round % 5 == 0)
			file.size = next_number(&random) % file.size;
		LLVMFuzzerTestOneInput(file.bytes, file.size);
		free(file.bytes);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(takes_the_seeds),
		cmocka_unit_test(takes_changed_seeds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
