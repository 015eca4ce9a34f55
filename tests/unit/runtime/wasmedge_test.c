/* SPDX-License-Identifier: MIT */
/*
 * wasmedge_test.c - a fake WasmEdge: whose the code is that comes while it is called, which
 * instance a call is of, and what ends with what.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>

#include "preload/hook/hook.h"
#include "preload/runtime/wasmedge_abi.h"
#include "tests/unit/runtime/fake_engine.h"
#include "tests/unit/runtime/load_record.h"

extern char WasmEdge_VMDelete[], WasmEdge_ExecutorInvoke[], WasmEdge_LoaderParseFromFile[],
	WasmEdge_VMExecute[], WasmEdge_VMRunWasmFromFile[], __register_frame[];
const void *const pulled[] = {
	WasmEdge_VMDelete,  WasmEdge_ExecutorInvoke,	WasmEdge_LoaderParseFromFile,
	WasmEdge_VMExecute, WasmEdge_VMRunWasmFromFile, __register_frame
};

/* Its calls fail with fake_code; what it makes has the address that the test says. */
static const char fake_wasmedge[] =
	"typedef struct { unsigned code; } result; typedef struct { unsigned n; void *p; } text;\n"
	"unsigned fake_code; void *fake_made, *fake_named, *fake_active;\n"
	"static result done(void **out) { result r = { fake_code }; body();\n"
	"	if (fake_register) fake_register(fake_frames); if (out) *out = fake_made; return "
	"r; }\n"
	"const char *WasmEdge_VersionGet(void) { return \"0.14.1\"; }\n"
	"void *WasmEdge_VMGetActiveModule(void *v) { return fake_active; }\n"
	"void *WasmEdge_VMGetRegisteredModule(void *v, text n) { return fake_named; }\n"
	"result WasmEdge_LoaderParseFromFile(void *l, void **m, void *p) { return done(m); }\n"
	"result WasmEdge_LoaderParseFromBytes(void *l, void **m, text b) { return done(m); }\n"
	"void WasmEdge_ASTModuleDelete(void *m) { body(); }\n"
	"result WasmEdge_VMLoadWasmFromBytes(void *v, text b) { return done(0); }\n"
	"result WasmEdge_VMLoadWasmFromASTModule(void *v, void *m) { return done(0); }\n"
	"void WasmEdge_VMDelete(void *v) { body(); }\n"
	"result WasmEdge_ExecutorInstantiate(void *e, void **i, void *s, void *m) { return "
	"done(i); }\n"
	"void WasmEdge_ModuleInstanceDelete(void *m) { body(); }\n"
	"result WasmEdge_ExecutorInvoke(void *e, void *f, void *a, unsigned n, void *r, unsigned "
	"m) { return done(0); }\n"
	"result WasmEdge_VMInstantiate(void *v) { return done(0); }\n"
	"result WasmEdge_VMRegisterModuleFromBytes(void *v, text n, text b) { return done(0); }\n"
	"result WasmEdge_VMExecute(void *v, text f, void *a, unsigned n, void *r, unsigned m) { "
	"return done(0); }\n"
	"result WasmEdge_VMExecuteRegistered(void *v, text t, text f, void *a, unsigned n, void "
	"*r, unsigned m) { return done(0); }\n"
	"result WasmEdge_VMRunWasmFromBytes(void *v, text b, text f, void *a, unsigned n, void "
	"*r, unsigned m) { return done(0); }\n"
	"void *WasmEdge_VMAsyncExecute(void *v, text f, void *a, unsigned n) { body(); return v; "
	"}\n";
static const char fake_unwinder[] =
	"void __register_frame(const void *p) { } void __deregister_frame(const void *p) { }\n";

static const uint8_t plain[] = "\0asm\1\0\0\0", compiled[] = "\0asm\1\0\0\0\0\012\010wasmedge\1";
static const struct wasmedge_string name = { 1, "f" };
static const struct wasmedge_bytes plain_bytes = { sizeof(plain) - 1, plain },
				   compiled_bytes = { sizeof(compiled) - 1, compiled };
static void *engine, *unwinder;
/* What handles point to: each has a module instance for its first word. */
static void *modules[8], *instances[8], *functions[8], *vms[8];

#define ENGINE(symbol, type) (*(type *)dlsym(engine, #symbol))
#define CALL(symbol, result_type, ...) \
	(((result_type(*)(__VA_ARGS__))dlsym(engine, "WasmEdge_" #symbol)))

typedef struct wasmedge_result result;

static int set_up(void **context)
{
	const char *const parts[] = { fake_wasmedge, NULL }, *const other[] = { fake_unwinder,
										NULL };

	(void)context;
	record_reset();
	state.on = true;
	engine = fake_open("wasmedge.so", parts);
	unwinder = fake_open("unwinder.so", other);
	return engine != NULL && unwinder != NULL ? 0 : -1;
}

static int tear_down(void **context)
{
	(void)context;
	state.on = false;
	return dlclose(engine) | dlclose(unwinder);
}

static void registers_code(bool does)
{
	ENGINE(fake_register, void *) = does ? dlsym(unwinder, "__register_frame") : NULL;
}

static void answer(unsigned int code, void *made)
{
	ENGINE(fake_code, unsigned int) = code;
	ENGINE(fake_made, void *) = made;
}

static bool parse(void *module, struct wasmedge_bytes bytes)
{
	void *made = NULL;
	result got;

	ENGINE(fake_made, void *) = module;
	got = CALL(LoaderParseFromBytes, result, void *, void **,
		   struct wasmedge_bytes)(NULL, &made, bytes);
	assert_ptr_equal(made, module);
	return wasmedge_succeeded(got);
}

static bool instantiate(void *instance, void *module)
{
	void *made = NULL;
	result got;

	ENGINE(fake_made, void *) = instance;
	got = CALL(ExecutorInstantiate, result, void *, void **, void *, void *)(NULL, &made, NULL,
										 module);
	return wasmedge_succeeded(got);
}

static void invoke(void *function)
{
	int entered = record.entered;

	CALL(ExecutorInvoke, result, void *, void *, void *, uint32_t, void *, uint32_t)
	(NULL, function, NULL, 0, NULL, 0);
	assert_int_equal(record.entered, entered + 1);
	assert_int_equal(record.left, record.entered);
}

static void call_one(const char *symbol, void *handle)
{
	((void (*)(void *))dlsym(engine, symbol))(handle);
}

/* ---- code ------------------------------------------------------------------------------------ */

static void code_that_is_registered_is_the_module_that_is_parsed(void **context)
{
	(void)context;
	registers_code(true);
	assert_true(parse(&modules[0], compiled_bytes));
	registers_code(false);
	assert_int_equal(record.announced, 1);
	assert_string_equal(record.event.engine, "WasmEdge");
	assert_string_equal(record.event.version, "0.14.1");
	assert_true(record.event.glue_comes_first);
	assert_false(record.event.is_interpreted);
	for (uint32_t i = 0; i < 2; i++) {
		functions[i] = &instances[i];
		assert_true(instantiate(&instances[i], &modules[0]));
		assert_int_equal(record.loading_of[i + 1], 1);
	}
	for (uint32_t i = 0; i < 4; i++) {
		invoke(&functions[i & 1]);
		assert_int_equal(record.instance, (i & 1) + 1);
	}
	call_one("WasmEdge_ModuleInstanceDelete", &instances[0]);
	assert_int_equal(record.store_forgotten, record.keys[0].store);
	invoke(&functions[0]); /* of nobody that is known */
	assert_int_equal(record.instance, 0);
	call_one("WasmEdge_ASTModuleDelete", &modules[0]);
	invoke(&functions[1]); /* instances live on */
	assert_int_equal(record.instance, 2);
	call_one("WasmEdge_ModuleInstanceDelete", &instances[1]);
	assert_int_equal(record.announced, 1);
	assert_int_equal(record.bytes_begun, record.bytes_freed + 1);
}

static void without_code_a_module_is_interpreted(void **context)
{
	(void)context;
	assert_true(parse(&modules[1], plain_bytes));
	assert_int_equal(record.announced, 0);
	for (uint32_t i = 0; i < 2; i++)
		assert_true(instantiate(&instances[i], &modules[1]));
	assert_int_equal(record.announced, 1);
	assert_true(record.event.is_interpreted);
	assert_ptr_equal(record.event.handle, &modules[1]);
	assert_int_equal(record.loading_of[1], 1);
	assert_int_equal(record.loading_of[2], 1);
	call_one("WasmEdge_ASTModuleDelete", &modules[1]);
	assert_ptr_equal(record.forgotten, &modules[1]);
	call_one("WasmEdge_ModuleInstanceDelete", &instances[0]);
	call_one("WasmEdge_ModuleInstanceDelete", &instances[1]);
	assert_int_equal(record.bytes_begun, record.bytes_freed + 1);
}

static void another_engines_code_is_not_taken(void **context)
{
	void (*other)(const void *) = (void (*)(const void *))dlsym(unwinder, "__register_frame");

	(void)context;
	other(modules); /* before any call */
	ENGINE(fake_body, void *) = NULL;
	assert_true(parse(&modules[2], plain_bytes));
	other(modules); /* behind it; the registrar is this program, which is no engine */
	assert_int_equal(record.registrations, 2);
	assert_int_equal(record.announced, 0);
	call_one("WasmEdge_ASTModuleDelete", &modules[2]);
}

static void (*registrar)(const void *);
static volatile int registered_here;

static void register_from_here(void)
{
	registrar(modules);
	registered_here++; /* no tail call: it is this program that registers */
}

static void code_of_another_object_within_a_call_is_not_taken(void **context)
{
	(void)context;
	registrar = (void (*)(const void *))dlsym(unwinder, "__register_frame");
	ENGINE(fake_body, void *) = (void *)register_from_here;
	assert_true(parse(&modules[2], plain_bytes));
	ENGINE(fake_body, void *) = NULL;
	assert_int_equal(record.registrations, 1);
	assert_int_equal(record.announced, 0);
	call_one("WasmEdge_ASTModuleDelete", &modules[2]);
	assert_int_equal(record.bytes_begun, record.bytes_freed);
}

static void what_fails_leaves_nothing(void **context)
{
	(void)context;
	answer(2, NULL);
	assert_false(parse(&modules[3], plain_bytes));
	assert_int_equal(record.bytes_begun, record.bytes_freed);
	answer(0, NULL);
	assert_true(parse(&modules[3], plain_bytes));
	answer(0x20, NULL);
	assert_false(instantiate(NULL, &modules[3]));
	assert_int_equal(record.announced, 0);
	assert_int_equal(record.store_forgotten, record.keys[0].store);
	call_one("WasmEdge_ASTModuleDelete", &modules[3]);
	call_one("WasmEdge_ASTModuleDelete", &modules[3]); /* the host's mistake */
	assert_int_equal(record.bytes_begun, record.bytes_freed);
}

/* ---- VMs ------------------------------------------------------------------------------------- */

static void execute(void *vm)
{
	CALL(VMExecute, result, void *, struct wasmedge_string, void *, uint32_t, void *, uint32_t)
	(vm, name, NULL, 0, NULL, 0);
}

static void load_and_instantiate(void *vm, void *instance)
{
	CALL(VMLoadWasmFromBytes, result, void *, struct wasmedge_bytes)(vm, plain_bytes);
	ENGINE(fake_active, void *) = instance;
	CALL(VMInstantiate, result, void *)(vm);
}

static void a_vm_has_an_active_instance(void **context)
{
	(void)context;
	execute(&vms[0]); /* none yet */
	assert_int_equal(record.instance, 0);
	load_and_instantiate(&vms[0], &instances[0]);
	execute(&vms[0]);
	assert_int_equal(record.instance, 1);
	/* the next may have the address of the one before */
	load_and_instantiate(&vms[0], &instances[0]);
	assert_int_equal(record.store_forgotten, record.keys[0].store);
	execute(&vms[0]);
	assert_int_equal(record.instance, 2);
	functions[0] = &instances[0];
	invoke(&functions[0]);
	assert_int_equal(record.instance, 2);
	call_one("WasmEdge_VMDelete", &vms[0]);
	assert_int_equal(record.store_forgotten, record.keys[1].store);
	execute(&vms[0]);
	assert_int_equal(record.instance, 0);
	assert_int_equal(record.bytes_begun, record.bytes_freed + record.announced);
}

/* A JIT: the code comes when the VM instantiates what it loaded long before. */
static void code_that_comes_late_is_the_loaded_module(void **context)
{
	(void)context;
	CALL(VMLoadWasmFromBytes, result, void *, struct wasmedge_bytes)(&vms[4], plain_bytes);
	ENGINE(fake_active, void *) = &instances[6];
	registers_code(true);
	CALL(VMInstantiate, result, void *)(&vms[4]);
	registers_code(false);
	assert_int_equal(record.announced, 1);
	assert_false(record.event.is_interpreted);
	assert_true(record.event.glue_comes_first);
	assert_non_null(record.event.bytes);
	assert_int_equal(record.loading_of[1], 1);
	execute(&vms[4]);
	assert_int_equal(record.instance, 1);
	call_one("WasmEdge_VMDelete", &vms[4]);
	assert_int_equal(record.bytes_begun, record.bytes_freed + 1);
}

static void registered_modules_end_with_their_vm(void **context)
{
	(void)context;
	ENGINE(fake_named, void *) = &instances[3];
	CALL(VMRegisterModuleFromBytes, result, void *, struct wasmedge_string,
	     struct wasmedge_bytes)
	(&vms[1], name, plain_bytes);
	CALL(VMExecuteRegistered, result, void *, struct wasmedge_string, struct wasmedge_string,
	     void *, uint32_t, void *, uint32_t)
	(&vms[1], name, name, NULL, 0, NULL, 0);
	assert_int_equal(record.instance, 1);
	assert_int_equal(record.loading_of[1], 1);
	call_one("WasmEdge_VMDelete", &vms[1]);
	assert_int_equal(record.store_forgotten, record.keys[0].store);
	functions[0] = &instances[3];
	invoke(&functions[0]);
	assert_int_equal(record.instance, 0);
}

static uint32_t loading_within;

static void note_loading(void)
{
	loading_within = record.loading_of[record.instance];
}

static void run(void *vm, struct wasmedge_bytes bytes)
{
	loading_within = UINT32_MAX;
	CALL(VMRunWasmFromBytes, result, void *, struct wasmedge_bytes, struct wasmedge_string,
	     void *, uint32_t, void *, uint32_t)
	(vm, bytes, name, NULL, 0, NULL, 0);
}

/* What runs at once must be known before it runs: interpreted, or to have code. */
static void what_runs_at_once_is_known_meanwhile(void **context)
{
	(void)context;
	ENGINE(fake_active, void *) = &instances[4];
	ENGINE(fake_body, void *) = (void *)note_loading;
	run(&vms[2], plain_bytes);
	assert_int_equal(loading_within, 1);
	assert_true(record.event.is_interpreted);
	registers_code(true);
	run(&vms[2], compiled_bytes);
	registers_code(false);
	assert_int_equal(loading_within, 0); /* the code comes a moment later */
	assert_int_equal(record.loading_of[2], 2);
	assert_false(record.event.is_interpreted);
	ENGINE(fake_body, void *) = NULL;
	execute(&vms[2]);
	assert_int_equal(record.instance, 2);
	call_one("WasmEdge_VMDelete", &vms[2]);
	assert_int_equal(record.bytes_begun, record.bytes_freed + record.announced);
}

/* ---- other threads --------------------------------------------------------------------------- */

static void *started(void *argument)
{
	*(uint32_t *)argument = record.instance;
	return NULL;
}

static uint32_t instance_in_thread;

static void *in_thread(void *inherited)
{
	struct inheritance *is = inherited;

	return is->run(is, started, &instance_in_thread);
}

/* As pthread_create does it, which is in another room. */
static void make_thread(void)
{
	struct inheritance *inherited = state_inheritance;
	pthread_t thread;

	assert_non_null(inherited);
	state_inheritance = NULL;
	assert_int_equal(pthread_create(&thread, NULL, in_thread, inherited), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
}

static void *execute_elsewhere(void *vm)
{
	return CALL(VMAsyncExecute, void *, void *, struct wasmedge_string, void *,
		    uint32_t)(vm, name, NULL, 0);
}

static void a_call_goes_on_in_a_thread(void **context)
{
	(void)context;
	load_and_instantiate(&vms[3], &instances[5]);
	ENGINE(fake_body, void *) = (void *)make_thread;
	execute_elsewhere(&vms[3]);
	ENGINE(fake_body, void *) = NULL;
	assert_int_equal(instance_in_thread, 1);
	assert_int_equal(record.left, record.entered);
	/* no thread was made of it */
	execute_elsewhere(&vms[3]);
	assert_null(state_inheritance);
	call_one("WasmEdge_VMDelete", &vms[3]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			code_that_is_registered_is_the_module_that_is_parsed, set_up, tear_down),
		cmocka_unit_test_setup_teardown(without_code_a_module_is_interpreted, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(another_engines_code_is_not_taken, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(code_of_another_object_within_a_call_is_not_taken,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_fails_leaves_nothing, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_vm_has_an_active_instance, set_up, tear_down),
		cmocka_unit_test_setup_teardown(code_that_comes_late_is_the_loaded_module, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(registered_modules_end_with_their_vm, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(what_runs_at_once_is_known_meanwhile, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_call_goes_on_in_a_thread, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, fake_remove);
}
