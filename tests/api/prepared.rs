// SPDX-License-Identifier: MIT
//! prepared.rs - a host in Rust that takes its own profile: the table of preload/guestprof.h.
//!
//! Links libwasmtime's C API, as a Rust host that guestprof can hand module handles of does.
//! Argument: where the profile goes.

use std::ffi::{c_char, c_int, c_void, CString};
use std::ptr::{null, null_mut};

/// struct guestprof_api, version 1.
#[repr(C)]
struct Api {
    version: u32,
    size: u32,
    set_new: extern "C" fn(*const c_void, *const *const c_char, *const *const c_void, usize, *mut *mut c_void,
                           *mut c_char, usize) -> c_int,
    set_ref: extern "C" fn(*mut c_void) -> *mut c_void,
    set_unref: extern "C" fn(*mut c_void),
    set_count: extern "C" fn(*const c_void) -> usize,
    profile_new: extern "C" fn(*const c_char, u64, *mut c_void, *mut *mut c_void) -> c_int,
    profile_sample: extern "C" fn(*mut c_void, u64) -> c_int,
    profile_host_call: extern "C" fn(*mut c_void, c_int, *const c_char) -> c_int,
    profile_finish: extern "C" fn(*mut c_void, *const c_char) -> c_int,
    profile_drop: extern "C" fn(*mut c_void),
    instance_label: extern "C" fn(c_int, *const c_void, *const Instance, *const c_char, *const c_char) -> c_int,
}

#[repr(C)]
#[derive(Clone, Copy)]
struct Func { store_id: u64, function: *mut c_void }

/// wasmtime_extern_t of wasmtime 50, for functions: kind, then the union.
#[repr(C)]
struct Extern { kind: u8, func: Func, rest: [u64; 4] }

#[repr(C)]
struct Instance { store_id: u64, index: usize }

#[repr(C)]
struct Vec_ { size: usize, data: *mut c_void }

type Callback = extern "C" fn(*mut c_void, *mut c_void, *const c_void, usize, *mut c_void, usize) -> *mut c_void;

extern "C" {
    fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void;
    fn wasm_engine_new() -> *mut c_void;
    fn wasm_functype_new(params: *mut Vec_, results: *mut Vec_) -> *mut c_void;
    fn wasm_valtype_vec_new_empty(out: *mut Vec_);
    fn wasmtime_store_new(engine: *mut c_void, data: *mut c_void, drop: *mut c_void) -> *mut c_void;
    fn wasmtime_store_context(store: *mut c_void) -> *mut c_void;
    fn wasmtime_wat2wasm(text: *const u8, size: usize, out: *mut Vec_) -> *mut c_void;
    fn wasmtime_module_new(engine: *mut c_void, wasm: *const c_void, size: usize, out: *mut *mut c_void) -> *mut c_void;
    fn wasmtime_func_new(context: *mut c_void, kind: *mut c_void, callback: Callback, env: *mut c_void,
                         drop: *mut c_void, out: *mut Func);
    fn wasmtime_instance_new(context: *mut c_void, module: *mut c_void, imports: *const Extern, count: usize,
                             out: *mut Instance, trap: *mut *mut c_void) -> *mut c_void;
    fn wasmtime_instance_export_get(context: *mut c_void, instance: *const Instance, name: *const u8, size: usize,
                                    out: *mut Extern) -> bool;
    fn wasmtime_func_call(context: *mut c_void, func: *const Func, args: *const c_void, arg_count: usize,
                          results: *mut c_void, result_count: usize, trap: *mut *mut c_void) -> *mut c_void;
}

struct Profiling { api: &'static Api, profile: *mut c_void }

/// The host function: env is the profile, if there is one already.
extern "C" fn tick(env: *mut c_void, _: *mut c_void, _: *const c_void, _: usize, _: *mut c_void, _: usize) -> *mut c_void {
    let profiling = unsafe { &*(env as *const Profiling) };
    if !profiling.profile.is_null() {
        assert_eq!((profiling.api.profile_sample)(profiling.profile, 1000), 1);
    }
    null_mut()
}

const GUESTPROF_INSTANCE: c_int = 1;
const GUEST: &str = "(module $rs (import \"host\" \"tick\" (func $tick)) (func $work (export \"work\") (call $tick)))";

fn main() {
    let path = CString::new(std::env::args().nth(1).expect("a path")).unwrap();
    let name = CString::new("guestprof_api").unwrap();
    let api = unsafe { (dlsym(null_mut(), name.as_ptr()) as *const Api).as_ref() }.expect("guestprof is not loaded");
    assert!(api.version >= 1 && api.size as usize >= std::mem::size_of::<Api>());
    let mut profiling = Box::new(Profiling { api, profile: null_mut() });
    unsafe {
        let engine = wasm_engine_new();
        let context = wasmtime_store_context(wasmtime_store_new(engine, null_mut(), null_mut()));
        let mut wasm = Vec_ { size: 0, data: null_mut() };
        assert!(wasmtime_wat2wasm(GUEST.as_ptr(), GUEST.len(), &mut wasm).is_null());
        let mut module = null_mut();
        assert!(wasmtime_module_new(engine, wasm.data, wasm.size, &mut module).is_null());
        let (mut params, mut results) = (Vec_ { size: 0, data: null_mut() }, Vec_ { size: 0, data: null_mut() });
        wasm_valtype_vec_new_empty(&mut params);
        wasm_valtype_vec_new_empty(&mut results);
        let kind = wasm_functype_new(&mut params, &mut results);
        let mut import = Extern { kind: 0, func: Func { store_id: 0, function: null_mut() }, rest: [0; 4] };
        wasmtime_func_new(context, kind, tick, &mut *profiling as *mut Profiling as *mut c_void, null_mut(),
                          &mut import.func);
        let mut instance = Instance { store_id: 0, index: 0 };
        let mut trap = null_mut();
        assert!(wasmtime_instance_new(context, module, &import, 1, &mut instance, &mut trap).is_null());
        let mut work = Extern { kind: 0, func: import.func, rest: [0; 4] };
        assert!(wasmtime_instance_export_get(context, &instance, "work".as_ptr(), 4, &mut work));
        let call = || assert!(wasmtime_func_call(context, &work.func, null(), 0, null_mut(), 0, &mut null_mut()).is_null());
        let end = std::time::Instant::now() + std::time::Duration::from_millis(600);
        while std::time::Instant::now() < end {
            call(); // until the clock has learned this engine's exit record
        }
        let mut set = null_mut();
        let modules = [module as *const c_void];
        assert_eq!((api.set_new)(engine, null(), modules.as_ptr(), 1, &mut set, null_mut(), 0), 0);
        assert_eq!((api.profile_new)(name.as_ptr(), 1_000_000, set, &mut profiling.profile), 0);
        (api.set_unref)(set);
        let (key, value) = (CString::new("tenant").unwrap(), CString::new("acme").unwrap());
        for _ in 0..10 {
            call();
        }
        assert_eq!((api.instance_label)(GUESTPROF_INSTANCE, context, &instance, key.as_ptr(), value.as_ptr()), 0);
        for _ in 0..15 {
            call();
        }
        assert_eq!((api.profile_finish)(profiling.profile, path.as_ptr()), 0);
    }
}
