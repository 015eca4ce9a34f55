/* SPDX-License-Identifier: MIT */
/*
 * engine_host.h - what the benches' hosts share: errors, clocks, a module compiled to a
 * file.
 */
#ifndef TESTS_BENCH_ENGINE_HOST_H
#define TESTS_BENCH_ENGINE_HOST_H

#include <stdio.h>
#include <stdlib.h>

#include <wasmtime.h>

#include "tests/bench/times.h"

static inline void check(wasmtime_error_t *error, const char *what)
{
	wasm_byte_vec_t text;

	if (error == NULL)
		return;
	wasmtime_error_message(error, &text);
	fprintf(stderr, "bench host: %s: %.*s\n", what, (int)text.size, text.data);
	exit(1);
}

static inline void read_all(const char *path, wasm_byte_vec_t *bytes)
{
	FILE *file = fopen(path, "rb");
	long size;

	if (file == NULL || fseek(file, 0, SEEK_END) != 0 || (size = ftell(file)) < 0) {
		perror(path);
		exit(1);
	}
	rewind(file);
	wasm_byte_vec_new_uninitialized(bytes, (size_t)size);
	if (fread(bytes->data, 1, bytes->size, file) != bytes->size)
		exit(1);
	fclose(file);
}

static inline void compile(wasm_engine_t *engine, const char *wasm_path, const char *cache_path)
{
	wasm_byte_vec_t wasm, image;
	wasmtime_module_t *module;
	FILE *file;

	read_all(wasm_path, &wasm);
	check(wasmtime_module_new(engine, (uint8_t *)wasm.data, wasm.size, &module), "compile");
	check(wasmtime_module_serialize(module, &image), "serialize");
	file = fopen(cache_path, "wb");
	if (file == NULL || fwrite(image.data, 1, image.size, file) != image.size ||
	    fclose(file) != 0)
		exit(1);
	wasm_byte_vec_delete(&wasm);
	wasm_byte_vec_delete(&image);
	wasmtime_module_delete(module);
}

#endif /* TESTS_BENCH_ENGINE_HOST_H */
