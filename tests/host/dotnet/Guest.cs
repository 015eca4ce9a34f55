// SPDX-License-Identifier: MIT
//
// Guest.cs - a .NET host that finds libwasmtime's functions by dlsym (P/Invoke), and works itself
// too: Guest.exe FILE cpu_ms=N, the library where LD_LIBRARY_PATH says. Prints "done".

using System;
using System.Diagnostics;
using System.IO;
using System.Runtime.InteropServices;
using System.Text.RegularExpressions;

static class Guest
{
	const string Library = "libwasmtime.so";
	const int Rounds = 200;

	[DllImport(Library)] static extern IntPtr wasm_engine_new();
	[DllImport(Library)] static extern void wasm_engine_delete(IntPtr engine);
	[DllImport(Library)] static extern IntPtr wasmtime_store_new(IntPtr engine, IntPtr data, IntPtr finalizer);
	[DllImport(Library)] static extern IntPtr wasmtime_store_context(IntPtr store);
	[DllImport(Library)] static extern void wasmtime_store_delete(IntPtr store);
	[DllImport(Library)] static extern IntPtr wasmtime_module_new(IntPtr engine, byte[] wasm, UIntPtr size, out IntPtr module);
	[DllImport(Library)] static extern void wasmtime_module_delete(IntPtr module);
	[DllImport(Library)] static extern IntPtr wasmtime_instance_new(IntPtr context, IntPtr module, IntPtr imports, UIntPtr count, byte[] instance, out IntPtr trap);
	[DllImport(Library)] [return: MarshalAs(UnmanagedType.I1)] static extern bool wasmtime_instance_export_get(IntPtr context, byte[] instance, byte[] name, UIntPtr size, byte[] found);
	[DllImport(Library)] static extern IntPtr wasmtime_func_call(IntPtr context, byte[] function, byte[] arguments, UIntPtr count, IntPtr results, UIntPtr result_count, out IntPtr trap);

	static void Expect(bool holds, string what)
	{
		if (!holds)
			throw new Exception(what);
	}

	// As much as the guest's rounds, compiled by the runtime.
	static long Busy(long state, int count)
	{
		for (int i = 0; i < count; i++)
			state = unchecked(state * 6364136223846793005L + 1442695040888963407L);
		return state;
	}

	static byte[] Run(IntPtr context, IntPtr module)
	{
		byte[] instance = new byte[64], found = new byte[64], function = new byte[16], name = { 114, 117, 110 };
		IntPtr trap;

		Expect(wasmtime_instance_new(context, module, IntPtr.Zero, UIntPtr.Zero, instance, out trap) == IntPtr.Zero, "instance");
		Expect(wasmtime_instance_export_get(context, instance, name, (UIntPtr)name.Length, found), "export");
		// wasmtime_extern_t: a byte for the kind, the value at 8
		Array.Copy(found, 8, function, 0, function.Length);
		return function;
	}

	static void Main(string[] words)
	{
		double milliseconds = double.Parse(words[1].Replace("cpu_ms=", ""));
		IntPtr engine = wasm_engine_new(), store = wasmtime_store_new(engine, IntPtr.Zero, IntPtr.Zero);
		IntPtr context = wasmtime_store_context(store), module, trap;
		byte[] wasm = File.ReadAllBytes(words[0]), argument = new byte[64], function;
		long state = 1;

		Expect(wasmtime_module_new(engine, wasm, (UIntPtr)wasm.Length, out module) == IntPtr.Zero, "module");
		function = Run(context, module);
		// Compiled early; what is compiled behind it pushes its name out of the buffer of the
		// runtime's perf map (--jitmap).
		state = Busy(state, 1);
		Expect(Regex.IsMatch("xabcbcd", "a(bc|c)+[d-f]{1,3}$"), "a regular expression");
		for (int i = 0; Process.GetCurrentProcess().TotalProcessorTime.TotalMilliseconds < milliseconds; i++) {
			// the processor's time is asked for now and then only
			for (int k = 0; k < 50; k++) {
				BitConverter.GetBytes(Rounds + (i + k) % 7).CopyTo(argument, 8);
				Expect(wasmtime_func_call(context, function, argument, (UIntPtr)1, IntPtr.Zero, UIntPtr.Zero, out trap) == IntPtr.Zero && trap == IntPtr.Zero, "call");
				state = Busy(state, 100 * Rounds);
			}
		}
		Expect(state != 0, "busy");
		wasmtime_module_delete(module);
		wasmtime_store_delete(store);
		wasm_engine_delete(engine);
		Console.WriteLine("done");
	}
}
