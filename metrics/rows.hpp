// SPDX-License-Identifier: BSD-3-Clause
//
// Makes the rows of a run, one for each flow of its scenario, from what the engine measured of its connections and
// links. columns.hpp declares what a row has.
#pragma once

#include <cstddef>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

#include "columns.hpp"
#include "numbers.hpp"

namespace ww::metrics {

// Responses and chunks that applications asked for (engine/columns.hpp), by connection.
struct Messages {
    std::size_t count = 0;
#define WW_ROW(type, name, ...) Numbers name;
    WW_MESSAGE_COLUMNS(WW_ROW)
#undef WW_ROW
};

// The measured columns of a run's connections; `source` is the number of their flow, in ascending order.
struct Connections {
    std::size_t count = 0;
    Numbers source;
#define WW_ROW(type, name, ...) Numbers name;
    WW_FLOW_COLUMNS(WW_ROW)
#undef WW_ROW
    Messages messages;
};

// What a row depends on of a flow's scenario.
struct Planned {
    bool is_tcp = true;
    bool arrives = false;  // it has many connections
    double start_s = 0;
    double stop_s = std::numeric_limits<double>::infinity();
    bool has_messages = false;  // its transfers are the messages of its connections
};

// What a row depends on of a link's direction.
struct Used {
    double utilisation = std::numeric_limits<double>::quiet_NaN();
    double waited_s = std::numeric_limits<double>::quiet_NaN();
};

struct Row {
#define WW_FIELD_SUM(name) double name;
#define WW_FIELD_MEAN(name) double name;
#define WW_FIELD_LEAST(name) double name;
#define WW_FIELD_MOST(name) double name;
#define WW_FIELD_INNER(name)
#define WW_ROW(type, name, aggregate, ...) WW_FIELD_##aggregate(name)
#define WW_COMPUTED(type, name, ...) double name;
    WW_RATE_COLUMNS(WW_COMPUTED)
    WW_FLOW_COLUMNS(WW_ROW)
    WW_COMPUTED_COLUMNS(WW_COMPUTED)
    WW_RUN_COLUMNS(WW_COMPUTED)
#undef WW_COMPUTED
#undef WW_ROW
#undef WW_FIELD_INNER
#undef WW_FIELD_MOST
#undef WW_FIELD_LEAST
#undef WW_FIELD_MEAN
#undef WW_FIELD_SUM
};

struct Column {
    const char* name;
    double Row::*value;
    bool is_count;
    const char *unit, *title, *head;
    double scale;
    int digits;
    unsigned shown;
    const char* what;
};

// Returns the columns of a row in their order.
const std::vector<Column>& columns();

// Returns the number of each flow's first connection, and behind them the number of connections.
std::vector<std::size_t> spans(const Connections& connections, std::size_t flows);

// The seconds from which and to which each flow is active: its goodput is over this time.
using Spans = std::vector<std::pair<double, double>>;

// Returns each flow's max-min fair share of the network over its span (plan/fair_shares.hpp), in bit/s.
using FairShares = std::function<std::vector<double>(const Spans& active)>;

// Returns a row for each flow. `directions` are those of all links, forward before backward.
std::vector<Row> rows(const std::vector<Planned>& flows, const Connections& connections,
                      const std::vector<Used>& directions, double simulated_s,
                      const FairShares& fair_shares);

}  // namespace ww::metrics
