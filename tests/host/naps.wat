;; SPDX-License-Identifier: MIT
;;
;; naps.wat - a command that computes, then sleeps a second in WASI, twice.
(module $naps
	(import "wasi_snapshot_preview1" "poll_oneoff"
		(func $poll_oneoff (param i32 i32 i32 i32) (result i32)))
	(memory (export "memory") 1)

	(func $compute (param $n i32) (result i32)
		(local $sum i32)
		(loop $more
			(local.set $sum (i32.add (i32.mul (local.get $sum) (i32.const 31)) (local.get $n)))
			(br_if $more (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))
		(local.get $sum))

	;; A subscription to the monotonic clock at 0: its tag, its clock, a timeout in nanoseconds.
	(func $napper (param $ns i64)
		(i32.store8 (i32.const 8) (i32.const 0))
		(i32.store (i32.const 16) (i32.const 1))
		(i64.store (i32.const 24) (local.get $ns))
		(drop (call $poll_oneoff (i32.const 0) (i32.const 64) (i32.const 1) (i32.const 128))))

	(func $command (export "_start")
		(drop (call $compute (i32.const 300000000)))
		(call $napper (i64.const 1000000000))
		(drop (call $compute (i32.const 30000000)))
		(call $napper (i64.const 1000000000))))
