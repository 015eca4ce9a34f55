;; plugin.wat - an Extism plugin: `run` uses the CPU in proportion to the size of its input. `first` takes three times
;; what `second` takes; `keep` stores through Extism's kernel, whose functions are another module's.
(module $counter
  (import "extism:host/env" "alloc" (func $alloc (param i64) (result i64)))
  (import "extism:host/env" "free" (func $free (param i64)))
  (import "extism:host/env" "store_u64" (func $store_u64 (param i64 i64)))
  (import "extism:host/env" "input_length" (func $input_length (result i64)))
  (global $state (mut i64) (i64.const 1))

  (func $second (param $n i64) (local $x i64)
    (loop $more
      (local.set $x (i64.add (i64.mul (local.get $x) (i64.const 6364136223846793005)) (i64.const 1442695040888963407)))
      (br_if $more (i64.ne (local.tee $n (i64.sub (local.get $n) (i64.const 1))) (i64.const 0))))
    (global.set $state (i64.add (global.get $state) (local.get $x))))

  (func $first (param $n i64) (local $x i64) (local $left i64)
    (local.set $left (i64.mul (local.get $n) (i64.const 3)))
    (loop $more
      (local.set $x (i64.add (i64.mul (local.get $x) (i64.const 6364136223846793005)) (i64.const 1442695040888963407)))
      (br_if $more (i64.ne (local.tee $left (i64.sub (local.get $left) (i64.const 1))) (i64.const 0))))
    (global.set $state (i64.add (global.get $state) (local.get $x)))
    (call $second (local.get $n)))

  (func $keep (param $n i64) (local $place i64)
    (local.set $place (call $alloc (i64.const 8)))
    (loop $more
      (call $store_u64 (local.get $place) (local.get $n))
      (br_if $more (i64.ne (local.tee $n (i64.sub (local.get $n) (i64.const 1))) (i64.const 0))))
    (call $free (local.get $place)))

  (func $run (export "run") (result i32) (local $n i64)
    (local.set $n (call $input_length))
    (call $first (i64.mul (local.get $n) (i64.const 400)))
    (call $keep (i64.mul (local.get $n) (i64.const 200)))
    (i32.const 0)))
