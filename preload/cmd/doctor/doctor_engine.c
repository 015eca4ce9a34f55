/* SPDX-License-Identifier: MIT */
/*
 * doctor_engine.c - which engines a file holds, of which version, and how their code would be seen.
 *
 * A library of an engine exports its C API. An engine that is linked into a program is known by
 * texts in it: paths of its sources, which panics and assertions name.
 */
#include "preload/cmd/doctor/doctor.h"
#include "preload/cmd/doctor/doctor_version.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Versions of wasmtime that the tests run (README, "What it sees today"). */
enum { WASMTIME_LEAST = 25, WASMTIME_MOST = 50 };

enum engine_id { WASMTIME, WASMER, WASMEDGE, WAMR, V8, WASMI, WASM3, LLVM, ENGINES };

static const struct engine {
	const char *name;
	const char *symbol;  /* that its C API exports */
	const char *unseen;  /* why nothing of it is seen, unless by ONLY_BY; NULL: it is */
	const char *only_by; /* one of doctor_engine.seen_by; NULL */
	const char *compile; /* how to have it interpret nothing; NULL: it does not */
} engines[ENGINES] = {
	[WASMTIME] = { "wasmtime", "wasmtime_module_new", NULL, NULL, NULL },
	[WASMER] = { "wasmer", "wasmer_version", NULL, NULL, NULL },
	[WASMEDGE] = { "WasmEdge", "WasmEdge_VersionGet",
		       "inside a program, where nothing of it is seen", "calls",
		       "wasmedge compile GUEST.wasm GUEST.so, and let the host load that; or its "
		       "JIT" },
	[WAMR] = { "WAMR", "wasm_runtime_init", "inside a program, where nothing of it is seen",
		   "calls",
		   "wamrc -o GUEST.aot GUEST.wasm, and let the host load that; or its JIT" },
	/* what tells its code is asked for by this name */
	[V8] = { "V8",
		 "_ZN2v87Isolate22SetJitCodeEventHandlerENS_19JitCodeEventOptionsEPFvPKNS_12JitCode"
		 "EventEE",
		 "it exports nothing by which its code could be asked for", "events", NULL },
	[WASMI] = { "wasmi", NULL, "it interprets: no native frames to sample", NULL, NULL },
	[WASM3] = { "wasm3", "m3_NewEnvironment", "it interprets: no native frames to sample", NULL,
		    NULL },
	[LLVM] = { "LLVM", "LLVMOrcCreateLLJIT", NULL, NULL, NULL },
};

/* Texts of programs that have the engine inside. */
static const struct marker {
	enum engine_id engine;
	const char *text;
	bool has_version;   /* a number must follow, and is its version */
	const char *behind; /* what must stand behind that; NULL: anything */
} markers[] = {
	/* the path of its sources, .../wasmtime-43.0.2/src/... */
	{ WASMTIME, "/wasmtime-", true, "/src/" },
	/* what `wasmtime --help` begins with; its version is kept behind (49) */
	{ WASMTIME, "Wasmtime WebAssembly Runtime", true, NULL },
	/* built in its own source tree */
	{ WASMTIME, "crates/wasmtime/src/", false, NULL },
	{ WASMER, "/wasmer-", true, "/src/" },
	{ WASMER, "/wasmer-vm-", true, "/src/" },
	/* built from its own sources: the name of a libcall */
	{ WASMER, "wasmer_vm_memory32_grow", false, NULL },
	/* C++ names of types */
	{ WASMEDGE, "N8WasmEdge", false, NULL },
	{ WAMR, "WASM module load failed", false, NULL },
	/* its trace category */
	{ V8, "v8.wasm.", false, NULL },
	{ WASMI, "/wasmi-", true, "/src/" },
};

enum { OVERLAP = 128 };

/* ---- looking --------------------------------------------------------------------------------- */

/* What one file was found to hold. */
struct findings {
	bool by_text[ENGINES];
	char version[ENGINES][32];
};

/* The number at the beginning of TEXT, if what the marker wants stands behind it. */
static bool take_version(struct findings *findings, const struct marker *marker, const char *text,
			 size_t size)
{
	size_t behind = marker->behind != NULL ? strlen(marker->behind) : 0;
	char version[32];
	size_t length;

	doctor_version_read(version, text, size);
	length = strlen(version);
	if (length == 0 || behind > size - length ||
	    (behind != 0 && memcmp(text + length, marker->behind, behind) != 0))
		return false;
	strcpy(findings->version[marker->engine], version);
	return true;
}

static void look_for(struct findings *findings, const struct marker *marker, const uint8_t *bytes,
		     size_t size)
{
	size_t length = strlen(marker->text);
	const uint8_t *at = bytes, *end = bytes + size;

	if (findings->version[marker->engine][0] != '\0' ||
	    (findings->by_text[marker->engine] && !marker->has_version))
		return;
	while ((at = memmem(at, (size_t)(end - at), marker->text, length)) != NULL) {
		at += length;
		if (!marker->has_version ||
		    take_version(findings, marker, (const char *)at, (size_t)(end - at))) {
			findings->by_text[marker->engine] = true;
			return;
		}
	}
}

static void look_at_piece(void *context, const uint8_t *bytes, size_t size)
{
	for (size_t i = 0; i < ARRAY_SIZE(markers); i++)
		look_for(context, &markers[i], bytes, size);
}

/* ---- adding what was found ------------------------------------------------------------------- */

static bool is_known(const struct doctor *doctor, const char *name, const char *path)
{
	for (size_t i = 0; i < doctor->engine_count; i++) {
		if (strcmp(doctor->engines[i].name, name) == 0 &&
		    strcmp(doctor->engines[i].path, path) == 0)
			return true;
	}
	return false;
}

static void add_engine(struct doctor *doctor, enum engine_id id, const char *path,
		       const char *version, const char *how, const char *seen_by)
{
	const struct engine *row = &engines[id];
	struct doctor_engine *engine;

	if (doctor->engine_count == DOCTOR_ENGINES_MAX || is_known(doctor, row->name, path))
		return;
	engine = &doctor->engines[doctor->engine_count++];
	engine->name = row->name;
	engine->how = how;
	engine->seen_by =
		row->unseen == NULL || (row->only_by != NULL && strcmp(seen_by, row->only_by) == 0)
			? seen_by
			: NULL;
	snprintf(engine->version, sizeof(engine->version), "%s", version);
	snprintf(engine->path, sizeof(engine->path), "%s", path);
}

static void look_at_exports(struct doctor *doctor, const struct elffile *file, const char *path,
			    struct findings *findings, bool in_program)
{
	for (size_t i = 0; i < ENGINES; i++) {
		char version[32] = "";

		if (engines[i].symbol == NULL ||
		    elffile_symbol(file, engines[i].symbol) != ELFFILE_DEFINED)
			continue;
		if (i == V8) { /* in node itself, or in its libnode.so */
			findings->by_text[i] = false;
			add_engine(doctor, V8, path, "", "its exports", "events");
			continue;
		}
		if (in_program) {
			/* Calls inside of one file pass no table that we could change. */
			findings->by_text[i] = true;
			continue;
		}
		findings->by_text[i] = false;
		if (i == WASMTIME || i == WASMEDGE)
			doctor_version_of_library(version, path, engines[i].name);
		add_engine(doctor, (enum engine_id)i, path,
			   version[0] != '\0' ? version : findings->version[i], "its exports",
			   i == LLVM ? "registration" : "calls");
	}
}

void doctor_engine_look(struct doctor *doctor, const struct elffile *file, const char *path,
			bool in_program)
{
	bool registers = elffile_symbol(file, "__register_frame") == ELFFILE_WANTED;
	struct findings findings = { 0 };

	if (elffile_texts(file, OVERLAP, look_at_piece, &findings) != 0)
		return;
	look_at_exports(doctor, file, path, &findings, in_program);
	for (size_t i = 0; i < ENGINES; i++) {
		if (findings.by_text[i])
			add_engine(doctor, (enum engine_id)i, path, findings.version[i],
				   "texts in it", registers ? "registration" : "scan");
	}
}

bool doctor_engine_look_at(struct doctor *doctor, const char *path)
{
	size_t before = doctor->engine_count;
	struct elffile file;

	if (elffile_open(&file, path) != 0)
		return false;
	doctor_engine_look(doctor, &file, path, false);
	elffile_close(&file);
	return doctor->engine_count > before;
}

/* ---- telling --------------------------------------------------------------------------------- */

static const struct engine *row_of(const struct doctor_engine *engine)
{
	const struct engine *row = engines;

	while (strcmp(row->name, engine->name) != 0)
		row++;
	return row;
}

static bool any_is_seen(const struct doctor *doctor)
{
	for (size_t i = 0; i < doctor->engine_count; i++) {
		if (doctor->engines[i].seen_by != NULL)
			return true;
	}
	return false;
}

static void tell_calls(struct doctor *doctor, const struct doctor_engine *engine)
{
	const struct engine *row = row_of(engine);
	int major = atoi(engine->version);

	if (row == &engines[WASMTIME] && major != 0 &&
	    (major < WASMTIME_LEAST || major > WASMTIME_MOST))
		doctor_add(doctor, DOCTOR_LIMIT, "engine",
			   "names and instances may be missing; versions 25 to 50 are tested",
			   "%s %s, a version that is not tested (%s)", engine->name,
			   engine->version, engine->path);
	else
		doctor_add(doctor, DOCTOR_OK, "engine", NULL,
			   "%s %s: modules and instances are seen by calls of its C API (%s)",
			   engine->name,
			   engine->version[0] != '\0' ? engine->version
						      : "of a version that it does not say",
			   engine->path);
	if (row->compile != NULL)
		doctor_add(doctor, DOCTOR_LIMIT, "interpreter", row->compile,
			   "%s interprets a module that was not compiled ahead of time, unless its "
			   "JIT is on: then the time of each instance is seen, and no functions",
			   engine->name);
}

static void tell_wasmer_inside(struct doctor *doctor, const struct doctor_engine *engine,
			       bool registers)
{
	const char *space = engine->version[0] != '\0' ? " " : "";

	if (!registers) {
		doctor_add(doctor, DOCTOR_NO, "engine", "run the guest with wasmtime",
			   "%s%s%s inside %s registers no unwind tables, by which its modules are "
			   "seen",
			   engine->name, space, engine->version, engine->path);
		return;
	}
	doctor_add(doctor, DOCTOR_OK, "engine", NULL,
		   "%s%s%s inside %s: modules are seen when it registers their unwind tables",
		   engine->name, space, engine->version, engine->path);
	doctor_add(doctor, DOCTOR_LIMIT, "names", "let the host open the modules as .wasm files",
		   "functions have the names of a .wasm file that the host opened and that has as "
		   "many, else numbers");
}

static void tell_instances(struct doctor *doctor)
{
	doctor_add(doctor, DOCTOR_LIMIT, "instances",
		   "a host that loads libwasmtime.so shows them, too",
		   "not told apart in an engine that is linked in: numbers are per module");
}

/* An engine is there that says what it has compiled. */
static bool knows_compiler(const struct doctor *doctor)
{
	for (size_t i = 0; i < doctor->engine_count; i++) {
		if (row_of(&doctor->engines[i]) == &engines[WASMEDGE] &&
		    doctor->engines[i].seen_by != NULL)
			return true;
	}
	return false;
}

static void tell_linked_in(struct doctor *doctor, const struct doctor_engine *engine)
{
	bool registers = strcmp(engine->seen_by, "registration") == 0;
	const struct engine *row = row_of(engine);

	if (row == &engines[WASMER]) {
		tell_wasmer_inside(doctor, engine, registers);
		if (registers)
			tell_instances(doctor);
		return;
	}
	if (row == &engines[LLVM]) {
		if (knows_compiler(doctor))
			return;
		doctor_add(doctor, DOCTOR_LIMIT, "engine",
			   "have it keep its list for debuggers or write a jitdump (PostgreSQL: "
			   "jit_debugging_support, jit_profiling_support)",
			   "%s: code that it makes is shown as [jit 0xADDR+SIZE], without names "
			   "(%s)",
			   engine->name, engine->path);
		return;
	}
	doctor_add(doctor, DOCTOR_OK, "engine", NULL, "%s%s%s inside %s: modules are seen %s",
		   engine->name, engine->version[0] != '\0' ? " " : "", engine->version,
		   engine->path,
		   registers ? "when it registers their unwind tables, else by a scan of memory"
			     : "by a scan of memory: it registers nothing");
	tell_instances(doctor);
}

static void tell_events(struct doctor *doctor, const struct doctor_engine *engine)
{
	doctor_add(doctor, DOCTOR_OK, "engine", NULL,
		   "%s: functions of WebAssembly, and the JavaScript around them, are seen by its "
		   "code events, from the first function of WebAssembly on (%s)",
		   engine->name, engine->path);
	doctor_add(
		doctor, DOCTOR_LIMIT, "instances", NULL,
		"%s tells no module of a function: modules are told apart by where their code is "
		"and by names; a .wasm file that the host opens gives them theirs",
		engine->name);
}

static void tell_unseen(struct doctor *doctor, const struct doctor_engine *engine,
			enum doctor_verdict verdict)
{
	doctor_add(doctor, verdict, "engine", "run the guest with wasmtime", "%s%s%s: %s (%s)",
		   engine->name, engine->version[0] != '\0' ? " " : "", engine->version,
		   row_of(engine)->unseen, engine->path);
}

void doctor_engine_tell(struct doctor *doctor)
{
	enum doctor_verdict unseen = any_is_seen(doctor) ? DOCTOR_LIMIT : DOCTOR_NO;

	for (size_t i = 0; i < doctor->engine_count; i++) {
		const struct doctor_engine *engine = &doctor->engines[i];

		if (engine->seen_by == NULL)
			tell_unseen(doctor, engine, unseen);
		else if (strcmp(engine->seen_by, "events") == 0)
			tell_events(doctor, engine);
		else if (strcmp(engine->seen_by, "calls") == 0)
			tell_calls(doctor, engine);
		else
			tell_linked_in(doctor, engine);
	}
	if (doctor->engine_count == 0)
		doctor_add(doctor, DOCTOR_LIMIT, "engine", NULL,
			   doctor->pid != 0
				   ? "none is loaded yet; one that it loads later is seen then"
				   : "none in the program or the libraries it needs; one that it "
				     "loads later is seen then");
}
