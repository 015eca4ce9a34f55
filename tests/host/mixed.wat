;; SPDX-License-Identifier: MIT
;;
;; mixed.wat - a guest with known shares of its own code and of two host functions: spin 40 %,
;; env.work 20 % below asks_work, env.more 40 % below asks_more. All three are the same chain of
;; dependent multiplies and adds as in split.wat; the host's is import_burn(), 100 steps a round.
;; `rest` does that and then sleeps for 400 ms in env.sleep, below `naps`.
(module $mixed
	(import "env" "work" (func $host_work (param i32)))
	(import "env" "more" (func $host_more (param i32)))
	(import "env" "sleep" (func $host_sleep (param i32)))
	(global $state (mut i64) (i64.const 1))
	;; 200 steps for each k.
	(func $spin (param $k i32) (local $n i32) (local $x i64)
		(local.set $n (i32.mul (local.get $k) (i32.const 25)))
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
	(func $asks_work (param $k i32) (call $host_work (local.get $k)))
	(func $asks_more (param $k i32) (call $host_more (local.get $k)))
	(func $run (export "run") (param $k i32)
		(call $spin (local.get $k))
		(call $asks_work (local.get $k))
		(call $asks_more (local.get $k)))
	(func $naps (call $host_sleep (i32.const 400000)))
	(func $rest (export "rest") (param $k i32)
		(call $run (local.get $k))
		(call $naps)))
