// SPDX-License-Identifier: MIT
//
// main.go - a Go host over the C API: goroutines that move between threads, with Go's own signal
// handling, while a guest of another one is sampled. Arguments: the guest; with a second one only
// one of them calls it, for half a second, and the program ends.
package main

/*
#include "../guest.h"
#include <stdlib.h>
*/
import "C"

import (
	"fmt"
	"os"
	"time"
	"unsafe"
)

type node struct {
	next *node
	some []int
}

func fibonacci(n int) int {
	if n < 2 {
		return n
	}
	return fibonacci(n-1) + fibonacci(n-2)
}

// Grows the stack, which then moves, and makes work for the collector.
func deep(n int) *node {
	if n == 0 {
		return &node{some: make([]int, 3)}
	}
	below := deep(n - 1)
	return &node{next: below, some: append(below.some, n)}
}

func main() {
	path := C.CString(os.Args[1])
	defer C.free(unsafe.Pointer(path))
	C.guest_load(path)
	results := make(chan int)
	for i := 0; i < 200; i++ {
		go func(i int) {
			sum := fibonacci(20) + len(deep(200).some)
			if len(os.Args) > 2 && i == 0 {
				C.guest_burn(500)
			} else if len(os.Args) == 2 && i%10 == 0 {
				C.guest_burn(150)
			}
			time.Sleep(time.Millisecond)
			results <- sum
		}(i)
	}
	total := 0
	for i := 0; i < 200; i++ {
		total += <-results
	}
	fmt.Println("go: sum", total)
}
