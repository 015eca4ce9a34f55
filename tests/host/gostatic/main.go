// SPDX-License-Identifier: MIT
//
// main.go - a Go host on the `wasmtime-go` package, whose engine is linked statically: 200
// goroutines that sleep, grow their stacks and call a guest in a store of their own.
// Arguments: the guest, which exports `run` of an i32; the argument of its calls.
package main

import (
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/bytecodealliance/wasmtime-go/v44"
)

func fibonacci(n int) int {
	if n < 2 {
		return n
	}
	return fibonacci(n-1) + fibonacci(n-2)
}

// Grows the stack, which then moves.
func deep(n int) []int {
	if n == 0 {
		return make([]int, 3)
	}
	return append(deep(n-1), n)
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func serve(engine *wasmtime.Engine, module *wasmtime.Module, number, argument int) int {
	sum := fibonacci(18) + len(deep(200))
	store := wasmtime.NewStore(engine)
	instance, err := wasmtime.NewInstance(store, module, nil)
	check(err)
	run := instance.GetExport(store, "run").Func()
	for i := 0; i < 3; i++ {
		_, err := run.Call(store, int32(argument+number%7*argument/6))
		check(err)
		time.Sleep(time.Millisecond)
	}
	return sum
}

func main() {
	bytes, err := os.ReadFile(os.Args[1])
	check(err)
	argument, err := strconv.Atoi(os.Args[2])
	check(err)
	engine := wasmtime.NewEngine()
	module, err := wasmtime.NewModule(engine, bytes)
	check(err)
	results := make(chan int)
	for i := 0; i < 200; i++ {
		go func(i int) { results <- serve(engine, module, i, argument) }(i)
	}
	total := 0
	for i := 0; i < 200; i++ {
		total += <-results
	}
	fmt.Println("go: sum", total)
}
