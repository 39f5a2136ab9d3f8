/* SPDX-License-Identifier: GPL-2.0-only */
/* Makes the core inline: each program serves one control, so that the compiler folds the core's switches. */
#ifndef WW_INLINED_H
#define WW_INLINED_H

#define inline inline __attribute__((always_inline))
#define WW_LOOP __attribute__((noinline))

#endif
