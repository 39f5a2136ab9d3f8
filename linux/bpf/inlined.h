/* SPDX-License-Identifier: GPL-2.0-only */
/* Makes the core inline: each program serves one control, so that the compiler folds the core's switches. */
#ifndef WW_INLINED_H
#define WW_INLINED_H

#define inline inline __attribute__((always_inline))
#define WW_LOOP __attribute__((noinline))
/*
 * A function that the verifier checks by itself: it does not know the values behind the pointers, so far fewer paths
 * differ.
 */
#define WW_CHECKED_ALONE __attribute__((noinline))

#endif
