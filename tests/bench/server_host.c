/* SPDX-License-Identifier: MIT */
/*
 * server_host.c - an unmodified server: each request gets an instance of its own.
 *
 * usage: server_host GUEST.wasm CONNECTIONS [epochs]. Prints the port that it listens on at
 * loopback, takes CONNECTIONS clients with a thread each, and answers every byte with a byte, after
 * a new store, an instance, and a call of the guest's `run`. When all clients have gone it prints
 * the median time of making store and instance, in microseconds. With `epochs` the guest is
 * compiled with the engine's checks, which its own profiler needs.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/bench/engine_host.h"

enum { MAX_CONNECTIONS = 64, MAX_TIMES = 1 << 20, WORK = 20 };

static struct {
	wasm_engine_t *engine;
	wasmtime_instance_pre_t *instance;
	bool has_epochs;
	float *times; /* us of each request's instance */
	size_t time_count;
} server;

static void answer(void)
{
	double begin = monotonic_us();
	wasmtime_store_t *store = wasmtime_store_new(server.engine, NULL, NULL);
	wasmtime_context_t *context = wasmtime_store_context(store);
	wasmtime_val_t argument = { .kind = WASMTIME_I32, .of.i32 = WORK };
	wasm_trap_t *trap = NULL;
	wasmtime_instance_t instance;
	wasmtime_extern_t run;
	size_t place;

	if (server.has_epochs)
		wasmtime_context_set_epoch_deadline(context, 1000000);
	check(wasmtime_instance_pre_instantiate(server.instance, context, &instance, &trap),
	      "instantiate");
	place = __atomic_fetch_add(&server.time_count, 1, __ATOMIC_RELAXED);
	if (place < MAX_TIMES)
		server.times[place] = (float)(monotonic_us() - begin);
	if (!wasmtime_instance_export_get(context, &instance, "run", 3, &run))
		exit(1);
	check(wasmtime_func_call(context, &run.of.func, &argument, 1, NULL, 0, &trap), "call");
	wasmtime_extern_delete(&run);
	wasmtime_store_delete(store);
}

static void *serve(void *socket)
{
	int fd = (int)(intptr_t)socket, one = 1;
	char byte;

	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	while (read(fd, &byte, 1) == 1) {
		answer();
		if (write(fd, &byte, 1) != 1)
			break;
	}
	close(fd);
	return NULL;
}

static void load(const char *path)
{
	wasm_config_t *config = wasm_config_new();
	wasmtime_linker_t *linker;
	wasmtime_module_t *module;
	wasm_byte_vec_t wasm;

	wasmtime_config_epoch_interruption_set(config, server.has_epochs);
	server.engine = wasm_engine_new_with_config(config);
	linker = wasmtime_linker_new(server.engine);
	read_all(path, &wasm);
	check(wasmtime_module_new(server.engine, (uint8_t *)wasm.data, wasm.size, &module),
	      "compile");
	check(wasmtime_linker_instantiate_pre(linker, module, &server.instance), "link");
	wasmtime_linker_delete(linker);
	wasmtime_module_delete(module);
	wasm_byte_vec_delete(&wasm);
}

static int compare(const void *a, const void *b)
{
	float x = *(const float *)a, y = *(const float *)b;

	return (x > y) - (x < y);
}

static int listen_on_loopback(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET };
	socklen_t size = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof(address)) != 0 ||
	    listen(fd, MAX_CONNECTIONS) != 0 ||
	    getsockname(fd, (struct sockaddr *)&address, &size) != 0) {
		perror("server_host");
		exit(1);
	}
	printf("%d\n", ntohs(address.sin_port));
	fflush(stdout);
	return fd;
}

int main(int argc, char **argv)
{
	int count = argc >= 3 ? atoi(argv[2]) : 0, fd;
	pthread_t threads[MAX_CONNECTIONS];

	if (count < 1 || count > MAX_CONNECTIONS)
		return 2;
	server.has_epochs = argc > 3 && strcmp(argv[3], "epochs") == 0;
	server.times = calloc(MAX_TIMES, sizeof(*server.times));
	load(argv[1]);
	fd = listen_on_loopback();
	for (int i = 0; i < count; i++) {
		int client = accept(fd, NULL, NULL);

		if (client < 0 ||
		    pthread_create(&threads[i], NULL, serve, (void *)(intptr_t)client) != 0)
			return 1;
	}
	for (int i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	if (server.time_count > MAX_TIMES)
		server.time_count = MAX_TIMES;
	qsort(server.times, server.time_count, sizeof(*server.times), compare);
	printf("%.2f\n", (double)server.times[server.time_count / 2]);
	return 0;
}
