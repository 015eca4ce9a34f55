/* SPDX-License-Identifier: MIT */
/*
 * sha256_checks.h - what each way of computing SHA-256 must give: the example digests of FIPS 180-4
 * (NIST's "Examples with Intermediate Values"). A program includes this once, after cmocka.h.
 */
#ifndef TESTS_UNIT_SYMTAB_SHA256_CHECKS_H
#define TESTS_UNIT_SYMTAB_SHA256_CHECKS_H

#include "symtab/sha256.h"

#include <stdlib.h>
#include <string.h>

static const char abc[] = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
static const char none[] = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
static const char two_blocks[] = "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1";
static const char million_a[] = "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0";

static void check(const void *bytes, size_t size, size_t step, const char *expected)
{
	char hex[2 * SHA256_SIZE + 1];
	uint8_t digest[SHA256_SIZE];
	struct sha256 sha;
	size_t at;

	sha256_init(&sha);
	for (at = 0; at < size; at += step)
		sha256_add(&sha, (const char *)bytes + at, size - at < step ? size - at : step);
	sha256_end(&sha, digest);
	sha256_hex(digest, hex);
	assert_string_equal(hex, expected);
}

static void gives_the_standard_digests(void **state)
{
	static const char text[] = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";

	(void)state;
	check("abc", 3, 3, abc);
	check("", 0, 1, none);
	check(text, strlen(text), 1000, two_blocks);
}

static void does_not_care_how_bytes_come(void **state)
{
	static const size_t steps[] = { 1, 3, 55, 56, 63, 64, 65, 127, 4096, 1000000 };
	char *text = malloc(1000000);
	size_t i;

	(void)state;
	assert_non_null(text);
	memset(text, 'a', 1000000);
	for (i = 0; i < ARRAY_SIZE(steps); i++)
		check(text, 1000000, steps[i], million_a);
	free(text);
}

/* Two streams at once give what each gives alone, however long and wherever they begin. */
static void hashes_two_at_once(void **state)
{
	static uint8_t bytes[3000];
	static const size_t sizes[] = { 0, 1, 63, 64, 65, 128, 200, 1000, 1500 };
	uint8_t alone[2][SHA256_SIZE], together[2][SHA256_SIZE];
	size_t i, j, held;

	(void)state;
	for (i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(i * 7 + i / 251);
	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		for (j = 0; j < ARRAY_SIZE(sizes) * 3; j++) {
			size_t size = sizes[i], other = sizes[j / 3];
			struct sha256 both[2], each[2];

			held = j % 3 * 31; /* in the first stream before */
			for (size_t k = 0; k < 2; k++) {
				sha256_init(&both[k]);
				sha256_init(&each[k]);
			}
			sha256_add(&both[0], bytes, held);
			sha256_add(&each[0], bytes, held);
			sha256_add_two(&both[0], bytes + 1, size, &both[1], bytes + 1400, other);
			sha256_add(&each[0], bytes + 1, size);
			sha256_add(&each[1], bytes + 1400, other);
			for (size_t k = 0; k < 2; k++) {
				sha256_end(&both[k], together[k]);
				sha256_end(&each[k], alone[k]);
			}
			assert_memory_equal(together, alone, sizeof(alone));
		}
	}
}

static int sha256_checks(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(gives_the_standard_digests),
		cmocka_unit_test(does_not_care_how_bytes_come),
		cmocka_unit_test(hashes_two_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif /* TESTS_UNIT_SYMTAB_SHA256_CHECKS_H */
