;; SPDX-License-Identifier: MIT
;;
;; split.wat - the shares of ../split.wat for a compiler that inlines and makes tail calls: inner
;; 70 %, middle 20 %, outer 10 %. Calls go through a table whose places nobody can know, and
;; something is left to do behind each.
;; Legal stacks: command run, and outer, middle, inner below it.
(module $split
	(table funcref (elem $inner $middle $outer $run))
	(global $inner_place (export "inner_place") (mut i32) (i32.const 0))
	(global $middle_place (export "middle_place") (mut i32) (i32.const 1))
	(global $outer_place (export "outer_place") (mut i32) (i32.const 2))
	(global $run_place (export "run_place") (mut i32) (i32.const 3))
	(global $state (mut i64) (i64.const 1))
	(memory (export "memory") 1)
	(func $inner (param $k i32) (local $n i32) (local $x i64)
		(local.set $n (i32.mul (local.get $k) (i32.const 140)))
		(local.set $x (global.get $state))
		(loop $more
			(local.set $x (i64.xor (i64.mul (local.get $x) (i64.const 6364136223846793005)) (i64.const 1442695040888963407)))
			(local.set $x (i64.xor (i64.mul (local.get $x) (i64.const 6364136223846793005)) (i64.const 1442695040888963407)))
			(local.set $x (i64.xor (i64.mul (local.get $x) (i64.const 6364136223846793005)) (i64.const 1442695040888963407)))
			(local.set $x (i64.xor (i64.mul (local.get $x) (i64.const 6364136223846793005)) (i64.const 1442695040888963407)))
			(br_if $more (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))
		(global.set $state (local.get $x)))
	(func $middle (param $k i32) (local $n i32) (local $x i64)
		(local.set $n (i32.mul (local.get $k) (i32.const 40)))
		(local.set $x (global.get $state))
		(loop $more
			(local.set $x (i64.xor (i64.mul (local.get $x) (i64.const 6364136223846793005)) (i64.const 1442695040888963407)))
			(local.set $x (i64.xor (i64.mul (local.get $x) (i64.const 6364136223846793005)) (i64.const 1442695040888963407)))
			(local.set $x (i64.xor (i64.mul (local.get $x) (i64.const 6364136223846793005)) (i64.const 1442695040888963407)))
			(local.set $x (i64.xor (i64.mul (local.get $x) (i64.const 6364136223846793005)) (i64.const 1442695040888963407)))
			(br_if $more (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))
		(call_indirect (param i32) (local.get $k) (global.get $inner_place))
		(global.set $state (local.get $x)))
	(func $outer (param $k i32) (local $n i32) (local $x i64)
		(local.set $n (i32.mul (local.get $k) (i32.const 20)))
		(local.set $x (global.get $state))
		(loop $more
			(local.set $x (i64.xor (i64.mul (local.get $x) (i64.const 6364136223846793005)) (i64.const 1442695040888963407)))
			(local.set $x (i64.xor (i64.mul (local.get $x) (i64.const 6364136223846793005)) (i64.const 1442695040888963407)))
			(local.set $x (i64.xor (i64.mul (local.get $x) (i64.const 6364136223846793005)) (i64.const 1442695040888963407)))
			(local.set $x (i64.xor (i64.mul (local.get $x) (i64.const 6364136223846793005)) (i64.const 1442695040888963407)))
			(br_if $more (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))
		(call_indirect (param i32) (local.get $k) (global.get $middle_place))
		(global.set $state (local.get $x)))
	;; Can trap: the compiler then adds a function that raises it, and puts it elsewhere.
	(func $divide (export "divide") (param $k i32) (result i32)
		(i32.div_u (i32.const 1) (local.get $k)))
	(func $run (export "run") (param $k i32)
		(call_indirect (param i32) (local.get $k) (global.get $outer_place))
		(global.set $state (i64.add (global.get $state) (i64.const 1))))
	;; For hosts that take no argument: the command line.
	(func $command (export "_start") (local $rounds i32)
		(local.set $rounds (i32.const 2500))
		(loop $more
			(call_indirect (param i32) (i32.const 1000) (global.get $run_place))
			(br_if $more (local.tee $rounds (i32.sub (local.get $rounds) (i32.const 1)))))))
