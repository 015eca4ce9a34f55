;; SPDX-License-Identifier: MIT
;;
;; right.wat - one of two guests that run beside each other. Its functions are named after it, and
;; `run` returns where the chain of n multiplies and adds has got to; left.wat starts elsewhere.
(module $right
	(func $right_steps (param $x i64) (param $n i32) (result i64)
		(loop $more
			(local.set $x (i64.add (i64.mul (local.get $x) (i64.const 6364136223846793005)) (i64.const 1442695040888963407)))
			(br_if $more (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))
		(local.get $x))
	(func $right_run (export "run") (param $n i32) (result i64)
		(call $right_steps (i64.const 2) (local.get $n))))
