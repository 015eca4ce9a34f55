/* SPDX-License-Identifier: MIT */
/*
 * modules.c - what a host may do with modules: load, drop, fail, again, on many threads, from
 * buffers that are gone at once. Arguments: the way, then its own. Each prints the same whoever
 * looks on.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <wasmtime.h>

#include "guest.h"

struct bytes {
	uint8_t *bytes;
	size_t size;
};

struct loaded {
	wasmtime_module_t *module;
	wasmtime_store_t *store;
	wasmtime_func_t run;
};

static wasm_engine_t *engine;

/* ---- modules --------------------------------------------------------------------------------- */

static struct bytes read_file(const char *path)
{
	FILE *file = fopen(path, "rb");
	struct bytes all = { 0 };

	guest_expect(file != NULL, path);
	fseek(file, 0, SEEK_END);
	all.size = (size_t)ftell(file);
	rewind(file);
	all.bytes = malloc(all.size + 64);
	guest_expect(fread(all.bytes, 1, all.size, file) == all.size, path);
	fclose(file);
	return all;
}

static wasmtime_module_t *try_load(const uint8_t *bytes, size_t size)
{
	wasmtime_module_t *module = NULL;
	wasmtime_error_t *error = wasmtime_module_new(engine, bytes, size, &module);

	if (error != NULL)
		wasmtime_error_delete(error);
	return error == NULL ? module : NULL;
}

static struct loaded instantiate(wasmtime_module_t *module)
{
	struct loaded loaded = { .module = module };
	wasmtime_instance_t instance;
	wasm_trap_t *trap = NULL;
	wasmtime_context_t *context;
	wasmtime_extern_t item;

	guest_expect(module != NULL, "a module does not load");
	loaded.store = wasmtime_store_new(engine, NULL, NULL);
	context = wasmtime_store_context(loaded.store);
	guest_expect(wasmtime_instance_new(context, module, NULL, 0, &instance, &trap) == NULL &&
			     trap == NULL,
		     "instance");
	guest_expect(wasmtime_instance_export_get(context, &instance, "run", 3, &item), "no run");
	loaded.run = item.of.func;
	return loaded;
}

static void call(const struct loaded *loaded, uint32_t argument)
{
	wasmtime_context_t *context = wasmtime_store_context(loaded->store);
	wasmtime_val_t value = { .kind = WASMTIME_I32, .of.i32 = (int32_t)argument }, result;
	wasm_functype_t *type = wasmtime_func_type(context, &loaded->run);
	size_t arguments = wasm_functype_params(type)->size;
	size_t results = wasm_functype_results(type)->size;
	wasm_trap_t *trap = NULL;

	wasm_functype_delete(type);
	guest_expect(wasmtime_func_call(context, &loaded->run, &value, arguments, &result, results,
					&trap) == NULL &&
			     trap == NULL,
		     "call");
}

static void burn(const struct loaded *loaded, uint64_t cpu_ms)
{
	uint64_t end = guest_cpu_ms() + cpu_ms;

	while (guest_cpu_ms() < end)
		call(loaded, 50);
}

static void drop(struct loaded *loaded)
{
	wasmtime_store_delete(loaded->store);
	if (loaded->module != NULL)
		wasmtime_module_delete(loaded->module);
}

/* What the file holds, with a custom section that makes it another module. */
static wasmtime_module_t *load_variant(const struct bytes *file, uint32_t number)
{
	uint8_t tail[] = { 0, 9, 4, 's', 'e', 'e', 'd', 0, 0, 0, 0 };
	uint8_t *bytes = malloc(file->size + sizeof(tail));
	wasmtime_module_t *module;

	memcpy(tail + 7, &number, sizeof(number));
	memcpy(bytes, file->bytes, file->size);
	memcpy(bytes + file->size, tail, sizeof(tail));
	module = try_load(bytes, file->size + sizeof(tail));
	memset(bytes, 0xcc, file->size + sizeof(tail));
	free(bytes);
	return module;
}

static size_t resident_kib(void)
{
	FILE *file = fopen("/proc/self/statm", "r");
	unsigned long all = 0, resident = 0;

	guest_expect(file != NULL && fscanf(file, "%lu %lu", &all, &resident) == 2, "statm");
	fclose(file);
	return resident * 4;
}

/* ---- ways ------------------------------------------------------------------------------------ */

/* ROUNDS A B: one after the other, each for 25 ms; addresses are used again. */
static void alternate(char **words)
{
	struct bytes files[] = { read_file(words[1]), read_file(words[2]) };

	for (int i = 0; i < 2 * atoi(words[0]); i++) {
		const struct bytes *file = &files[i % 2];
		struct loaded loaded = instantiate(try_load(file->bytes, file->size));

		burn(&loaded, 25);
		drop(&loaded);
	}
}

/* GUEST: the handle goes, the code runs on. */
static void early(char **words)
{
	struct bytes file = read_file(words[0]);
	struct loaded loaded = instantiate(try_load(file.bytes, file.size));

	wasmtime_module_delete(loaded.module);
	loaded.module = NULL;
	burn(&loaded, 1000);
	drop(&loaded);
}

/* GUEST: the bytes end where memory does, and are gone once the call returns. */
static void edge(char **words)
{
	struct bytes file = read_file(words[0]);
	size_t page = 4096, size = (file.size + page - 1) & ~(page - 1);
	uint8_t *map =
		mmap(NULL, size + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct loaded loaded;

	guest_expect(map != MAP_FAILED && mprotect(map + size, page, PROT_NONE) == 0, "memory");
	memcpy(map + size - file.size, file.bytes, file.size);
	loaded.module = try_load(map + size - file.size, file.size);
	memset(map, 0xcc, size);
	munmap(map, size + page);
	loaded = instantiate(loaded.module);
	burn(&loaded, 600);
	drop(&loaded);
}

static struct {
	struct bytes file;
	size_t from; /* what is scribbled over: names, which no engine minds */
	volatile int is_over;
} scribbling;

static void *scribble(void *unused)
{
	for (uint32_t seed = 1; !scribbling.is_over; seed = seed * 1664525 + 1013904223)
		scribbling.file
			.bytes[scribbling.from + seed % (scribbling.file.size - scribbling.from)] ^=
			(uint8_t)(seed >> 24);
	return unused;
}

/* GUEST OFFSET LOADS: another thread changes the bytes from OFFSET on during the calls. */
static void scribbled(char **words)
{
	struct loaded loaded;
	pthread_t thread;

	scribbling.file = read_file(words[0]);
	scribbling.from = strtoul(words[1], NULL, 10);
	pthread_create(&thread, NULL, scribble, NULL);
	for (int i = 0; i < atoi(words[2]); i++) {
		loaded = instantiate(try_load(scribbling.file.bytes, scribbling.file.size));
		call(&loaded, 50);
		drop(&loaded);
	}
	scribbling.is_over = 1;
	pthread_join(thread, NULL);
}

/* GUEST LOADS: of what is cut short, or is no wasm; then one that is good. */
static void failing(char **words)
{
	struct bytes file = read_file(words[0]);
	int loads = atoi(words[1]), failed = 0;
	size_t before = 0, grown;
	struct loaded loaded;

	for (int i = 0; i < loads; i++) {
		wasmtime_module_t *module = try_load(file.bytes, 9 + (size_t)i % (file.size / 2));

		failed += module == NULL;
		if (module != NULL)
			wasmtime_module_delete(module);
		if (i == loads / 4)
			before = resident_kib();
	}
	grown = resident_kib() - before;
	loaded = instantiate(try_load(file.bytes, file.size));
	burn(&loaded, 400);
	drop(&loaded);
	printf("%d failed, memory grew: %s\n", failed, (ssize_t)grown > 16 << 10 ? "yes" : "no");
}

/* GUEST: what is no binary. */
static void odd(char **words)
{
	static const char *const texts[] = { "(module)", "\xef\xbb\xbf(module)", "\0asm\1\0\0",
					     "(module (func (export \"run\")))" };
	struct bytes file = read_file(words[0]);
	struct loaded loaded;

	for (size_t i = 0; i <= 8; i++)
		printf("%zu bytes: %d\n", i, try_load(file.bytes, i) != NULL);
	printf("nothing: %d\n", try_load(NULL, 0) != NULL);
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		printf("text %zu: %d\n", i,
		       try_load((const uint8_t *)texts[i], strlen(texts[i])) != NULL);
	loaded = instantiate(try_load(file.bytes, file.size));
	burn(&loaded, 300);
	drop(&loaded);
}

struct loader {
	pthread_t thread;
	struct bytes files[4];
	int file_count, loads, number;
};

static void *load_all(void *argument)
{
	const struct loader *loader = argument;

	for (int i = 0; i < loader->loads; i++) {
		const struct bytes *file =
			&loader->files[(i + loader->number) % loader->file_count];
		struct loaded loaded = instantiate(try_load(file->bytes, file->size));

		call(&loaded, 50);
		drop(&loaded);
	}
	return NULL;
}

/* THREADS LOADS GUEST...: each thread by itself. */
static void many(char **words)
{
	struct loader loaders[16];
	int threads = atoi(words[0]), files = 0;

	for (; words[2 + files] != NULL && files < 4; files++)
		loaders[0].files[files] = read_file(words[2 + files]);
	for (int i = 0; i < threads; i++) {
		loaders[i] = loaders[0];
		loaders[i].file_count = files;
		loaders[i].loads = atoi(words[1]);
		loaders[i].number = i;
		pthread_create(&loaders[i].thread, NULL, load_all, &loaders[i]);
	}
	for (int i = 0; i < threads; i++)
		pthread_join(loaders[i].thread, NULL);
	printf("%d loads\n", threads * atoi(words[1]));
}

/* GUEST LOADS MS HEAVY: so many different modules, each for MS; then HEAVY. */
static void different(char **words)
{
	struct bytes file = read_file(words[0]), heavy = read_file(words[3]);
	int loads = atoi(words[1]);
	struct loaded loaded;

	for (int i = 0; i < loads; i++) {
		loaded = instantiate(load_variant(&file, (uint32_t)i));
		burn(&loaded, strtoull(words[2], NULL, 10));
		drop(&loaded);
		if (i == loads / 4 || i == loads - 1)
			fprintf(stderr, "case: %zu KiB\n", resident_kib());
	}
	loaded = instantiate(try_load(heavy.bytes, heavy.size));
	burn(&loaded, 1500);
	drop(&loaded);
}

/* GUEST CALLS: each with other bits as its argument. */
static void patterns(char **words)
{
	struct bytes file = read_file(words[0]);
	struct loaded loaded = instantiate(try_load(file.bytes, file.size));
	int calls = atoi(words[1]);
	uint32_t bits = 1;

	for (int i = 0; i < calls; i++) {
		bits = bits * 1664525 + 1013904223;
		call(&loaded, bits >> 2);
		if (i == calls / 4 || i == calls - 1)
			fprintf(stderr, "case: %zu KiB\n", resident_kib());
	}
	drop(&loaded);
}

/* MS GUEST...: each in turn for so long; those that the engine refuses are named. */
static void each(char **words)
{
	for (int i = 1; words[i] != NULL; i++) {
		struct bytes file = read_file(words[i]);
		wasmtime_module_t *module = try_load(file.bytes, file.size);
		struct loaded loaded;

		if (module == NULL) {
			printf("refused: %s\n", strrchr(words[i], '/') + 1);
			continue;
		}
		loaded = instantiate(module);
		burn(&loaded, strtoull(words[0], NULL, 10));
		drop(&loaded);
		free(file.bytes);
	}
}

/* GUEST FILE: an image that is mapped from FILE, which is then cut; nobody runs it any more. */
static void truncated(char **words)
{
	struct bytes file = read_file(words[0]);
	wasmtime_module_t *module = try_load(file.bytes, file.size);
	struct loaded loaded = instantiate(module);
	wasm_byte_vec_t image;
	FILE *out = fopen(words[1], "wb");

	guest_expect(wasmtime_module_serialize(module, &image) == NULL && out != NULL, words[1]);
	guest_expect(fwrite(image.data, 1, image.size, out) == image.size && fclose(out) == 0,
		     words[1]);
	wasm_byte_vec_delete(&image);
	for (int i = 0; i < 20; i++) {
		guest_expect(wasmtime_module_deserialize_file(engine, words[1], &module) == NULL,
			     "image");
		burn(&loaded, 10);
	}
	guest_expect(wasmtime_module_deserialize_file(engine, words[1], &module) == NULL &&
			     truncate(words[1], 0) == 0,
		     "truncate");
	burn(&loaded, 400);
	drop(&loaded);
	printf("truncated: done\n");
	fflush(stdout);
	exit(0); /* the engine would read what is not there */
}

static const struct way {
	const char *name;
	void (*go)(char **words);
	int words;
} ways[] = {
	{ "alternate", alternate, 3 }, { "early", early, 1 },	      { "edge", edge, 1 },
	{ "scribbled", scribbled, 3 }, { "failing", failing, 2 },     { "odd", odd, 1 },
	{ "many", many, 3 },	       { "different", different, 4 }, { "patterns", patterns, 2 },
	{ "each", each, 2 },	       { "truncated", truncated, 2 },
};

int main(int argc, char **argv)
{
	engine = wasm_engine_new();
	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
		if (argc < 2 || strcmp(argv[1], ways[i].name) != 0)
			continue;
		guest_expect(argc >= 2 + ways[i].words, "more arguments are needed");
		ways[i].go(argv + 2);
		wasm_engine_delete(engine);
		printf("%s: done\n", argv[1]);
		return 0;
	}
	guest_expect(false, "usage: modules WAY ...");
}
