# Builds build/libguestprof.so and build/guestprof; `make demo` and `make test` are the two commands
# of the README. Out of tree, quiet unless V=1. SAN=address,undefined or SAN=thread builds into its
# own folder.

CC ?= gcc
BUILD ?= build$(if $(SAN),-$(subst $(comma),-,$(SAN)))$(if $(filter clang%,$(CC)),-clang)
PREFIX ?= /usr/local
comma := ,

WARN := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith -Wvla -Werror
CFLAGS ?= -O2 -g
ALL_CFLAGS = -std=gnu11 $(CFLAGS) $(WARN) -fPIC -fvisibility=hidden -fno-omit-frame-pointer \
	-D_GNU_SOURCE -I. $(if $(SAN),,-include preload/base/floor.h) -MMD -MP $(if $(SAN),-fsanitize=$(SAN) -fno-sanitize-recover=all)

# Rooms by what they end up in; the order is the direction of includes.
LIBRARY_ROOMS := symtab preload/base preload/sig preload/hook preload/load preload/runtime \
	preload/sampler preload/unwind preload/profile preload/encode preload/control preload
COMMAND_ROOMS := symtab preload/base preload/encode preload/read preload/export preload/share preload/lines \
	$(patsubst %,preload/cmd/%,symbolize report live doctor fleet) preload/cmd
ROOMS := $(sort $(LIBRARY_ROOMS) $(COMMAND_ROOMS))

sources = $(wildcard $(1)/*.c)
objects = $(patsubst %.c,$(BUILD)/obj/%.o,$(1))
LIBRARY_SOURCES := $(foreach room,$(LIBRARY_ROOMS),$(call sources,$(room)))
# control/ is the host's, but for what both sides say.
COMMAND_SOURCES := $(foreach room,$(COMMAND_ROOMS),$(call sources,$(room))) preload/control/protocol.c

Q := $(if $(V),,@)
say = $(if $(V),,@printf '  %-5s %s\n' $(1) $(2))

.PHONY: benches all test test-all demo install clean check unit setup bench bench-quick format
all: $(BUILD)/libguestprof.so $(BUILD)/guestprof

$(BUILD)/obj/%.o: %.c
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) $(CFLAGS_$(subst /,_,$(patsubst %/,%,$(dir $<)))) -c -o $@ $<

# The assembler takes these in (.incbin), which -MMD does not see.
$(BUILD)/obj/preload/export/html_assets.o: $(wildcard preload/export/html/*)

# The handler's code: no calls into the stack protector, small frames, proven by check-sigsafe.
CFLAGS_preload_sig := -fno-stack-protector -fstack-usage -U_FORTIFY_SOURCE

# The libraries are static and hidden: nothing that we load may enter the host's global scope.
# libpthread and libdl hold what the floor names until glibc 2.34, and are empty since.
LIBRARY_LIBS := -l:libz.a -l:libiberty.a -Wl,--no-as-needed -l:libpthread.so.0 -l:libdl.so.2 -l:librt.so.1
$(BUILD)/libguestprof.so: $(call objects,$(LIBRARY_SOURCES)) preload/exports.map
	$(call say,LINK,$@)
	$(Q)$(CC) $(ALL_CFLAGS) -shared -o $@ $(filter %.o,$^) -Wl,--version-script=preload/exports.map \
		-Wl,-z,defs -Wl,-z,now -Wl,-z,nodelete -Wl,--exclude-libs,ALL $(LIBRARY_LIBS)

$(BUILD)/guestprof: $(call objects,$(COMMAND_SOURCES))
	$(call say,LINK,$@)
	$(Q)$(CC) $(ALL_CFLAGS) -o $@ $(filter %.o,$^) -ldw -lelf -lz -l:libiberty.a -lmicrohttpd -lpthread

# One archive a room, for the unit tests: tests/unit/ROOM/FILE_test.c links the rooms that its own may include.
define room_archive
$(BUILD)/rooms/$(notdir $(1)).a: $(call objects,$(call sources,$(1)))
	@mkdir -p $$(@D)
	$(Q)rm -f $$@ && ar rcs $$@ $$^
endef
$(foreach room,$(ROOMS),$(eval $(call room_archive,$(room))))

LINKS_symtab := symtab
LINKS_base := base
LINKS_sig := sig base
LINKS_hook := hook base
LINKS_load := load sig base symtab
LINKS_runtime := runtime load hook sig base symtab
LINKS_sampler := sampler hook sig base
LINKS_unwind := unwind base symtab
LINKS_profile := profile unwind load sig base symtab
LINKS_encode := encode base symtab
# its tests look at what exports make of it
LINKS_read := read export encode base symtab
LINKS_export := export read encode base symtab
LINKS_share := share export read encode base symtab
LINKS_control := control encode base
LINKS_lines := lines symtab
# the command as a whole: its rooms serve each other
LINKS_cmd := cmd symbolize report live doctor fleet lines share export read encode base control symtab
$(foreach room,symbolize report live doctor fleet,$(eval LINKS_$(room) := $(LINKS_cmd)))
LINKS_preload := preload sampler encode profile unwind load sig hook base symtab

UNIT_SOURCES := $(wildcard tests/unit/*/*_test.c)
UNIT_TESTS := $(patsubst tests/unit/%.c,$(BUILD)/unit/%,$(UNIT_SOURCES))
.SECONDEXPANSION:
$(BUILD)/unit/%: tests/unit/%.c $$(foreach r,$$(LINKS_$$(firstword $$(subst /, ,$$*))),$(BUILD)/rooms/$$(r).a)
	$(call say,TEST,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(filter-out -fvisibility=hidden,$(ALL_CFLAGS)) -o $@ $< \
		-Wl,--start-group $(filter %.a,$^) -Wl,--end-group -lcmocka -l:libz.a -l:libiberty.a -lpthread -ldl \
		$(if $(filter %/lines.a,$^),-ldw -lelf) $(if $(filter %/cmd.a,$^),-lmicrohttpd)
unit: $(UNIT_TESTS)

# scripts/fuzz builds these, with clang and SAN=fuzzer-no-link,address,undefined.
FUZZ_ARCHIVES := $(foreach room,symtab base encode read export share lines control doctor,$(BUILD)/rooms/$(room).a)
$(BUILD)/fuzz/%: tests/fuzz/%.c $(FUZZ_ARCHIVES)
	$(call say,FUZZ,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(filter-out -fvisibility=hidden,$(ALL_CFLAGS)) -fsanitize=fuzzer -o $@ $< \
		-Wl,--start-group $(filter %.a,$^) -Wl,--end-group -ldw -lelf -lz -l:libiberty.a -lpthread

# Benches link whatever they measure; those that need a real engine are built by scripts/bench.
BENCHES := $(patsubst tests/bench/%.c,$(BUILD)/bench/%,$(wildcard tests/bench/*_bench.c))
LIBRARY_ARCHIVES := $(foreach room,$(filter-out preload,$(LIBRARY_ROOMS)),$(BUILD)/rooms/$(notdir $(room)).a)
$(BUILD)/bench/%: tests/bench/%.c $(LIBRARY_ARCHIVES)
	$(call say,BENCH,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(filter-out -fvisibility=hidden,$(ALL_CFLAGS)) -o $@ $< \
		-Wl,--start-group $(filter %.a,$^) -Wl,--end-group -l:libz.a -l:libiberty.a -lpthread -ldl
benches: $(BENCHES)

setup:
	$(Q)scripts/setup
test:
	$(Q)scripts/run-tests
test-all:
	$(Q)scripts/run-tests --all
demo:
	$(Q)scripts/demo
bench bench-quick:
	$(Q)scripts/bench $(if $(filter bench-quick,$@),--quick)

format:
	$(Q)clang-format -i $$(git ls-files '*.c' '*.h')

install: all
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/lib/guestprof $(DESTDIR)$(PREFIX)/include
	install -m 755 $(BUILD)/guestprof $(DESTDIR)$(PREFIX)/bin/guestprof
	install -m 755 $(BUILD)/libguestprof.so $(DESTDIR)$(PREFIX)/lib/guestprof/libguestprof.so
	install -m 644 preload/guestprof.h $(DESTDIR)$(PREFIX)/include/guestprof.h
	install -d $(DESTDIR)$(PREFIX)/share/guestprof/schema
	install -m 644 preload/cmd/schema/*.json $(DESTDIR)$(PREFIX)/share/guestprof/schema

clean:
	rm -rf build build-*

-include $(shell find $(BUILD) -type f -name '*.d' 2>/dev/null)
