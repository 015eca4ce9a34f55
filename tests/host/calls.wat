;; SPDX-License-Identifier: MIT
;;
;; calls.wat - a guest that spends its time in the host: callbacks, the engine's own routines, traps.
;; Each export EXPORT has the guest stack EXPORT, EXPORT_upper, EXPORT_lower below the host's frames;
;; `again` goes on through the host into a second activation.
(module $calls
	(import "env" "work" (func $host_work (param i32)))
	(import "env" "again" (func $host_again (param i32)))
	(memory (export "memory") 1 4000)
	(table $functions 4096 funcref)
	(elem declare func $callback_lower)

	(func $callback_lower (param $k i32) (call $host_work (local.get $k)))
	(func $callback_upper (param $k i32) (call $callback_lower (local.get $k)))
	(func $callback (export "callback") (param $k i32) (call $callback_upper (local.get $k)))

	(func $grow_lower (param $k i32)
		(loop $more
			(drop (memory.grow (i32.const 0)))
			(br_if $more (local.tee $k (i32.sub (local.get $k) (i32.const 1))))))
	(func $grow_upper (param $k i32) (call $grow_lower (local.get $k)))
	(func $grow (export "grow") (param $k i32) (call $grow_upper (local.get $k)))

	(func $fill_lower (param $k i32)
		(loop $more
			(table.fill $functions (i32.const 0) (ref.func $callback_lower) (i32.const 4096))
			(br_if $more (local.tee $k (i32.sub (local.get $k) (i32.const 1))))))
	(func $fill_upper (param $k i32) (call $fill_lower (local.get $k)))
	(func $fill (export "fill") (param $k i32) (call $fill_upper (local.get $k)))

	(func $trap_lower (param $k i32) (unreachable))
	(func $trap_upper (param $k i32) (call $trap_lower (local.get $k)))
	(func $trap (export "trap") (param $k i32) (call $trap_upper (local.get $k)))

	;; The host's `again` calls the export `callback`.
	(func $again_lower (param $k i32) (call $host_again (local.get $k)))
	(func $again_upper (param $k i32) (call $again_lower (local.get $k)))
	(func $again (export "again") (param $k i32) (call $again_upper (local.get $k))))
