// SPDX-License-Identifier: BSD-3-Clause
//
// Where the results of two runs differ that must be the same: with an event per hop, other records,
// on another thread, from other sequence numbers.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "engine/network.hpp"

namespace ww::sim::fuzz {

template <class T>
bool same(const T& a, const T& b) {  // NaN: there is none in either
    return a == b || (a != a && b != b);
}
inline bool same(const Event& a, const Event& b) {
    return a.time_s == b.time_s && a.kind == b.kind && a.segment == b.segment && a.cwnd == b.cwnd &&
           a.ssthresh == b.ssthresh;
}
inline bool same(const Drop& a, const Drop& b) {
    return a.time_s == b.time_s && a.channel == b.channel && a.flow == b.flow;
}
inline bool same(const Captured& a, const Captured& b) {
    return a.at == b.at && a.number == b.number;
}
inline bool same(const Message& a, const Message& b) {
#define WW_ROW(type, name, ...) &&same(a.name, b.name)
    return true WW_MESSAGE_COLUMNS(WW_ROW);
#undef WW_ROW
}
template <class T>
bool same(const std::vector<T>& a, const std::vector<T>& b) {
    const auto alike = [](const T& x, const T& y) { return same(x, y); };
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), alike);
}

// Returns the first column that differs, or "".
inline std::string difference(const Result& a, const Result& b) {
    if (a.error != b.error || a.flows.size() != b.flows.size()) return "error or flows";
    std::string first = a.packets == b.packets ? "" : "packets";
    const auto check = [&](bool is_same, const std::string& column) {
        if (!is_same && first.empty()) first = column;
    };
#define WW_ROW(type, name, ...) check(same(x.name, y.name), #name + who);
#define WW_TRACE_ROW(type, name, ...) check(same(x.trace.name, y.trace.name), "trace." #name + who);
#define WW_STATE_ROW(type, name, ...) check(same(x.states.name, y.states.name), #name + who);
    for (std::size_t i = 0; i < a.flows.size(); i++) {
        const FlowResult &x = a.flows[i], &y = b.flows[i];
        const std::string who = " of flow " + std::to_string(i);
        WW_FLOW_COLUMNS(WW_ROW)
        WW_WINDOW_COLUMNS(WW_TRACE_ROW)
        check(same(x.events, y.events), "events" + who);
    }
    for (const auto ways : {&Result::forward, &Result::backward})
        for (std::size_t i = 0; i < (a.*ways).size(); i++) {
            const DirectionResult &x = (a.*ways)[i], &y = (b.*ways)[i];
            const std::string who = " of link " + std::to_string(i);
            WW_DIRECTION_COLUMNS(WW_ROW)
            WW_QUEUE_COLUMNS(WW_TRACE_ROW)
            WW_STATE_COLUMNS(WW_STATE_ROW)
        }
#undef WW_ROW
#undef WW_TRACE_ROW
#undef WW_STATE_ROW
    check(same(a.drops, b.drops), "drops");
    check(same(a.captured, b.captured), "captured");
    check(same(a.messages, b.messages), "messages");
    return first;
}

}  // namespace ww::sim::fuzz
