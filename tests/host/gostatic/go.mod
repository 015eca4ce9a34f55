module gohost

go 1.19

require github.com/bytecodealliance/wasmtime-go/v44 v44.0.0
