;; A guest that makes an engine write every kind of symbol that guestprof reads: functions with
;; names of all sorts, entries, host calls, builtins.
(module $tiny-guest
  (import "host" "tick" (func $tick (param i32)))
  (import "host" "memory2" (memory 1))
  (import "host" "unnamed" (func))
  (table $table 8 funcref)
  (func $leaf (param $n i32) (result i32) (local $x i32)
    (loop $again
      (local.set $x (i32.add (i32.mul (local.get $x) (i32.const 31)) (local.get $n)))
      (br_if $again (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))
    (local.get $x))
  (func $_ZN5guest6middle17h0123456789abcdefE (export "middle") (param i32) (result i32)
    (i32.add (call $leaf (local.get 0)) (call $leaf (i32.const 3))))
  (func $_RNvCs1234_5guest5outer (export "outer") (param i32) (result i32)
    (call $tick (local.get 0))
    (call $_ZN5guest6middle17h0123456789abcdefE (local.get 0)))
  (func (export "only exported") (result i32) (memory.grow (i32.const 0)))
  (func (param i32) (result i32) (i32.load (local.get 0)))
  (func $_ZN76_$LT$alloc..string..String$u20$as$u20$core..iter..traits..collect..Extend$GT$6extend17h0123456789abcdefE
    (export "fill")
    (memory.fill (i32.const 0) (i32.const 1) (i32.const 64))
    (table.fill $table (i32.const 0) (ref.func $leaf) (i32.const 4)))
  (func $"with space, \ce\bb" (export "callback") (call $tick (i32.const 1)))
  (elem declare func $leaf))
