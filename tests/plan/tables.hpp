// SPDX-License-Identifier: BSD-3-Clause
//
// A scenario of one link and one flow, as tables that a test changes.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "plan/scenario.hpp"
#include "plan/section.hpp"

namespace ww::plan::test {

inline Value text(const char* words) { return {std::string(words)}; }

inline Table without(Table table, const std::string& key) {
    std::erase_if(table, [&](const Entry& entry) { return entry.key == key; });
    return table;
}

inline Table with(const Table& table, const std::string& key, Value value) {
    Table changed = without(table, key);
    changed.push_back({key, std::move(value)});
    return changed;
}

inline const Table kQueue = {{"kind", text("droptail")}, {"limit", text("100p")}};
inline const Table kLink = {{"name", text("wire")},
                            {"between", {List{text("a"), text("b")}}},
                            {"rate", text("2Mbps")},
                            {"delay", text("45ms")},
                            {"queue", {kQueue}}};
inline const Table kFlow = {{"name", text("tcp")},
                            {"from", text("a")},
                            {"to", text("b")},
                            {"cc", {Table{{"name", text("westwood+")}}}},
                            {"recovery", text("sack")}};

inline wire::Plan read(const Table& link, const Table& flow = kFlow) {
    return read_scenario({{"name", text("mine")},
                          {"duration", text("20s")},
                          {"link", {List{{link}}}},
                          {"flow", {List{{flow}}}}});
}

inline std::string problem(const Table& link, const Table& flow = kFlow) {
    try {
        read(link, flow);
    } catch (const Problem& wrong) {
        return wrong.what();
    }
    return "none";
}

}  // namespace ww::plan::test
