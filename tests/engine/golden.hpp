// SPDX-License-Identifier: BSD-3-Clause
//
// Recorded texts in tests/golden, which WW_UPDATE_GOLDEN=1 records again.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

namespace ww::sim::test {

inline bool updates_golden() {
    const char* const update = std::getenv("WW_UPDATE_GOLDEN");
    return update != nullptr && *update == '1';
}

inline std::string golden_text(const std::string& path) {
    std::ifstream file(path);
    EXPECT_TRUE(file) << path << " is missing: make golden";
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
}

inline void expect_golden(const std::string& path, const std::string& text) {
    if (updates_golden())
        std::ofstream(path) << text;
    else
        EXPECT_EQ(text, golden_text(path))
            << "if this is meant: make golden, and review the difference";
}

// The name of a test has letters, digits and underscores only.
inline std::string title_of(std::string name) {
    for (char& letter : name)
        if (letter == '-' || letter == '+') letter = '_';
    return name;
}

}  // namespace ww::sim::test
