/* SPDX-License-Identifier: MIT */
/* doctor_rows.c - the rows of a doctor's answer, and the environment that it is about. */
#include "preload/cmd/doctor/doctor.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void doctor_add(struct doctor *doctor, enum doctor_verdict verdict, const char *what,
		const char *cure, const char *format, ...)
{
	struct doctor_row *row;
	va_list args;

	if (doctor->row_count == DOCTOR_ROWS_MAX)
		return;
	row = &doctor->rows[doctor->row_count++];
	row->verdict = verdict;
	row->what = what;
	row->cure = cure;
	va_start(args, format);
	vsnprintf(row->why, sizeof(row->why), format, args);
	va_end(args);
}

enum doctor_verdict doctor_worst(const struct doctor *doctor)
{
	enum doctor_verdict worst = DOCTOR_OK;

	for (size_t i = 0; i < doctor->row_count; i++) {
		if (doctor->rows[i].verdict > worst)
			worst = doctor->rows[i].verdict;
	}
	return worst;
}

const char *doctor_reason(const struct doctor *doctor)
{
	for (size_t i = 0; i < doctor->row_count; i++) {
		if (doctor->rows[i].verdict == DOCTOR_NO)
			return doctor->rows[i].why;
	}
	return NULL;
}

const char *doctor_variable(const struct doctor *doctor, const char *name)
{
	size_t length = strlen(name);

	for (char **row = doctor->environment; row != NULL && *row != NULL; row++) {
		if (strncmp(*row, name, length) == 0 && (*row)[length] == '=')
			return *row + length + 1;
	}
	return NULL;
}
