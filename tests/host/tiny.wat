;; SPDX-License-Identifier: MIT
;;
;; tiny.wat - hot functions of a few instructions: most samples land on a function's first byte, just
;; after its push, or on its return, where a plain frame-pointer walk loses the caller.
;; Legal stacks: run, run step, run step mix, run step bump.
(module $tiny
	(func $mix (param $x i32) (result i32)
		(i32.mul (i32.xor (local.get $x) (i32.const 77)) (i32.const 31)))
	(func $bump (param $x i32) (result i32)
		(i32.add (local.get $x) (i32.const 1)))
	(func $step (param $x i32) (result i32)
		(call $bump (call $mix (call $bump (call $mix (local.get $x))))))
	(func $run (export "run") (param $k i32) (local $n i32) (local $x i32)
		(local.set $n (i32.mul (local.get $k) (i32.const 100)))
		(loop $more
			(local.set $x (call $step (local.get $x)))
			(br_if $more (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))
		(if (i32.eq (local.get $x) (i32.const 12345)) (then (unreachable)))))
