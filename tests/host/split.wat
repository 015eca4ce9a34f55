;; SPDX-License-Identifier: MIT
;;
;; split.wat - a guest with known shares: inner 70 %, middle 20 %, outer 10 % of the CPU time, as
;; self time of three nested functions. The three loops are the same chain of dependent multiplies
;; and adds, bound by latency and not by the front end, so time goes with the number of rounds.
;; Legal stacks: run, run outer, run outer middle, run outer middle inner.
(module $split
	(global $state (mut i64) (i64.const 1))
	(memory (export "memory") 1)
	(func $inner (param $k i32) (local $n i32) (local $x i64)
		(local.set $n (i32.mul (local.get $k) (i32.const 70)))
		(local.set $x (global.get $state))
		(loop $more
			(local.set $x (i64.add (i64.mul (local.get $x) (i64.const 6364136223846793005)) (i64.const 1442695040888963407)))
			(local.set $x (i64.add (i64.mul (local.get $x) (i64.const 6364136223846793005)) (i64.const 1442695040888963407)))
			(local.set $x (i64.add (i64.mul (local.get $x) (i64.const 6364136223846793005)) (i64.const 1442695040888963407)))
			(local.set $x (i64.add (i64.mul (local.get $x) (i64.const 6364136223846793005)) (i64.const 1442695040888963407)))
			(local.set $x (i64.add (i64.mul (local.get $x) (i64.const 6364136223846793005)) (i64.const 1442695040888963407)))
			(local.set $x (i64.add (i64.mul (local.get $x) (i64.const 6364136223846793005)) (i64.const 1442695040888963407)))
			(local.set $x (i64.add (i64.mul (local.get $x) (i64.const 6364136223846793005)) (i64.const 1442695040888963407)))
			(local.set $x (i64.add (i64.mul (local.get $x) (i64.const 6364136223846793005)) (i64.const 1442695040888963407)))
			(br_if $more (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))
		(global.set $state (local.get $x)))
	(func $middle (param $k i32) (local $n i32) (local $x i64)
		(local.set $n (i32.mul (local.get $k) (i32.const 20)))
		(local.set $x (global.get $state))
		(loop $more
			(local.set $x (i64.add (i64.mul (local.get $x) (i64.const 6364136223846793005)) (i64.const 1442695040888963407)))
			(local.set $x (i64.add (i64.mul (local.get $x) (i64.const 6364136223846793005)) (i64.const 1442695040888963407)))
			(local.set $x (i64.add (i64.mul (local.get $x) (i64.const 6364136223846793005)) (i64.const 1442695040888963407)))
			(local.set $x (i64.add (i64.mul (local.get $x) (i64.const 6364136223846793005)) (i64.const 1442695040888963407)))
			(local.set $x (i64.add (i64.mul (local.get $x) (i64.const 6364136223846793005)) (i64.const 1442695040888963407)))
			(local.set $x (i64.add (i64.mul (local.get $x) (i64.const 6364136223846793005)) (i64.const 1442695040888963407)))
			(local.set $x (i64.add (i64.mul (local.get $x) (i64.const 6364136223846793005)) (i64.const 1442695040888963407)))
			(local.set $x (i64.add (i64.mul (local.get $x) (i64.const 6364136223846793005)) (i64.const 1442695040888963407)))
			(br_if $more (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))
		(global.set $state (local.get $x))
		(call $inner (local.get $k)))
	(func $outer (param $k i32) (local $n i32) (local $x i64)
		(local.set $n (i32.mul (local.get $k) (i32.const 10)))
		(local.set $x (global.get $state))
		(loop $more
			(local.set $x (i64.add (i64.mul (local.get $x) (i64.const 6364136223846793005)) (i64.const 1442695040888963407)))
			(local.set $x (i64.add (i64.mul (local.get $x) (i64.const 6364136223846793005)) (i64.const 1442695040888963407)))
			(local.set $x (i64.add (i64.mul (local.get $x) (i64.const 6364136223846793005)) (i64.const 1442695040888963407)))
			(local.set $x (i64.add (i64.mul (local.get $x) (i64.const 6364136223846793005)) (i64.const 1442695040888963407)))
			(local.set $x (i64.add (i64.mul (local.get $x) (i64.const 6364136223846793005)) (i64.const 1442695040888963407)))
			(local.set $x (i64.add (i64.mul (local.get $x) (i64.const 6364136223846793005)) (i64.const 1442695040888963407)))
			(local.set $x (i64.add (i64.mul (local.get $x) (i64.const 6364136223846793005)) (i64.const 1442695040888963407)))
			(local.set $x (i64.add (i64.mul (local.get $x) (i64.const 6364136223846793005)) (i64.const 1442695040888963407)))
			(br_if $more (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))
		(global.set $state (local.get $x))
		(call $middle (local.get $k)))
	(func $run (export "run") (param $k i32)
		(call $outer (local.get $k)))
	;; For hosts that take no argument: the command line and the pre-initializer.
	(func $command (export "_start") (local $rounds i32)
		(local.set $rounds (i32.const 2500))
		(loop $more
			(call $run (i32.const 1000))
			(br_if $more (local.tee $rounds (i32.sub (local.get $rounds) (i32.const 1))))))
	(func $initialize (export "wizer.initialize")
		(call $command)))
