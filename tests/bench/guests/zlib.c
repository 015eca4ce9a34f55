/* SPDX-License-Identifier: MIT */
/* zlib.c - text of so many MiB through zlib and back: a library as it is, with byte loops. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

static const char words[] = "the quick brown fox jumps over the lazy dog, 0123456789 <and> back; ";

int main(int argc, char **argv)
{
	uLong size = (uLong)(argc > 1 ? atoi(argv[1]) : 1) << 20, bound = compressBound(size);
	unsigned char *text = malloc(size), *packed = malloc(bound), *again = malloc(size);
	uLongf packed_size = bound, size_again = size;
	unsigned int state = 1;

	if (text == NULL || packed == NULL || again == NULL)
		return 1;
	for (uLong i = 0; i < size; i++) {
		state = state * 1664525 + 1013904223;
		text[i] = (unsigned char)
			words[(state >> 20) % (state >> 30 ? 20 : sizeof(words) - 1)];
	}
	if (compress2(packed, &packed_size, text, size, 6) != Z_OK ||
	    uncompress(again, &size_again, packed, packed_size) != Z_OK ||
	    memcmp(text, again, size) != 0)
		return 1;
	printf("%lu\n", (unsigned long)packed_size);
	return 0;
}
