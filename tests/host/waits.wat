;; SPDX-License-Identifier: MIT
;;
;; waits.wat - a guest that waits in host functions: of a round of `run` half is sleeping below
;; `napper`, 30 % reading below `reader`, 20 % waiting for a lock below `locker`. The argument is the
;; length of a round in milliseconds.
(module $waits
	(import "env" "sleep" (func $host_sleep (param i32)))
	(import "env" "receive" (func $host_receive (param i32)))
	(import "env" "lock" (func $host_lock (param i32)))
	(import "env" "work" (func $host_work (param i32)))

	(func $napper (param $ms i32)
		(call $host_sleep (i32.mul (local.get $ms) (i32.const 500))))
	(func $reader (param $ms i32)
		(call $host_receive (i32.mul (local.get $ms) (i32.const 300))))
	(func $locker (param $ms i32)
		(call $host_lock (i32.mul (local.get $ms) (i32.const 200))))
	(func $run (export "run") (param $ms i32)
		(call $napper (local.get $ms))
		(call $reader (local.get $ms))
		(call $locker (local.get $ms)))

	;; One wait of that many milliseconds.
	(func $nap (export "nap") (param $ms i32)
		(call $host_sleep (i32.mul (local.get $ms) (i32.const 1000))))

	;; Work, and waits so short that most looks miss them.
	(func $busy (export "busy") (param $us i32)
		(local $n i32)
		(local.set $n (i32.const 100))
		(loop $more
			(call $host_work (i32.const 200))
			(call $host_sleep (local.get $us))
			(br_if $more (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))))
