/* SPDX-License-Identifier: MIT */
/* v8_name_test.c - names as V8 11.3 and 14.6 give them, and damaged ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "preload/load/codequeue.h"
#include "preload/runtime/v8_name.h"

static struct code_event event;
static char shown[256], full[256];

static void read_name(const char *text, bool is_wasm)
{
	/* not terminated, and nothing behind it may be read */
	char *copy = malloc(strlen(text) + 1);

	memcpy(copy, text, strlen(text));
	event = (struct code_event){ 0 };
	v8_name_read(copy, strlen(text), is_wasm, &event);
	assert_true(event.shown_start + event.shown_length <= event.name_length);
	memcpy(shown, event.name + event.shown_start, event.shown_length);
	shown[event.shown_length] = '\0';
	memcpy(full, event.name, event.name_length);
	full[event.name_length] = '\0';
	free(copy);
}

static void expect(const char *text, bool is_wasm, enum code_kind kind, uint32_t index,
		   const char *as_full, const char *as_shown)
{
	read_name(text, is_wasm);
	assert_string_equal(full, as_full);
	assert_string_equal(shown, as_shown);
	assert_int_equal(event.kind, kind);
	assert_int_equal(event.index, index);
}

static void of_wasm(void **unused)
{
	(void)unused;
	expect("JS:inner-0-liftoff", true, CODE_WASM, 0, "inner-0-liftoff", "inner");
	expect("JS:a-b-17-turbofan", true, CODE_WASM, 17, "a-b-17-turbofan", "a-b");
	expect("JS:wasm-function[5]-5-liftoff", true, CODE_WASM, 5, "wasm-function[5]-5-liftoff",
	       "");
	expect("JS:wasm-to-js-<anonymous>-turbofan", true, CODE_GLUE, UINT32_MAX,
	       "wasm-to-js-<anonymous>-turbofan", "wasm-to-js-<anonymous>-turbofan");
	expect("JS:a::b-3-turbofan", true, CODE_WASM, 3, "a::b-3-turbofan", "a::b");
}

static void of_scripts(void **unused)
{
	static const char turn[] = "turn /t/run.js:4:14";

	(void)unused;
	expect("JS:~turn /t/run.js:4:14", false, CODE_SCRIPT, UINT32_MAX, "~turn /t/run.js:4:14",
	       turn);
	expect("JS:*turn /t/run.js:4:14", false, CODE_SCRIPT, UINT32_MAX, "*turn /t/run.js:4:14",
	       turn);
	expect("JS:+'turn /t/run.js:4:14", false, CODE_SCRIPT, UINT32_MAX, "+'turn /t/run.js:4:14",
	       turn);
	expect("JS:o*turn /t/run.js:4:14", false, CODE_SCRIPT, UINT32_MAX, "o*turn /t/run.js:4:14",
	       turn);
	expect("JS:^o /t/run.js:4:14", false, CODE_SCRIPT, UINT32_MAX, "^o /t/run.js:4:14",
	       "o /t/run.js:4:14");
	expect("JS:^ node:internal/x:3:9", false, CODE_SCRIPT, UINT32_MAX, "^ node:internal/x:3:9",
	       "node:internal/x:3:9");
	expect("RegExp:a+b", false, CODE_SCRIPT, UINT32_MAX, "a+b", "a+b");
}

static void of_its_own(void **unused)
{
	(void)unused;
	expect("Builtin:MapPrototypeSet", false, CODE_BUILTIN, UINT32_MAX, "MapPrototypeSet",
	       "MapPrototypeSet");
	expect("Builtin:JSEntry", false, CODE_ENTRY, UINT32_MAX, "JSEntry", "JSEntry");
	expect("Builtin:JSEntryTrampoline", false, CODE_GLUE, UINT32_MAX, "JSEntryTrampoline",
	       "JSEntryTrampoline");
	expect("Builtin:JSToWasmWrapperAsm", false, CODE_GLUE, UINT32_MAX, "JSToWasmWrapperAsm",
	       "JSToWasmWrapperAsm");
	expect("Builtin:InterpreterEntryTrampoline", false, CODE_SCRIPT, UINT32_MAX,
	       "(interpreted)", "(interpreted)");
	expect("BytecodeHandler:AddHandler", false, CODE_BUILTIN, UINT32_MAX, "AddHandler",
	       "AddHandler");
}

static void damaged(void **unused)
{
	static const char *const texts[] = {
		"",  "J",    "JS:",  "JS:-", "JS:--", "JS:a-b",	  "JS:a-99999999999-x",
		":", "JS:~", "JS:o", "JS: ", "-0-",   "Builtin:", "JS:-0-liftoff"
	};

	(void)unused;
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		read_name(texts[i], true);
		read_name(texts[i], false);
	}
	expect("JS:a-4294967295-x", true, CODE_GLUE, UINT32_MAX, "a-4294967295-x",
	       "a-4294967295-x");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(of_wasm),
		cmocka_unit_test(of_scripts),
		cmocka_unit_test(of_its_own),
		cmocka_unit_test(damaged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
