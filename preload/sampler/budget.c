/* SPDX-License-Identifier: MIT */
/* budget.c - windows, and what follows from them. Threads: as budget.h says. */
#include "preload/sampler/budget.h"

#include <string.h>

enum {
	OVER_MAX = 3,	  /* windows over the budget that are borne */
	FAR_OVER_MAX = 2, /* ... over FAR times the budget */
	FAR = 2,
	/* A doubled rate must cost less than 4/5 of the budget. */
	ROOM_NUMERATOR = 4,
	ROOM_DENOMINATOR = 5,
	PPM = 1000000,
};

void budget_start(struct budget *budget, uint32_t budget_ppm, uint32_t hz,
		  const struct budget_cost *now)
{
	uint32_t largest = 1;

	while (hz / largest >= 2)
		largest *= 2;
	*budget = (struct budget){
		.budget_ppm = budget_ppm,
		.divisor = 1,
		.largest = largest,
		.cost_ppm = BUDGET_UNKNOWN,
		.begin = *now,
		.patience = BUDGET_PATIENCE,
		.since_doubled = UINT32_MAX,
	};
}

/* Clocks of several threads are read one after the other: a later look may show less. */
static uint64_t since(uint64_t then, uint64_t now)
{
	return now > then ? now - then : 0;
}

static uint32_t cost_ppm(const struct budget_cost *begin, const struct budget_cost *end)
{
	uint64_t process_ns = since(begin->process_ns, end->process_ns);
	uint64_t own_ns = since(begin->handler_ns, end->handler_ns) +
			  since(begin->delivery_ns, end->delivery_ns) +
			  since(begin->work_ns, end->work_ns);

	/* The handler's time is an estimate, and may be more than there was. */
	if (own_ns >= process_ns)
		return PPM;
	return (uint32_t)((long double)own_ns * PPM / (long double)process_ns);
}

static void change(struct budget *budget, uint64_t time_ns, uint32_t divisor)
{
	if (budget->change_count == BUDGET_CHANGES_MAX)
		memmove(budget->changes, budget->changes + 1,
			--budget->change_count * sizeof(*budget->changes));
	budget->changes[budget->change_count++] = (struct budget_change){
		.time_ns = time_ns,
		.from = budget->divisor,
		.to = divisor,
		.cost_ppm = budget->cost_ppm,
		.budget_ppm = budget->budget_ppm,
	};
	budget->divisor = divisor;
	budget->over = budget->far_over = budget->inside = 0;
}

static bool slow_down(struct budget *budget, uint64_t time_ns)
{
	if (budget->divisor >= budget->largest)
		return false;
	/* The doubling did not last. */
	if (budget->since_doubled <= budget->patience && budget->patience < BUDGET_PATIENCE_MAX)
		budget->patience *= 2;
	budget->since_doubled = UINT32_MAX;
	change(budget, time_ns, budget->divisor * 2);
	return true;
}

static bool speed_up(struct budget *budget, uint64_t time_ns)
{
	if (budget->divisor == 1)
		return false;
	budget->since_doubled = 0;
	change(budget, time_ns, budget->divisor / 2);
	return true;
}

static void count(uint32_t *windows, bool is_one)
{
	*windows = is_one ? *windows + 1 : 0;
}

/* A window is over, and counts. */
static bool settle(struct budget *budget, uint64_t time_ns)
{
	uint64_t cost = budget->cost_ppm, limit = budget->budget_ppm;

	if (budget->since_doubled != UINT32_MAX)
		budget->since_doubled++;
	count(&budget->over, cost > limit);
	count(&budget->far_over, cost > limit * FAR);
	count(&budget->inside, cost * 2 * ROOM_DENOMINATOR < limit * ROOM_NUMERATOR);
	if (budget->over >= OVER_MAX || budget->far_over >= FAR_OVER_MAX)
		return slow_down(budget, time_ns);
	return budget->inside >= budget->patience && speed_up(budget, time_ns);
}

bool budget_judge(struct budget *budget, const struct budget_cost *now)
{
	uint64_t wall_ns = since(budget->begin.time_ns, now->time_ns);
	bool counts = since(budget->begin.process_ns, now->process_ns) >= BUDGET_LEAST_CPU_NS;
	bool is_whole = wall_ns >= BUDGET_WINDOW_NS && counts;

	if (!is_whole && wall_ns < BUDGET_LONGEST_NS)
		return false;
	if (is_whole)
		budget->cost_ppm = cost_ppm(&budget->begin, now);
	budget->begin = *now;
	return is_whole && budget->budget_ppm != 0 && settle(budget, now->time_ns);
}
