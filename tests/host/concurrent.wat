;; SPDX-License-Identifier: MIT
;;
;; concurrent.wat - a component whose `run` is async in the component model's own way: the host calls its core function,
;; which works, then the callback as often as that asks for it, which works too. `first` has 25 %, `later` 75 %.
(component $concurrent
	(core func $return (canon task.return))
	(core module $guest
		(import "task" "return" (func $return))
		(global $state (mut i64) (i64.const 1))
		(global $argument (mut i32) (i32.const 0))
		(global $left (mut i32) (i32.const 0))
		(func $spin_first (param $n i32) (local $x i64)
			(loop $more
				(local.set $x (i64.add (i64.mul (local.get $x) (i64.const 6364136223846793005)) (i64.const 1442695040888963407)))
				(br_if $more (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))
			(global.set $state (local.get $x)))
		(func $spin_later (param $n i32) (local $x i64)
			(loop $more
				(local.set $x (i64.add (i64.mul (local.get $x) (i64.const 6364136223846793005)) (i64.const 1442695040888963407)))
				(br_if $more (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))
			(global.set $state (local.get $x)))
		;; Both answer 1, which lets others run and then calls back, or 0 at the end.
		(func $first (export "run") (param $k i32) (result i32)
			(global.set $argument (i32.mul (local.get $k) (i32.const 1000)))
			(global.set $left (i32.const 3))
			(call $spin_first (global.get $argument))
			(i32.const 1))
		(func $later (export "callback") (param $event i32) (param $handle i32) (param $result i32) (result i32)
			(call $spin_later (global.get $argument))
			(global.set $left (i32.sub (global.get $left) (i32.const 1)))
			(if (i32.eqz (global.get $left)) (then (call $return)))
			(i32.ne (global.get $left) (i32.const 0))))
	(core instance $instance (instantiate $guest (with "task" (instance (export "return" (func $return))))))
	(func (export "run") async (param "k" u32)
		(canon lift (core func $instance "run") async (callback (core func $instance "callback")))))
