// SPDX-License-Identifier: BSD-3-Clause
#include "rows.hpp"

#include <algorithm>
#include <cmath>

#include "statistics.hpp"

namespace ww::metrics {
namespace {

constexpr double kLimitedLeast = 0.1;  // of the run; a shorter limit is not reported

double ratio(double part, double whole) { return whole == 0 ? std::nan("") : part / whole; }

// Returns the mean of the values that are not NaN.
double mean(const std::vector<double>& values) {
    double total = 0, count = 0;
    for (const double value : values) {
        if (std::isnan(value)) continue;
        total += value;
        count++;
    }
    return ratio(total, count);
}

// A flow of a run, from which its columns are computed.
struct FlowOfRun {
    const Connections& connections;
    std::size_t first, last;  // its connections are first to last - 1
    const Planned& planned;
    double simulated_s;
    bool is_tcp = planned.is_tcp;
    std::vector<double> completions_s = {};

    std::size_t transfers = count();

    std::size_t count() const { return last - first; }

    // Takes the completion times of its transfers, which are connections or their messages.
    void take_transfers() {
        const Messages& all = connections.messages;
        if (!planned.has_messages) {
            for (std::size_t i = first; i < last; i++)
                take(connections.start_s[i], connections.completed_s[i]);
            return;
        }
        const std::size_t begin = first_of(all, first), end = first_of(all, last);
        for (std::size_t i = begin; i < end; i++) take(all.start_s[i], all.completed_s[i]);
        transfers = end - begin;
    }
    // Returns the first message of this connection or a later one.
    static std::size_t first_of(const Messages& all, std::size_t connection) {
        const auto number = static_cast<double>(connection);
        std::size_t low = 0, high = all.count;
        while (low < high) {
            const std::size_t middle = low + (high - low) / 2;
            (all.connection[middle] < number ? low = middle + 1 : high = middle);
        }
        return low;
    }
    void take(double start_s, double completed_s) {
        if (!std::isnan(completed_s)) completions_s.push_back(completed_s - start_s);
    }

    template <class Use>
    void each(const Numbers& column, Use use) const {
        for (std::size_t i = first; i < last; i++) use(column[i]);
    }

    double sum(const Numbers& column) const {
        double total = 0;
        each(column, [&](double value) { total += value; });
        return total;
    }

    double mean(const Numbers& column) const {
        double total = 0, known = 0;
        each(column, [&](double value) {
            if (!std::isnan(value)) total += value, known++;
        });
        return ratio(total, known);
    }

    double least(const Numbers& column) const {
        double extreme = std::nan("");
        each(column, [&](double value) { extreme = std::fmin(extreme, value); });
        return extreme;
    }

    double most(const Numbers& column) const {
        double extreme = std::nan("");
        each(column, [&](double value) { extreme = std::fmax(extreme, value); });
        return extreme;
    }

    // Returns a number of bytes as a rate over the flow's active time.
    double bit_rate(const Numbers& bytes) const {
        const auto [from_s, to_s] = active();
        return to_s > from_s ? 8 * sum(bytes) / (to_s - from_s) : 0;
    }

    // Returns its start, and its end or the last arrival if that is later. It ends when it completes, at its stop
    // or with the run. A flow with arrivals ends with the run, because its transfers continue after its stop.
    std::pair<double, double> active() const {
        if (planned.arrives || count() == 0) return {planned.start_s, simulated_s};
        const double completed_s = connections.completed_s[first];
        const double end_s =
            std::isnan(completed_s) ? std::min(simulated_s, planned.stop_s) : completed_s;
        return {connections.start_s[first], std::fmax(end_s, connections.last_arrival_s[first])};
    }

    // Returns the share of the run in which something limited it; NaN if that is short.
    double limited(const Numbers& limited_s) const {
        const double share = mean(limited_s) / simulated_s;
        return share > kLimitedLeast ? share : std::nan("");
    }
};

// A whole run, from which columns are computed.
struct Run {
    double simulated_s;
    Used busiest;
    double jain = std::nan("");
};

void set_flow_columns(const FlowOfRun& flow, Row& row) {
    const double unknown = std::nan("");
#define WW_VALUE_SUM(name) flow.sum(flow.connections.name)
#define WW_VALUE_MOST(name) flow.most(flow.connections.name)
#define WW_VALUE_MEAN(name) flow.is_tcp ? flow.mean(flow.connections.name) : unknown
#define WW_VALUE_LEAST(name) flow.is_tcp ? flow.least(flow.connections.name) : unknown
#define WW_SET_SUM(name) row.name = WW_VALUE_SUM(name);
#define WW_SET_MOST(name) row.name = WW_VALUE_MOST(name);
#define WW_SET_MEAN(name) row.name = WW_VALUE_MEAN(name);
#define WW_SET_LEAST(name) row.name = WW_VALUE_LEAST(name);
#define WW_SET_INNER(name)
#define WW_ROW(type, name, aggregate, ...) WW_SET_##aggregate(name)
    WW_FLOW_COLUMNS(WW_ROW)
#undef WW_ROW
#define WW_ROW(type, name, unit, title, head, scale, digits, shown, what, value) \
    row.name = static_cast<double>(value);
    WW_RATE_COLUMNS(WW_ROW)
    WW_COMPUTED_COLUMNS(WW_ROW)
#undef WW_ROW
}

void set_run_columns(const Run& run, bool is_tcp, double fair_share_bps, Row& row) {
#define WW_ROW(type, name, unit, title, head, scale, digits, shown, what, value) row.name = value;
    WW_RUN_COLUMNS(WW_ROW)
#undef WW_ROW
}

constexpr bool kIsCOUNT = true, kIsNUMBER = false;

}  // namespace

const std::vector<Column>& columns() {
    static const std::vector<Column> all = {
#define WW_ROW(type, name, ...) {#name, &Row::name, kIs##type, __VA_ARGS__},
#define WW_MEASURED(type, name, unit, title, head, what) \
    WW_ROW(type, name, unit, title, head, 1, 1, WW_COLUMN_ALWAYS, what)
#define WW_COMPUTED(type, name, unit, title, head, scale, digits, shown, what, value) \
    WW_ROW(type, name, unit, title, head, scale, digits, shown, what)
#define WW_ROW_SUM(...) WW_MEASURED(__VA_ARGS__)
#define WW_ROW_MEAN(...) WW_MEASURED(__VA_ARGS__)
#define WW_ROW_LEAST(...) WW_MEASURED(__VA_ARGS__)
#define WW_ROW_MOST(...) WW_MEASURED(__VA_ARGS__)
#define WW_ROW_INNER(...)
#define WW_AGGREGATED(type, name, aggregate, ...) WW_ROW_##aggregate(type, name, __VA_ARGS__)
        WW_RATE_COLUMNS(WW_COMPUTED) WW_FLOW_COLUMNS(WW_AGGREGATED) WW_COMPUTED_COLUMNS(WW_COMPUTED)
            WW_RUN_COLUMNS(WW_COMPUTED)
#undef WW_AGGREGATED
#undef WW_COMPUTED
#undef WW_MEASURED
#undef WW_ROW
    };
    return all;
}

std::vector<std::size_t> spans(const Connections& connections, std::size_t flows) {
    std::vector<std::size_t> starts = {0};
    for (std::size_t flow = 0, place = 0; flow < flows; flow++) {
        const auto number = static_cast<double>(flow);
        while (place < connections.count && connections.source[place] == number) place++;
        starts.push_back(place);
    }
    return starts;
}

std::vector<Row> rows(const std::vector<Planned>& flows, const Connections& connections,
                      const std::vector<Used>& directions, double simulated_s,
                      const FairShares& fair_shares) {
    const std::vector<std::size_t> bounds = spans(connections, flows.size());
    std::vector<Row> computed(flows.size());
    std::vector<double> goodputs_bps;
    Spans active;
    for (std::size_t i = 0; i < flows.size(); i++) {
        FlowOfRun flow = {connections, bounds[i], bounds[i + 1], flows[i], simulated_s};
        flow.take_transfers();
        set_flow_columns(flow, computed[i]);
        active.push_back(flow.active());
        if (flow.is_tcp) goodputs_bps.push_back(computed[i].goodput_bps);
    }
    Run run = {simulated_s, directions.empty() ? Used() : directions.front()};
    for (const Used& direction : directions)
        if (direction.utilisation > run.busiest.utilisation) run.busiest = direction;
    run.jain = jain(goodputs_bps);
    const std::vector<double> shares_bps = fair_shares(active);
    for (std::size_t i = 0; i < flows.size(); i++)
        set_run_columns(run, flows[i].is_tcp, shares_bps[i], computed[i]);
    return computed;
}

}  // namespace ww::metrics
