// SPDX-License-Identifier: BSD-3-Clause
//
// What the benchmark programs report about themselves.
#pragma once

#include <cstdio>
#include <ctime>

inline double cpu_seconds() {
    timespec now{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// Returns the peak resident memory since the program began (getrusage would include the parent's).
inline long peak_kib() {
    long peak = 0;
    char line[128];
    std::FILE* status = std::fopen("/proc/self/status", "r");
    if (status == nullptr) return 0;
    while (std::fgets(line, sizeof line, status) != nullptr)
        if (std::sscanf(line, "VmHWM: %ld", &peak) == 1) break;
    std::fclose(status);
    return peak;
}
