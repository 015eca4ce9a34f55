;; SPDX-License-Identifier: MIT
;;
;; restless.wat - computes a little and waits a little, so that samples are taken all around the
;; waits. The argument is the number of rounds.
(module $restless
	(import "env" "restless" (func $host_restless (param i32)))

	(func $compute (param $n i32) (result i32)
		(local $sum i32)
		(loop $more
			(local.set $sum (i32.add (i32.mul (local.get $sum) (i32.const 31)) (local.get $n)))
			(br_if $more (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))
		(local.get $sum))
	(func $run (export "run") (param $rounds i32)
		(loop $more
			(drop (call $compute (i32.const 20000)))
			(call $host_restless (i32.const 10))
			(local.set $rounds (i32.sub (local.get $rounds) (i32.const 10)))
			(br_if $more (i32.gt_s (local.get $rounds) (i32.const 0))))))
