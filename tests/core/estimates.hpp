// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "../../core/westwood.h"

inline double bytes_per_second(std::uint64_t bandwidth) {
    return static_cast<double>(bandwidth) / static_cast<double>(1u << WW_BW_FRACTION);
}
