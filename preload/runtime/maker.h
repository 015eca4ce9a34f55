/* SPDX-License-Identifier: MIT */
/*
 * maker.h - which engine of wasm an object holds, by texts in it.
 */
#ifndef PRELOAD_RUNTIME_MAKER_H
#define PRELOAD_RUNTIME_MAKER_H

/*
 * The engine in the loaded object that holds CALLER, by name: a static text; NULL when it holds
 * none. VERSION is "" when nothing tells it. The object's constants are read once, some ms for
 * each 100 MB; what was found is remembered. Our thread.
 */
const char *runtime_maker(const void *caller, char version[32]);

#endif /* PRELOAD_RUNTIME_MAKER_H */
