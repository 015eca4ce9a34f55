/* SPDX-License-Identifier: MIT */
/*
 * aot.c - `aot GUEST.wasm OUT.aot [frames]`: what wamrc does, by the compiler's own functions, for
 * the crate that WAMR's sources come in has no wamrc.
 *
 * frames asks for frame pointers, as wamrc --enable-linux-perf does. Nothing is inlined: the guests
 * are to keep the functions that their shares are known of.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <aot_export.h>
#include <wasm_export.h>

static void die(const char *what)
{
	fprintf(stderr, "aot: %s\n", what);
	exit(1);
}

static uint8_t *read_file(const char *path, uint32_t *size)
{
	FILE *file = fopen(path, "rb");
	uint8_t *bytes;
	long length;

	if (file == NULL || fseek(file, 0, SEEK_END) != 0 || (length = ftell(file)) < 0)
		die(path);
	rewind(file);
	bytes = malloc((size_t)length + 1);
	if (bytes == NULL || fread(bytes, 1, (size_t)length, file) != (size_t)length)
		die(path);
	fclose(file);
	*size = (uint32_t)length;
	return bytes;
}

static AOTCompOption options(void)
{
	AOTCompOption option = {
		.opt_level = 1,
		.size_level = 3,
		.output_format = AOT_FORMAT_FILE,
		.bounds_checks = 2,
		.stack_bounds_checks = 2,
		.enable_bulk_memory = true,
		.enable_ref_types = true,
	};

	aot_call_stack_features_init_default(&option.call_stack_features);
	return option;
}

int main(int argc, char **argv)
{
	RuntimeInitArgs init = { .mem_alloc_type = Alloc_With_System_Allocator };
	AOTCompOption option = options();
	aot_comp_context_t context;
	aot_comp_data_t compiled;
	char error[128] = "";
	wasm_module_t module;
	uint8_t *wasm;
	uint32_t size;

	if (argc < 3)
		die("GUEST.wasm OUT.aot [frames]");
	init.enable_linux_perf = argc > 3 && strcmp(argv[3], "frames") == 0;
	init.running_mode = Mode_Interp;
	if (!wasm_runtime_full_init(&init) || !aot_compiler_init())
		die("no compiler");
	wasm = read_file(argv[1], &size);
	module = wasm_runtime_load(wasm, size, error, sizeof(error));
	if (module == NULL)
		die(error);
	compiled = aot_create_comp_data(module, NULL, false);
	context = compiled != NULL ? aot_create_comp_context(compiled, &option) : NULL;
	if (context == NULL || !aot_compile_wasm(context) ||
	    !aot_emit_aot_file(context, compiled, argv[2]))
		die(aot_get_last_error());
	return 0;
}
