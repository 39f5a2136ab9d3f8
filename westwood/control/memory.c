/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a compiler may call for copies and comparisons of structs, and when a function has written past its arrays. A
 * control is linked with this file and with nothing else, so that it can't call a function of the C library, such as
 * abort.
 */
#include <stddef.h>

/* Without this gcc makes these loops calls of the same functions. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("no-tree-loop-distribute-patterns")
#define WW_PLAIN
#else
#define WW_PLAIN __attribute__((no_builtin))
#endif

void *memcpy(void *to, const void *from, size_t bytes);
void *memmove(void *to, const void *from, size_t bytes);
void *memset(void *to, int value, size_t bytes);
int memcmp(const void *one, const void *two, size_t bytes);

WW_PLAIN void *memcpy(void *to, const void *from, size_t bytes) {
    unsigned char *at = to;
    const unsigned char *its = from;
    while (bytes-- > 0) *at++ = *its++;
    return to;
}

WW_PLAIN void *memmove(void *to, const void *from, size_t bytes) {
    unsigned char *at = to;
    const unsigned char *its = from;
    if (at < its) return memcpy(to, from, bytes);
    while (bytes-- > 0) at[bytes] = its[bytes];
    return to;
}

WW_PLAIN void *memset(void *to, int value, size_t bytes) {
    unsigned char *at = to;
    while (bytes-- > 0) *at++ = (unsigned char)value;
    return to;
}

WW_PLAIN int memcmp(const void *one, const void *two, size_t bytes) {
    const unsigned char *a = one, *b = two;
    for (; bytes > 0; bytes--, a++, b++)
        if (*a != *b) return *a < *b ? -1 : 1;
    return 0;
}

/* x86-64 has a guard in each thread; other processors use this one. */
void __stack_chk_fail(void);
void __stack_chk_fail(void) { __builtin_trap(); }
extern const unsigned long __stack_chk_guard;
const unsigned long __stack_chk_guard = 0x00a5c3d29be17f00ul;
