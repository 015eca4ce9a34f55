/* SPDX-License-Identifier: MIT */
/*
 * intake.h - what comes to our thread from the others: loads, samples, waits. Our thread only.
 */
#ifndef PRELOAD_INTAKE_H
#define PRELOAD_INTAKE_H

#include "symtab/base.h"

struct sample;

/* Takes in what was announced. */
void intake_loads(void);

/* CPU time that this has taken. */
uint64_t intake_loads_ns(void);

/* Code that was loaded since, if SAMPLE is of it: its names first. */
void intake_prepare(const struct sample *sample);

/* Empties all rings. Afterwards none holds a sample from before the generation that is returned. */
uint64_t intake_samples(void);

/* Looks at threads that wait; when to do so again, as waiting_work(). */
uint64_t intake_waits(uint64_t now_ns);

/* The times of asynchronous calls that are not polled. */
void intake_parked(void);

/*
 * Looks where hosts tell other tools of the code that they make; before samples are taken in, which
 * may lie in it.
 */
void intake_told(uint64_t now_ns);

#endif /* PRELOAD_INTAKE_H */
