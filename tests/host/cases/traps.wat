;; SPDX-License-Identifier: MIT
;;
;; traps.wat - each way in which compiled code can fault: by an illegal instruction, an address out
;; of bounds, a division by zero, and by running out of stack.
(module $traps
	(memory 1)
	(func $deep (param $n i32) (result i32)
		(i32.add (call $deep (i32.add (local.get $n) (i32.const 1))) (i32.const 1)))
	(func (export "unreachable") (param i32) (unreachable))
	(func (export "bounds") (param i32)
		(drop (i32.load offset=0x7fff0000 (local.get 0))))
	(func (export "divide") (param i32)
		(drop (i32.div_s (local.get 0) (i32.const 0))))
	(func (export "stack") (param i32) (drop (call $deep (local.get 0))))
	(func $work (export "run") (param $k i32) (local $n i32) (local $x i32)
		(local.set $n (i32.mul (local.get $k) (i32.const 1000)))
		(loop $more
			(local.set $x (i32.add (i32.mul (local.get $x) (i32.const 31)) (local.get $n)))
			(br_if $more (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))
		(if (i32.eq (local.get $x) (i32.const 12345)) (then (unreachable)))))
