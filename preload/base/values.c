/* SPDX-License-Identifier: MIT */
/* values.c - numbers with units. Threads: any. */
#include "preload/base/values.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A hundred years: what follows may count with it. */
#define LONGEST_S UINT64_C(3153600000)

int values_size(const char *text, char **end, uint64_t *size)
{
	static const char suffixes[] = "kMG";
	const char *suffix;
	unsigned int shift;

	if (*text < '0' || *text > '9')
		return -EINVAL;
	*size = strtoull(text, end, 10);
	suffix = **end != '\0' ? strchr(suffixes, **end) : NULL;
	if (suffix == NULL)
		return 0;
	shift = 10 * (unsigned int)(suffix - suffixes + 1);
	if (*size >> (64 - shift) != 0)
		return -EINVAL;
	*size <<= shift;
	++*end;
	return 0;
}

int values_percent(const char *text, char **end, uint32_t *ppm)
{
	enum { ONE_PERCENT = 10000, HUNDRED_PERCENT = 1000000 };
	uint64_t value = 0;
	uint32_t unit = ONE_PERCENT;

	if (*text < '0' || *text > '9')
		return -EINVAL;
	for (; *text >= '0' && *text <= '9' && value <= HUNDRED_PERCENT; text++)
		value = value * 10 + (uint64_t)(*text - '0') * ONE_PERCENT;
	if (*text == '.') {
		for (text++; *text >= '0' && *text <= '9'; text++) {
			unit /= 10;
			value += (uint64_t)(*text - '0') * unit;
			/* Little is not nothing. */
			if (value == 0 && unit == 0 && *text != '0')
				value = 1;
		}
	}
	if (value > HUNDRED_PERCENT)
		return -EINVAL;
	*end = (char *)text;
	*ppm = (uint32_t)value;
	return 0;
}

int values_duration(const char *text, char **end, uint64_t *duration_ns)
{
	static const struct {
		char letter;
		uint32_t seconds;
	} units[] = { { 's', 1 }, { 'm', 60 }, { 'h', 3600 }, { 'd', 86400 } };
	uint64_t count, unit = 1;

	if (*text < '0' || *text > '9')
		return -EINVAL;
	count = strtoull(text, end, 10);
	for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
		if (**end != units[i].letter)
			continue;
		unit = units[i].seconds;
		++*end;
		break;
	}
	if (count > LONGEST_S / unit)
		return -EINVAL;
	*duration_ns = count * unit * 1000000000u;
	return 0;
}
