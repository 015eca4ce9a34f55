;; SPDX-License-Identifier: MIT
;;
;; nested.wat - the host's `again` calls the export `callback`, which sleeps in the host for so many
;; milliseconds.
(module $nested
	(import "env" "again" (func $host_again (param i32)))
	(import "env" "sleep" (func $host_sleep (param i32)))

	(func $callback_lower (param $ms i32)
		(call $host_sleep (i32.mul (local.get $ms) (i32.const 1000))))
	(func $callback (export "callback") (param $ms i32) (call $callback_lower (local.get $ms)))

	(func $outer_lower (param $ms i32) (call $host_again (local.get $ms)))
	(func $outer (export "outer") (param $ms i32) (call $outer_lower (local.get $ms))))
