;; SPDX-License-Identifier: MIT
;;
;; left.wat - one of two guests that run beside each other. Its functions are named after it, and
;; `run` returns where the chain of n multiplies and adds has got to; right.wat starts elsewhere.
(module $left
	(func $left_steps (param $x i64) (param $n i32) (result i64)
		(loop $more
			(local.set $x (i64.add (i64.mul (local.get $x) (i64.const 6364136223846793005)) (i64.const 1442695040888963407)))
			(br_if $more (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))
		(local.get $x))
	(func $left_run (export "run") (param $n i32) (result i64)
		(call $left_steps (i64.const 1) (local.get $n)))
	;; For hosts that run commands: some hundred milliseconds, in calls of many lengths.
	(func $left_command (export "_start") (local $n i32)
		(local.set $n (i32.const 2000))
		(loop $more
			(drop (call $left_run (i32.add (i32.const 100000) (i32.mul (local.get $n) (i32.const 31)))))
			(br_if $more (local.tee $n (i32.sub (local.get $n) (i32.const 1))))))
	(memory (export "memory") 1))
