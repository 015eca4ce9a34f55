/* SPDX-License-Identifier: MIT */
/* threads.c - guests on several threads of the test host, while modules come and go. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "host.h"

struct job {
	pthread_t thread;
	wasm_engine_t *engine;
	const wasmtime_module_t *module;
	const struct options *options;
	uint32_t number;
};

static void *work(void *argument)
{
	const struct job *job = argument;

	call_module(job->engine, job->module, job->options, job->number);
	return NULL;
}

/* Loads, runs and drops a module of its own, again and again. */
static void churn(wasm_engine_t *engine, const struct options *options)
{
	struct options brief = *options;

	brief.cpu_ms = 0;
	brief.calls = 1;
	brief.is_quiet = true;
	if (options->other != NULL)
		brief.guest = options->other;
	for (uint32_t i = 0; i < options->churn; i++) {
		wasmtime_module_t *module = load_module(engine, &brief);

		call_module(engine, module, &brief, 0);
		wasmtime_module_delete(module);
	}
	printf("churned %u modules\n", options->churn);
}

void threads_run(wasm_engine_t *engine, const wasmtime_module_t *module,
		 const struct options *options)
{
	struct job *jobs = calloc(options->threads, sizeof(*jobs));

	for (uint32_t i = 0; i < options->threads; i++) {
		jobs[i] = (struct job){
			.engine = engine, .module = module, .options = options, .number = i
		};
		if (pthread_create(&jobs[i].thread, NULL, work, &jobs[i]) != 0) {
			fprintf(stderr, "host: no thread\n");
			exit(1);
		}
	}
	if (options->churn > 0)
		churn(engine, options);
	for (uint32_t i = 0; i < options->threads; i++)
		pthread_join(jobs[i].thread, NULL);
	free(jobs);
}
