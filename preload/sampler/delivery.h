/* SPDX-License-Identifier: MIT */
/*
 * delivery.h - what the kernel takes to deliver a signal, and to come back from its handler.
 *
 * No clock of a thread shows that apart, so it is estimated once: our thread sends itself the
 * clocks' signal, through a handler that does nothing with it, and takes the median. What the
 * tick's own interrupt costs is not in it.
 */
#ifndef PRELOAD_SAMPLER_DELIVERY_H
#define PRELOAD_SAMPLER_DELIVERY_H

#include "symtab/base.h"

/* What is taken for true where it cannot be measured: the usual on machines of these years. */
enum { DELIVERY_USUAL_NS = 2000 };

/*
 * Our thread, which blocks all signals, after sampler_start(): some 0.1 ms. DELIVERY_USUAL_NS where
 * the host uses the signal itself, for one of its own could come to us meanwhile.
 */
uint64_t delivery_measure_ns(void);

#endif /* PRELOAD_SAMPLER_DELIVERY_H */
