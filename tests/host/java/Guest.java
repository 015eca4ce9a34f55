// SPDX-License-Identifier: MIT
//
// Guest.java - a Java host that finds libwasmtime's functions by dlsym (JNA), and works itself too:
// Guest LIBRARY FILE cpu_ms=N [perfmap]. Prints "done".

import com.sun.jna.Function;
import com.sun.jna.Memory;
import com.sun.jna.NativeLibrary;
import com.sun.jna.Pointer;
import com.sun.jna.ptr.PointerByReference;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.Files;
import java.nio.file.Path;
import javax.management.ObjectName;

public class Guest {
	private static final int ROUNDS = 200;
	private final NativeLibrary library;

	private Guest(String path) {
		library = NativeLibrary.getInstance(path);
	}

	private Pointer pointer(String name, Object... arguments) {
		return library.getFunction(name).invokePointer(arguments);
	}

	// The layout of wasmtime_val_t and wasmtime_extern_t: a byte for the kind, the value at 8.
	private static Memory cleared(int size) {
		Memory memory = new Memory(size);

		memory.clear();
		return memory;
	}

	private static void expect(boolean holds, String what) {
		if (!holds)
			throw new IllegalStateException(what);
	}

	private Pointer load(Pointer engine, byte[] wasm) {
		PointerByReference module = new PointerByReference();
		Memory bytes = new Memory(wasm.length);

		bytes.write(0, wasm, 0, wasm.length);
		expect(pointer("wasmtime_module_new", engine, bytes, (long)wasm.length, module) == null,
		       "wasmtime_module_new");
		return module.getValue();
	}

	private Memory export(Pointer context, Pointer module, String name) {
		Memory instance = cleared(64), found = cleared(64);
		byte[] text = name.getBytes();
		Memory characters = new Memory(text.length);

		characters.write(0, text, 0, text.length);
		expect(pointer("wasmtime_instance_new", context, module, null, 0L, instance,
			       new PointerByReference()) == null, "wasmtime_instance_new");
		expect((library.getFunction("wasmtime_instance_export_get").invokeInt(new Object[] {
			       context, instance, characters, (long)text.length, found }) & 0xff) != 0,
		       "wasmtime_instance_export_get");
		return found;
	}

	// As much as the guest's rounds, compiled by the virtual machine.
	static long busy(long state, int count) {
		for (int i = 0; i < count; i++)
			state = state * 6364136223846793005L + 1442695040888963407L;
		return state;
	}

	// What `jcmd PID Compiler.perfmap` does: /tmp/perf-PID.map, of what is compiled by now.
	private static void writePerfMap() throws Exception {
		ManagementFactory.getPlatformMBeanServer().invoke(
			new ObjectName("com.sun.management:type=DiagnosticCommand"), "compilerPerfmap", null, null);
	}

	private void run(String file, long milliseconds) throws Exception {
		ThreadMXBean threads = ManagementFactory.getThreadMXBean();
		Pointer engine = pointer("wasm_engine_new");
		Pointer store = pointer("wasmtime_store_new", engine, null, null);
		Pointer context = pointer("wasmtime_store_context", store);
		Pointer module = load(engine, Files.readAllBytes(Path.of(file)));
		Pointer function = export(context, module, "run").share(8);
		Function call = library.getFunction("wasmtime_func_call");
		Memory argument = cleared(64);
		PointerByReference trap = new PointerByReference();
		long state = 1;

		for (int i = 0; threads.getCurrentThreadCpuTime() < milliseconds * 1000000; i++) {
			argument.setInt(8, ROUNDS + i % 7);
			expect(call.invokePointer(new Object[] { context, function, argument, 1L, null, 0L,
				       trap }) == null && trap.getValue() == null, "wasmtime_func_call");
			state = busy(state, 100 * ROUNDS);
		}
		expect(state != 0, "busy");
		library.getFunction("wasmtime_module_delete").invoke(new Object[] { module });
		library.getFunction("wasmtime_store_delete").invoke(new Object[] { store });
		library.getFunction("wasm_engine_delete").invoke(new Object[] { engine });
	}

	public static void main(String[] words) throws Exception {
		if (words.length > 3) {
			long state = 1;

			for (int i = 0; i < 20000; i++)
				state = busy(state, 1000);
			expect(state != 0, "busy");
			writePerfMap();
		}
		new Guest(words[0]).run(words[1], Long.parseLong(words[2].replace("cpu_ms=", "")));
		System.out.println("done");
	}
}
