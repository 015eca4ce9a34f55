/* SPDX-License-Identifier: MIT */
/* spending.c - counts, has it judged, sets the clocks. Threads: as spending.h says. */
#include "preload/spending.h"

#include <time.h>

#include "preload/base/clock.h"
#include "preload/base/config.h"
#include "preload/base/log.h"
#include "preload/base/stats.h"
#include "preload/encode/writer.h"
#include "preload/intake.h"
#include "preload/output.h"
#include "preload/profile/profile.h"
#include "preload/sampler/budget.h"
#include "preload/sampler/delivery.h"
#include "preload/sampler/sampler.h"

static struct {
	uint32_t hz;
	struct budget budget;
	uint64_t delivery_ns;
	uint64_t work_ns;
	uint64_t begin_ns; /* of the work under way */
	struct writer_rate rates[BUDGET_CHANGES_MAX];
} self;

/* CPU time of our thread, without what modules cost. */
static uint64_t own_ns(void)
{
	const struct profile *profile = output_profile();

	return clock_ns(CLOCK_THREAD_CPUTIME_ID) - intake_loads_ns() -
	       (profile != NULL ? profile_modules_ns(profile) : 0);
}

void spending_begin(void)
{
	self.begin_ns = own_ns();
}

void spending_end(void)
{
	uint64_t end_ns = own_ns();

	/* Not so when another profile took the place of one that was full. */
	if (end_ns > self.begin_ns)
		self.work_ns += end_ns - self.begin_ns;
}

static struct budget_cost cost_until(uint64_t now_ns)
{
	return (struct budget_cost){
		.time_ns = now_ns,
		.process_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID),
		.handler_ns = stat_get(STAT_HANDLER_NS),
		.delivery_ns = stat_get(STAT_SIGNALS) * self.delivery_ns,
		.work_ns = self.work_ns,
	};
}

void spending_start(uint32_t hz)
{
	struct budget_cost now = cost_until(clock_ns(CLOCK_MONOTONIC));

	self.hz = hz;
	budget_start(&self.budget, config_budget(config_current(), hz), hz, &now);
}

static void say_change(const struct budget_change *change)
{
	log_line(LOG_INFO,
		 "from now on %.4g of %u samples a second: sampling cost %.2g %% of the process's "
		 "CPU time, GUESTPROF_BUDGET=%.4g",
		 (double)self.hz / change->to, self.hz, change->cost_ppm / 1e4,
		 change->budget_ppm / 1e4);
}

void spending_judge(uint64_t now_ns)
{
	struct budget_cost now;

	/* Here, for it needs the signal, and a thread that blocks it. */
	if (self.delivery_ns == 0) {
		self.delivery_ns = delivery_measure_ns();
		self.budget.begin.delivery_ns = stat_get(STAT_SIGNALS) * self.delivery_ns;
	}
	now = cost_until(now_ns);
	if (!budget_judge(&self.budget, &now))
		return;
	sampler_set_periods(self.budget.divisor);
	say_change(&self.budget.changes[self.budget.change_count - 1]);
}

struct spending_state spending_now(void)
{
	return (struct spending_state){
		.divisor = self.budget.divisor,
		.cost_ppm = self.budget.cost_ppm,
		.budget_ppm = self.budget.budget_ppm,
		.delivery_ns = self.delivery_ns,
	};
}

size_t spending_rates(uint64_t start_ns, const struct writer_rate **rates)
{
	size_t count = 0;

	*rates = self.rates;
	for (size_t i = 0; i < self.budget.change_count; i++) {
		const struct budget_change *change = &self.budget.changes[i];
		bool is_before = change->time_ns <= start_ns;

		/* Of those before the start only the last one still holds; when it had brought
		 * back the rate asked for, there is nothing to tell. */
		if (is_before)
			count = 0;
		if (is_before && change->to == 1)
			continue;
		self.rates[count++] = (struct writer_rate){
			.time_ns = is_before ? 0 : change->time_ns - start_ns,
			.from = change->from,
			.to = change->to,
			.cost_ppm = change->cost_ppm,
			.budget_ppm = change->budget_ppm,
		};
	}
	return count;
}

void spending_fork_child(void)
{
	self.work_ns = 0;
	sampler_set_periods(1);
	spending_start(self.hz != 0 ? self.hz : config_current()->hz);
}
