/* SPDX-License-Identifier: MIT */
/* host.c - an unmodified host on the C API of wasmtime: GUEST EXPORT [option[=value]]... */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include "host.h"

void check(const char *what, wasmtime_error_t *error, wasm_trap_t *trap)
{
	wasm_byte_vec_t text = { 0 };

	if (error == NULL && trap == NULL)
		return;
	if (error != NULL)
		wasmtime_error_message(error, &text);
	else
		wasm_trap_message(trap, &text);
	fprintf(stderr, "host: %s: %.*s\n", what, (int)text.size, text.data);
	exit(1);
}

static void usage(const char *about)
{
	fprintf(stderr, "host: bad option %s\n", about);
	exit(2);
}

struct number_option {
	const char *name;
	size_t offset;
	bool is_64;
};

/* clang-format off */
#define NUMBER(field, is_64) { #field, offsetof(struct options, field), is_64 }
/* clang-format on */
static const struct number_option number_options[] = {
	NUMBER(argument, false), NUMBER(cpu_ms, true),	   NUMBER(calls, true),
	NUMBER(stores, false),	 NUMBER(instances, false), NUMBER(threads, false),
	NUMBER(fresh, false),	 NUMBER(churn, false),	   NUMBER(park_ms, false),
};

struct flag_option {
	const char *name;
	size_t offset;
};

/* clang-format off */
#define FLAG(name, field) { name, offsetof(struct options, field) }
/* clang-format on */
static const struct flag_option flag_options[] = {
	FLAG("serialize", serialize),	   FLAG("linker", uses_linker),
	FLAG("skewed", is_skewed),	   FLAG("no_unwind_info", no_unwind_info),
	FLAG("component", is_component),   FLAG("async", is_async),
	FLAG("undumpable", is_undumpable), FLAG("interpreted", is_interpreted),
};

static bool read_flag(struct options *options, const char *name)
{
	for (size_t i = 0; i < sizeof(flag_options) / sizeof(*flag_options); i++)
		if (strcmp(flag_options[i].name, name) == 0) {
			*(bool *)((char *)options + flag_options[i].offset) = true;
			return true;
		}
	return false;
}

static bool read_number(struct options *options, const char *text, const char *value)
{
	for (size_t i = 0; i < sizeof(number_options) / sizeof(*number_options); i++) {
		const struct number_option *known = &number_options[i];
		char *field = (char *)options + known->offset;

		if (strlen(known->name) != (size_t)(value - text) ||
		    memcmp(known->name, text, (size_t)(value - text)) != 0)
			continue;
		if (known->is_64)
			*(uint64_t *)field = strtoull(value + 1, NULL, 10);
		else
			*(uint32_t *)field = (uint32_t)strtoul(value + 1, NULL, 10);
		return true;
	}
	return false;
}

static struct options read_options(int count, char **words)
{
	struct options options = {
		.argument = 100,
		.calls = 1,
		.stores = 1,
		.instances = 1,
		.threads = 1,
	};

	if (count < 3)
		usage("(GUEST EXPORT are needed)");
	options.guest = words[1];
	options.export = words[2];
	for (int i = 3; i < count; i++) {
		const char *value = strchr(words[i], '=');

		if (value == NULL ? read_flag(&options, words[i])
				  : read_number(&options, words[i], value))
			continue;
		if (strncmp(words[i], "cwasm=", 6) == 0)
			options.cwasm = value + 1;
		else if (strncmp(words[i], "other=", 6) == 0)
			options.other = value + 1;
		else
			usage(words[i]);
	}
	return options;
}

static void run_modules(wasm_engine_t *engine, const struct options *options)
{
	wasmtime_module_t *module = load_module(engine, options);

	if (options->is_async)
		async_run(engine, module, options);
	else if (options->threads > 1 || options->churn > 0)
		threads_run(engine, module, options);
	else
		call_module(engine, module, options, 0);
	wasmtime_module_delete(module);
}

int main(int count, char **words)
{
	struct options options = read_options(count, words);
	wasm_engine_t *engine = load_engine(&options);

	if (options.is_undumpable)
		prctl(PR_SET_DUMPABLE, 0);
	printf("host: wasmtime %d, %s\n", WASMTIME_VERSION_MAJOR, options.export);
	if (options.is_component)
		component_run(engine, &options);
	else
		run_modules(engine, &options);
	wasm_engine_delete(engine);
	restless_print();
	surroundings_print();
	return 0;
}
