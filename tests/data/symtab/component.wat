;; A component with core modules at two depths, one without names, one lifted through an adapter.
(component $parts
  (import "tick" (func $tick (param "n" u32)))
  (core module $first
    (import "host" "tick" (func $tick (param i32)))
    (func $work (param i32) (result i32) (i32.mul (local.get 0) (i32.const 31)))
    (func $run (export "run") (param i32) (result i32)
      (call $tick (local.get 0)) (call $work (local.get 0))))
  (component $inner
    (core module $text
      (memory (export "memory") 1)
      (func $allocate (export "realloc") (param i32 i32 i32 i32) (result i32) i32.const 16)
      (func $length (export "length") (param i32 i32) (result i32) local.get 1))
    (core instance $i (instantiate $text))
    (alias core export $i "memory" (core memory $memory))
    (alias core export $i "realloc" (core func $realloc))
    (alias core export $i "length" (core func $length))
    (func (export "length") (param "s" string) (result u32)
      (canon lift (core func $length) (memory $memory) (realloc $realloc))))
  (instance $inner (instantiate $inner))
  (core module (memory (export "memory") 1)
    (func (export "realloc") (param i32 i32 i32 i32) (result i32) i32.const 16))
  (core module $last
    (import "text" "length" (func $length (param i32 i32) (result i32)))
    (import "first" "run" (func $first (param i32) (result i32)))
    (func $"last:both" (export "both") (param i32) (result i32)
      (i32.add (call $first (local.get 0)) (call $length (i32.const 0) (local.get 0)))))
  (core func $tick (canon lower (func $tick)))
  (core instance $first (instantiate $first (with "host" (instance (export "tick" (func $tick))))))
  (core instance $memory (instantiate 1))
  (alias core export $memory "memory" (core memory $memory))
  (alias core export $memory "realloc" (core func $realloc))
  (alias export $inner "length" (func $length))
  (core func $length (canon lower (func $length) (memory $memory) (realloc $realloc)))
  (core instance $last (instantiate $last
    (with "text" (instance (export "length" (func $length))))
    (with "first" (instance $first))))
  (alias core export $last "both" (core func $both))
  (func (export "both") (param "n" u32) (result u32) (canon lift (core func $both))))
