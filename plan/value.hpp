// SPDX-License-Identifier: BSD-3-Clause
//
// A scenario as its callers have it: tables of values, as a TOML file writes them.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace ww::plan {

struct Value;
struct Entry;
using Table = std::vector<Entry>;
using List = std::vector<Value>;
using Numbers = std::vector<std::int64_t>;  // a list of whole numbers, maybe millions

struct Value {
    std::variant<bool, std::int64_t, double, std::string, Numbers, List, Table> is;
};

struct Entry {
    std::string key;
    Value value;
};

}  // namespace ww::plan
