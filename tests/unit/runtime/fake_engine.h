/* SPDX-License-Identifier: MIT */
/*
 * fake_engine.h - a library with the names of Wasmtime's C API, for what a real one cannot be made
 * to do. Built by the test itself, opened locally, reached through our dlsym.
 *
 * A context is a struct fake_context of the test. Instance N of a store has three exports: a
 * memory, a function that another instance defines, and one of its own code.
 */
#ifndef TESTS_UNIT_RUNTIME_FAKE_ENGINE_H
#define TESTS_UNIT_RUNTIME_FAKE_ENGINE_H

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "preload/runtime/wasmtime_abi.h"

struct fake_context {
	uint64_t store_id;
	uint64_t instances;
	bool traps, fails; /* the next instantiation */
};

static const char fake_types[] =
	"#include <stdbool.h>\n#include <stddef.h>\n#include <stdint.h>\n#include <stdlib.h>\n"
	"typedef struct { uint64_t store, word; } pair;\n"
	"typedef struct { uint64_t store_id, instances; bool traps, fails; } context;\n"
	"struct ref { uintptr_t array, wasm; uint64_t type; uint32_t *vmctx; };\n"
	"struct item { uint8_t kind; pair func; };\n"
	"int fake_calls; void (*fake_body)(void); void (*fake_register)(const void *);\n"
	"char fake_image[8192]; const void *fake_frames = fake_image + 128; bool fake_old;\n"
	"static char modules[64]; static int made; uint32_t fake_core[64][8]; struct ref "
	"fake_refs[64];\n"
	"static void body(void) { fake_calls++; if (fake_body) fake_body(); }\n"
	"static void *load(const void *bytes, size_t size, void **out) { fake_calls++;\n"
	"	if (size == 1) return modules; *out = &modules[made++ % 64];\n"
	"	if (fake_register) fake_register(fake_frames); return 0; }\n"
	"static void *start(context *c, pair *i, void **trap) { body(); if (c->fails) return "
	"modules;\n"
	"	if (c->traps) { *trap = modules; return 0; }\n"
	"	i->store = c->store_id; i->word = c->instances++; return 0; }\n"
	/* before 34 a function is an index, from 0 */
	"static void function(pair *f, uint64_t store, int n) { f->store = store; f->word = n;\n"
	"	fake_core[n][0] = 0x65726f63; fake_refs[n].vmctx = fake_core[n];\n"
	"	fake_refs[n].wasm = (uintptr_t)fake_image + 64; if (!fake_old) f->word = "
	"(uintptr_t)&fake_refs[n]; }\n";

static const char fake_modules[] =
	"void *wasmtime_module_new(void *e, const void *w, size_t n, void **m) { return load(w, n, "
	"m); }\n"
	"void *wasmtime_module_deserialize(void *e, const void *w, size_t n, void **m) { return "
	"load(w, n, m); }\n"
	"void *wasmtime_module_deserialize_file(void *e, const char *p, void **m) { return load(p, "
	"9, m); }\n"
	"void *wasmtime_module_clone(void *m) { fake_calls++; return &modules[made++]; }\n"
	"void wasmtime_module_delete(void *m) { body(); }\n"
	"void *wasmtime_linker_instantiate_pre(void *l, void *m, void **p) { return load(0, 9, p); "
	"}\n"
	"void wasmtime_instance_pre_delete(void *p) { body(); }\n"
	"void *wasmtime_instance_pre_module(void *p) { fake_calls++; return &modules[made++]; }\n"
	"void wasmtime_module_image_range(void *m, void **s, void **e) { *s = fake_image; *e = "
	"fake_image + 4096; }\n";

static const char fake_instances[] =
	"void *wasmtime_instance_new(context *c, void *m, void *i, size_t n, pair *o, void **t) { "
	"return start(c, o, t); }\n"
	"void *wasmtime_linker_instantiate(void *l, context *c, void *m, pair *o, void **t) { "
	"return start(c, o, t); }\n"
	"void *wasmtime_instance_pre_instantiate(void *p, context *c, pair *o, void **t) { return "
	"start(c, o, t); }\n"
	"void *wasmtime_linker_module(void *l, context *c, char *n, size_t s, void *m) { body(); "
	"return 0; }\n"
	"bool wasmtime_instance_export_nth(context *c, pair *i, size_t n, char **s, size_t *z, "
	"struct item *o) {\n"
	"	if (n > 2) return false; o->kind = n ? 0 : 3; *s = \"f\"; *z = 1;\n"
	"	if (n == 1) { function(&o->func, i->store, 60); fake_refs[60].wasm = 1; }\n"
	"	if (n == 2) function(&o->func, i->store, i->word + (fake_old ? 0 : 1)); "
	"return true; }\n"
	"bool wasmtime_instance_export_get(context *c, pair *i, char *s, size_t z, struct item *o) "
	"{\n"
	"	char *n; return wasmtime_instance_export_nth(c, i, 2, &n, &z, o); }\n"
	"void *wasmtime_store_context(void *s) { return s; }\n"
	"void wasmtime_store_delete(void *s) { body(); }\n"
	"void *wasmtime_func_call(void *c, pair *f, void *a, size_t n, void *r, size_t m, void "
	"**t) {\n"
	"	body(); return n == 3 && m == 4 ? 0 : modules; }\n"
	"void *wasmtime_func_call_unchecked(void *c, pair *f, void *a, size_t n, void **t) { "
	"body(); return 0; }\n";

static const char fake_futures[] =
	"struct future { int kind, polls; context *c; pair *out; void **trap, **error; };\n"
	"static void *future(int kind, context *c, pair *o, void **t, void **e) {\n"
	"	struct future *f = calloc(1, sizeof(*f)); *f = (struct future){ kind, 0, c, o, t, "
	"e }; return f; }\n"
	"void *wasmtime_func_call_async(context *c, pair *f, void *a, size_t n, void *r, size_t m, "
	"void **t, void **e) { return future(0, c, 0, t, e); }\n"
	"void *wasmtime_linker_instantiate_async(void *l, context *c, void *m, pair *o, void **t, "
	"void **e) { return future(1, c, o, t, e); }\n"
	"void *wasmtime_instance_pre_instantiate_async(void *p, context *c, pair *o, void **t, "
	"void **e) { return future(1, c, o, t, e); }\n"
	"void *wasmtime_component_linker_instantiate_async(void *l, context *c, void *m, pair *o, "
	"void **e) { return future(1, c, o, 0, e); }\n"
	"void *wasmtime_component_func_call_async(pair *f, context *c, void *a, size_t n, void *r, "
	"size_t m, void **e) { return future(0, c, 0, 0, e); }\n"
	"bool wasmtime_call_future_poll(struct future *f) { if (f->polls++ == 0) { body(); return "
	"false; }\n"
	"	if (f->kind == 0) body(); else { void *e = start(f->c, f->out, f->trap); if (e) "
	"*f->error = e; } return true; }\n"
	"void wasmtime_call_future_delete(struct future *f) { body(); free(f); }\n";

static const char fake_components[] =
	"void *wasmtime_component_new(void *e, const void *w, size_t n, void **m) { return load(w, "
	"n, m); }\n"
	"void *wasmtime_component_deserialize(void *e, const void *w, size_t n, void **m) { return "
	"load(w, n, m); }\n"
	"void *wasmtime_component_deserialize_file(void *e, const char *p, void **m) { return "
	"load(p, 9, m); }\n"
	"void *wasmtime_component_clone(void *m) { return &modules[made++]; }\n"
	"void wasmtime_component_delete(void *m) { body(); }\n"
	"void *wasmtime_component_linker_instantiate(void *l, context *c, void *m, pair *o) { "
	"return start(c, o, 0); }\n"
	"void *wasmtime_component_func_call(pair *f, context *c, void *a, size_t n, void *r, "
	"size_t m) { body(); return 0; }\n"
	"void *wasmtime_component_resource_any_drop(context *c, void *r) { body(); return 0; }\n";

/* wasm.h: a store is a context; an extern is { kind, store, word }, kind 0 a function. */
static const char fake_wasm_h[] =
	"struct vec { size_t size; void **data; }; struct handle { context *c; uint64_t index; };\n"
	"struct ext { uint64_t kind, store, word, rest[4]; };\n"
	"static struct handle handles[32]; static struct ext exts[32]; static int made_handles, "
	"made_exts;\n"
	"void *wasm_store_new(void *e) { body(); return e; }\n"
	"void *wasm_module_new(context *s, struct vec *b) { void *m; return load(b->data, b->size, "
	"&m) ? 0 : m; }\n"
	"void *wasm_module_deserialize(context *s, struct vec *b) { return wasm_module_new(s, b); "
	"}\n"
	"void *wasm_module_copy(void *m) { return &modules[made++]; }\n"
	"void wasm_module_delete(void *m) { body(); }\n"
	"void *wasm_module_share(void *m) { return &modules[made++]; }\n"
	"void *wasm_module_obtain(context *s, void *m) { return &modules[made++]; }\n"
	"void wasm_shared_module_delete(void *m) { body(); }\n"
	"void *wasm_instance_new(context *s, void *m, void *i, void **t) { pair p; struct handle "
	"*h;\n"
	"	if (start(s, &p, t) || s->traps) return 0; h = &handles[made_handles++]; h->c = s; "
	"h->index = p.word; return h; }\n"
	"void *wasm_instance_copy(struct handle *h) { struct handle *n = malloc(sizeof(*n)); *n = "
	"*h; return n; }\n"
	"void wasm_instance_delete(struct handle *h) { body(); }\n"
	"void wasm_instance_exports(struct handle *h, struct vec *v) { static void *list[2]; "
	"v->size = 2; v->data = list;\n"
	"	for (int i = 0; i < 2; i++) { struct ext *x = &exts[made_exts++]; pair f; "
	"function(&f, "
	"h->c->store_id, 1 + h->index + (fake_old ? 10 : 0));\n"
	"	x->kind = i ? 0 : 3; x->store = f.store; x->word = f.word; list[i] = x; } }\n"
	"uint8_t wasm_extern_kind(struct ext *x) { return x->kind; }\n"
	"void wasm_store_delete(void *s) { body(); }\n"
	"void *wasm_func_call(struct ext *f, void *a, void *r) { body(); return 0; }\n";

static char fake_folder[] = "/tmp/guestprof-fake-XXXXXX";

/* Builds PARTS (NULL-terminated, after fake_types) as NAME and opens it. */
static void *fake_open(const char *name, const char *const *parts)
{
	char command[256], path[128];
	void *handle;
	FILE *cc;

	if (access(fake_folder, F_OK) != 0 && mkdtemp(fake_folder) == NULL)
		return NULL;
	snprintf(path, sizeof(path), "%s/%s", fake_folder, name);
	snprintf(command, sizeof(command), "cc -w -O1 -shared -fPIC -xc -o %s -", path);
	cc = popen(command, "w");
	if (cc == NULL)
		return NULL;
	fputs(fake_types, cc);
	for (; *parts != NULL; parts++)
		fputs(*parts, cc);
	if (pclose(cc) != 0)
		return NULL;
	handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	return handle;
}

static int fake_remove(void **context)
{
	char command[64];

	(void)context;
	snprintf(command, sizeof(command), "rm -rf %s", fake_folder);
	return system(command);
}

#endif /* TESTS_UNIT_RUNTIME_FAKE_ENGINE_H */
