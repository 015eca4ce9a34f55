/* SPDX-License-Identifier: MIT */
/* plumbing_test.c - the engine's own frames, and those of the host functions it brings. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "preload/profile/plumbing.h"

static void test_frames(void **state)
{
	static const struct {
		const char *object, *symbol;
		bool is_plumbing;
	} frames[] = {
		{ "libwasmtime.so", "wasmtime::runtime::func::HostFunc::array_call_trampoline",
		  true },
		{ "_libwasmtime.so", NULL, true },
		{ "host", "wasmtime::runtime::vm::traphandlers::catch_traps", true },
		{ "host", "<core::result::Result as wasmtime::HostResult>::maybe_catch_unwind",
		  true },
		{ "host", "<&mut alloc::boxed::Box as core::ops::function::FnOnce>::call_once",
		  true },
		{ "host", "tokio::runtime::park::CachedParkThread::block_on", true },
		{ "libffi.so.8", NULL, true },
		{ "libwasmtime.so", "wasmtime_wasi::p1::fd_write", false },
		{ "libwasmtime.so", "<wasmtime_wasi::p1::WasiP1Ctx as wasi::Snapshot>::fd_read",
		  false },
		{ "host", "import_work", false },
		{ "host", "my_app::log", false },
		{ "libpython3.11.so.1.0", "PyObject_Vectorcall", false },
		{ "stripped", NULL, false },
		{ "libwasmedge.so.0", "WasmEdge::Executor::Executor::runFunction", true },
		{ "libwasmedge.so.0", "WasmEdge::Host::WasiFdWrite::body", false },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(frames) / sizeof(frames[0]); i++) {
		if (plumbing_is(frames[i].object, frames[i].symbol) != frames[i].is_plumbing)
			fail_msg("%s in %s", frames[i].symbol, frames[i].object);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_frames) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
