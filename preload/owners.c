/* SPDX-License-Identifier: MIT */
/* owners.c - the rule of unwind/owner.h, where the host's own calls do not say it. Threads: ours.
 */
#include "preload/owners.h"

#include <stdio.h>
#include <time.h>

#include "preload/base/clock.h"
#include "preload/base/log.h"
#include "preload/load/instance.h"
#include "preload/load/load.h"
#include "preload/runtime/wasmtime_layout.h"
#include "preload/sig/anchor.h"
#include "preload/unwind/owner.h"
#include "preload/unwind/stores.h"

enum {
	TIDY_NS = 1000000000,
	HOPELESS_AFTER = 256, /* samples of which none could be told */
	VERSION_SIZE = 32,
};

static struct {
	bool is_wanted, is_known; /* an engine was seen; its layout is known */
	bool was_told;		  /* some instance was */
	uint32_t untold;	  /* samples until then */
	char version[VERSION_SIZE];
	uint64_t next_tidy_ns;
} self;

void owners_note_engine(const char *engine, const char *version)
{
	struct context_layout layout;

	if (self.is_known || !runtime_has_contexts(engine))
		return;
	self.is_wanted = true;
	snprintf(self.version, sizeof(self.version), "%s %s", engine, version);
	if (!runtime_contexts_fill(version, &layout) || !anchor_start(&layout))
		return;
	owner_start(&layout);
	self.is_known = true;
}

static void complain(void)
{
	static atomic_flag once = ATOMIC_FLAG_INIT;

	if (!self.is_known)
		log_once(&once,
			 "%s: which instance runs is not known of this version: modules only",
			 self.version);
	else if (!self.was_told && ++self.untold >= HOPELESS_AFTER)
		log_once(&once,
			 "%s: this host keeps instances where nobody expects them: modules only",
			 self.version);
}

/* In a process where hosts say what they enter, what nobody entered is told by nothing. */
static bool is_mine(const struct sample *sample)
{
	return self.is_wanted && sample->instance == 0 && (sample->flags & SAMPLE_NO_ENTRY) != 0 &&
	       !atomic_load_explicit(&thread_table.has_entries, memory_order_relaxed);
}

void owners_fill(struct sample *sample, uint64_t tid)
{
	struct owner owner = { 0 };
	int number_at;

	if (!is_mine(sample))
		return;
	if (sample_anchor(sample) != NULL) {
		owner_of(load_symtab(), sample, tid, &owner);
		number_at = stores_number_at();
		if (number_at != SAMPLE_NUMBER_UNKNOWN)
			atomic_store_explicit(&anchor_setup.number_at, number_at,
					      memory_order_relaxed);
	}
	if (owner.certainty != OWNER_NONE)
		sample->instance = instance_for((struct instance_key){ owner.store, owner.context },
						owner.loading);
	if (sample->instance == 0) {
		sample->flags |= SAMPLE_MODULE_ONLY;
		complain();
		return;
	}
	self.was_told = true;
	if (owner.certainty == OWNER_LIKELY)
		sample->flags |= SAMPLE_LIKELY;
}

void owners_tidy(void)
{
	uint64_t now_ns;

	if (!self.is_known)
		return;
	now_ns = clock_ns(CLOCK_MONOTONIC);
	if (now_ns < self.next_tidy_ns)
		return;
	self.next_tidy_ns = now_ns + TIDY_NS;
	stores_tidy(now_ns, instance_forget_store);
}
