;; A guest whose every call has another stack: the bits of BITS say who calls whom.
(module $patterns
  (func $left (param $bits i32) (param $depth i32) (result i32)
    (call $next (local.get $bits) (local.get $depth)))
  (func $right (param $bits i32) (param $depth i32) (result i32)
    (call $next (local.get $bits) (local.get $depth)))
  (func $next (param $bits i32) (param $depth i32) (result i32)
    (local $i i32)
    (if (i32.eqz (local.get $depth))
      (then
        (local.set $i (i32.const 20000))
        (loop $again
          (br_if $again (local.tee $i (i32.sub (local.get $i) (i32.const 1)))))
        (return (local.get $bits))))
    (if (result i32) (i32.and (local.get $bits) (i32.const 1))
      (then (call $left (i32.shr_u (local.get $bits) (i32.const 1))
                        (i32.sub (local.get $depth) (i32.const 1))))
      (else (call $right (i32.shr_u (local.get $bits) (i32.const 1))
                         (i32.sub (local.get $depth) (i32.const 1))))))
  (func (export "run") (param $bits i32)
    (drop (call $next (local.get $bits) (i32.const 30)))))
