;; SPDX-License-Identifier: MIT
;;
;; ways.wat - one loop behind each way into a guest: an export, the first element of a table, main.
(module $ways
	(table 1 funcref)
	(elem (i32.const 0) $run)
	(memory (export "memory") 1)
	(func $spin (param $k i32) (local $x i64)
		(local.set $k (i32.mul (local.get $k) (i32.const 40)))
		(loop $more
			(local.set $x (i64.add (i64.mul (local.get $x) (i64.const 6364136223846793005)) (i64.const 1442695040888963407)))
			(br_if $more (local.tee $k (i32.sub (local.get $k) (i32.const 1)))))
		(i64.store (i32.const 0) (local.get $x)))
	(func $run (export "run") (param $k i32) (call $spin (local.get $k)))
	(func $main (export "main") (param i32 i32) (result i32) (call $spin (i32.const 1000)) (i32.const 0)))
