/* SPDX-License-Identifier: GPL-2.0-only */
/* The kernel's types under the names that the core uses: -nostdinc hides the compiler's header. */
#pragma once

#include <linux/limits.h>
#include <linux/types.h>

#define UINT8_MAX U8_MAX
#define UINT16_MAX U16_MAX
#ifndef UINT32_MAX
#define UINT32_MAX U32_MAX
#endif
#ifndef UINT64_MAX
#define UINT64_MAX U64_MAX
#endif
#define INT32_MAX S32_MAX
#define INT64_MAX S64_MAX
#define UINT32_C(value) value##U
#define UINT64_C(value) value##ULL
#define INT64_C(value) value##LL
