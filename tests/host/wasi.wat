;; SPDX-License-Identifier: MIT
;;
;; wasi.wat - a command that spends its time in one function of WASI: random_get, below fill.
(module $wasi
	(import "wasi_snapshot_preview1" "random_get" (func $random_get (param i32 i32) (result i32)))
	(memory (export "memory") 2)
	(func $fill (drop (call $random_get (i32.const 1024) (i32.const 60000))))
	(func (export "_start") (local $n i32)
		(local.set $n (i32.const 15000))
		(loop $more
			(call $fill)
			(br_if $more (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))))
