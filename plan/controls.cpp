// SPDX-License-Identifier: BSD-3-Clause
#include "controls.hpp"

#include <map>

namespace ww::plan {
namespace {

std::map<std::string, const ww_control_ops*>& controls() {
    static std::map<std::string, const ww_control_ops*> all;
    return all;
}

}  // namespace

void add_control(const std::string& source, const ww_control_ops& control) {
    controls()[source] = &control;
}

const ww_control_ops* find_control(const std::string& source) {
    const auto entry = controls().find(source);
    return entry == controls().end() ? nullptr : entry->second;
}

std::string source_of(const ww_control_ops& control) {
    for (const auto& [source, ops] : controls())
        if (ops == &control) return source;
    return "";
}

}  // namespace ww::plan
