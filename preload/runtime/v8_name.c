/* SPDX-License-Identifier: MIT */
/* v8_name.c - names of V8's code events. Threads: any. */
#include "preload/runtime/v8_name.h"

#include <string.h>

#include "preload/load/codequeue.h"

struct text {
	const char *bytes;
	size_t length;
};

static bool starts_with(struct text text, const char *prefix)
{
	size_t length = strlen(prefix);

	return text.length >= length && memcmp(text.bytes, prefix, length) == 0;
}

static bool is(struct text text, const char *other)
{
	return text.length == strlen(other) && memcmp(text.bytes, other, text.length) == 0;
}

static struct text after(struct text text, size_t count)
{
	return (struct text){ text.bytes + count, text.length - count };
}

/* Takes "-TEXT" off the end of *NAME; empty: there is none. */
static struct text take_last(struct text *name)
{
	const char *dash = name->length == 0 ? NULL : memrchr(name->bytes, '-', name->length);
	struct text last = { NULL, 0 };

	if (dash == NULL)
		return last;
	last = after(*name, (size_t)(dash + 1 - name->bytes));
	name->length = (size_t)(dash - name->bytes);
	return last;
}

static bool read_index(struct text digits, uint32_t *index)
{
	uint64_t value = 0;

	if (digits.length == 0)
		return false;
	for (size_t i = 0; i < digits.length; i++) {
		if (digits.bytes[i] < '0' || digits.bytes[i] > '9' || value > UINT32_MAX / 10)
			return false;
		value = 10 * value + (uint64_t)(digits.bytes[i] - '0');
	}
	*index = (uint32_t)value;
	return value < UINT32_MAX;
}

static void set_names(struct code_event *event, struct text full, struct text shown)
{
	event->name = full.bytes;
	event->name_length = full.length;
	event->shown_start = (size_t)(shown.bytes - full.bytes);
	event->shown_length = shown.length;
}

static void read_wasm(struct text text, struct code_event *event)
{
	struct text name = text, tier = take_last(&name), index = take_last(&name);

	(void)tier;
	event->kind = CODE_WASM;
	if (!read_index(index, &event->index)) {
		/* a wrapper: its index is <anonymous> */
		event->kind = CODE_GLUE;
		name = text;
	} else if (starts_with(name, "wasm-function[")) {
		name.length = 0;
	}
	set_names(event, text, name);
}

/* Builtins that are not shown as such: they stand between frames. The longest prefix is first. */
static const struct special {
	const char *prefix;
	enum code_kind kind;
} specials[] = {
	{ "JSEntryTrampoline", CODE_GLUE },
	{ "JSConstructEntryTrampoline", CODE_GLUE },
	{ "JSEntry", CODE_ENTRY },
	{ "JSConstructEntry", CODE_ENTRY },
	{ "JSRunMicrotasksEntry", CODE_ENTRY },
	{ "JSToWasm", CODE_GLUE },
	{ "GenericJSToWasm", CODE_GLUE },
	{ "WasmToJs", CODE_GLUE },
	{ "WasmToOnHeapWasmToJs", CODE_GLUE },
	{ "CEntry", CODE_GLUE },
	{ "WasmCEntry", CODE_GLUE },
	{ "CallApiCallback", CODE_GLUE },
	{ "CallApiGetter", CODE_GLUE },
	{ "HandleApiCall", CODE_GLUE },
	{ "WasmCompileLazy", CODE_GLUE },
	{ "InterpreterPushArgs", CODE_GLUE },
	{ "InterpreterEnterAt", CODE_GLUE },
	{ "BaselineOrInterpreterEnter", CODE_GLUE },
	{ "AdaptorWithBuiltinExitFrame", CODE_GLUE },
	{ "Call_Receiver", CODE_GLUE },
	{ "CallFunction_", CODE_GLUE },
	{ "ConstructFunction", CODE_GLUE },
	{ "JSConstructStubGeneric", CODE_GLUE },
	{ "JSBuiltinsConstructStub", CODE_GLUE },
};

static void read_builtin(struct text text, struct code_event *event)
{
	static const struct text interpreted = { "(interpreted)", sizeof("(interpreted)") - 1 };

	event->kind = CODE_BUILTIN;
	/* All functions that were not compiled share its frames. */
	if (starts_with(text, "InterpreterEntryTrampoline")) {
		event->kind = CODE_SCRIPT;
		set_names(event, interpreted, interpreted);
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(specials); i++) {
		if (starts_with(text, specials[i].prefix)) {
			event->kind = specials[i].kind;
			break;
		}
	}
	set_names(event, text, text);
}

static void read_script(struct text text, struct code_event *event)
{
	struct text name = text;

	event->kind = CODE_SCRIPT;
	/* compiled while it ran: by on-stack replacement */
	if (name.length > 1 && name.bytes[0] == 'o' && strchr("+*^", name.bytes[1]) != NULL)
		name = after(name, 1);
	while (name.length > 0 && strchr("~^+*'", name.bytes[0]) != NULL)
		name = after(name, 1);
	/* without a name: where it is says enough */
	if (name.length > 1 && name.bytes[0] == ' ')
		name = after(name, 1);
	set_names(event, text, name);
}

void v8_name_read(const char *bytes, size_t length, bool is_wasm, struct code_event *event)
{
	struct text text = { bytes, length }, tag = text;
	const char *colon = length == 0 ? NULL : memchr(bytes, ':', length);

	event->index = UINT32_MAX;
	if (colon != NULL) {
		tag.length = (size_t)(colon - bytes);
		text = after(text, tag.length + 1);
	}
	if (is_wasm)
		read_wasm(text, event);
	else if (is(tag, "Builtin"))
		read_builtin(text, event);
	else if (memmem(text.bytes, text.length, "js-to-wasm", 10) != NULL ||
		 memmem(text.bytes, text.length, "wasm-to-js", 10) != NULL) {
		event->kind = CODE_GLUE;
		set_names(event, text, text);
	} else if (is(tag, "BytecodeHandler") || is(tag, "Stub") || is(tag, "Handler")) {
		event->kind = CODE_BUILTIN;
		set_names(event, text, text);
	} else {
		read_script(text, event);
	}
}
