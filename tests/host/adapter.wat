;; Two components: one calls the other with a text, through an adapter that the engine makes of both
;; (it copies the text from one memory to the other).
(component
  (component $measurer
    (core module $text
      (memory (export "memory") 1)
      (func $allocate (export "realloc") (param i32 i32 i32 i32) (result i32) i32.const 16)
      (func $measure (export "measure") (param $at i32) (param $size i32) (result i32) (local $sum i32)
        (loop $next
          (local.set $sum (i32.add (local.get $sum) (i32.load8_u (local.get $at))))
          (local.set $at (i32.add (local.get $at) (i32.const 1)))
          (br_if $next (local.tee $size (i32.sub (local.get $size) (i32.const 1)))))
        (local.get $sum)))
    (core instance $i (instantiate $text))
    (alias core export $i "memory" (core memory $memory))
    (alias core export $i "realloc" (core func $realloc))
    (alias core export $i "measure" (core func $measure))
    (func (export "measure") (param "s" string) (result u32)
      (canon lift (core func $measure) (memory $memory) (realloc $realloc))))
  (component $user
    (import "measure" (func $measure (param "s" string) (result u32)))
    (core module $libc
      (memory (export "memory") 1)
      (func (export "realloc") (param i32 i32 i32 i32) (result i32) i32.const 16))
    (core module $app
      (import "text" "measure" (func $measure (param i32 i32) (result i32)))
      (func $caller (export "run") (param $n i32)
        (loop $again
          (drop (call $measure (i32.const 64) (i32.const 200)))
          (br_if $again (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))))
    (core instance $libc (instantiate $libc))
    (alias core export $libc "memory" (core memory $memory))
    (alias core export $libc "realloc" (core func $realloc))
    (core func $measure (canon lower (func $measure) (memory $memory) (realloc $realloc)))
    (core instance $app (instantiate $app
      (with "text" (instance (export "measure" (func $measure))))))
    (alias core export $app "run" (core func $run))
    (func (export "run") (param "n" u32) (canon lift (core func $run))))
  (instance $measurer (instantiate $measurer))
  (alias export $measurer "measure" (func $measure))
  (instance $user (instantiate $user (with "measure" (func $measure))))
  (export "run" (func $user "run")))
