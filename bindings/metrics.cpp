// SPDX-License-Identifier: BSD-3-Clause
//
// Binds the rows of a run and the statistics of numbers (metrics/).
#include <nanobind/stl/tuple.h>

#include <cmath>
#include <deque>
#include <tuple>

#include "../engine/base/seconds.hpp"
#include "../metrics/observers.hpp"
#include "../metrics/rows.hpp"
#include "../metrics/statistics.hpp"
#include "../plan/fair_shares.hpp"
#include "../plan/scenario.hpp"
#include "bindings.hpp"

namespace ww::bindings {
namespace {

using metrics::Numbers;

// Keeps what columns point to.
struct Kept {
    std::deque<std::vector<double>> lists;
    std::deque<nb::ndarray<nb::ro>> views;
};

template <class T>
Numbers numbers_of(const nb::ndarray<nb::ro>& view) {
    return {static_cast<const T*>(view.data()),
            sizeof(T) * static_cast<std::size_t>(view.stride(0))};
}

// Returns a column, which is a list or a view of numbers.
Numbers numbers(nb::handle column, Kept& kept) {
    if (nb::isinstance<nb::list>(column)) {
        kept.lists.push_back(nb::cast<std::vector<double>>(column));
        return {kept.lists.back().data()};
    }
    const nb::ndarray<nb::ro>& view =
        kept.views.emplace_back(nb::cast<nb::ndarray<nb::ro>>(column));
    if (view.dtype() == nb::dtype<double>()) return numbers_of<double>(view);
    if (view.dtype() == nb::dtype<std::uint64_t>()) return numbers_of<std::uint64_t>(view);
    if (view.dtype() == nb::dtype<std::int64_t>()) return numbers_of<std::int64_t>(view);
    if (view.dtype() == nb::dtype<std::uint32_t>()) return numbers_of<std::uint32_t>(view);
    throw std::invalid_argument("a column of another type");
}

metrics::Messages messages_of(const nb::dict& columns, Kept& kept) {
    metrics::Messages all;
    if (nb::len(columns) == 0) return all;
    all.count = nb::len(nb::object(columns["connection"]));
    if (all.count == 0) return all;
#define WW_ROW(type, name, ...) all.name = numbers(columns[#name], kept);
    WW_MESSAGE_COLUMNS(WW_ROW)
#undef WW_ROW
    return all;
}

metrics::Connections connections_of(const nb::dict& columns, const nb::dict& messages, Kept& kept) {
    metrics::Connections connections;
    connections.count = nb::len(nb::object(columns["source"]));
    connections.source = numbers(columns["source"], kept);
#define WW_ROW(type, name, ...) connections.name = numbers(columns[#name], kept);
    WW_FLOW_COLUMNS(WW_ROW)
#undef WW_ROW
    connections.messages = messages_of(messages, kept);
    return connections;
}

nb::dict dict_of(const metrics::Row& row) {
    nb::dict row_dict;
    for (const metrics::Column& column : metrics::columns()) {
        const double value = row.*column.value;
        if (column.is_count && !std::isnan(value))
            row_dict[column.name] = static_cast<std::int64_t>(value);
        else
            row_dict[column.name] = value;
    }
    return row_dict;
}

using UsedTuple = std::pair<double, double>;

struct Rows {  // of a run's flows
    std::vector<metrics::Row> all;
};

Rows rows(const plan::Scenario& scenario, const nb::dict& connections, const nb::dict& messages,
          const std::vector<UsedTuple>& directions) {
    const sim::Network& network = scenario.plan.network;
    std::vector<metrics::Planned> planned;
    for (const sim::Flow& flow : network.flows)
        planned.push_back({!flow.datagrams.on, flow.arrivals_mean > 0, sim::seconds(flow.start),
                           sim::seconds(flow.stop),
                           flow.application.kind >= sim::ApplicationKind::request});
    std::vector<metrics::Used> used;
    for (const auto& [utilisation, waited_s] : directions) used.push_back({utilisation, waited_s});
    Kept kept;
    return {metrics::rows(
        planned, connections_of(connections, messages, kept), used, sim::seconds(network.duration),
        [&](const metrics::Spans& active) { return plan::fair_shares_bps(network, active); })};
}

using Floats = nb::ndarray<const double, nb::ndim<1>>;

double observe(const std::string& column, const Floats& time_s, const Floats& cwnd,
               const Floats& ssthresh, const Floats& estimate_bps,
               const metrics::Surroundings& run) {
    const auto numbers = [](const Floats& all) -> Numbers {
        return {all.data(), sizeof(double) * static_cast<std::size_t>(all.stride(0))};
    };
    const metrics::Windows windows = {time_s.shape(0), numbers(time_s), numbers(cwnd),
                                      numbers(ssthresh), numbers(estimate_bps)};
    return metrics::observe(column, windows, run);
}

nb::list row_columns() {
    nb::list listed;
    for (const metrics::Column& column : metrics::columns()) {
        nb::dict row;
        row["name"] = column.name;
        row["unit"] = column.unit;
        row["title"] = column.title;
        row["what"] = column.what;
        row["head"] = column.head;
        row["scale"] = column.scale;
        row["digits"] = column.digits;
        row["with_interval"] = (column.shown & WW_COLUMN_WITH_INTERVAL) != 0;
        row["if_several"] = (column.shown & WW_COLUMN_IF_SEVERAL) != 0;
        row["if_known"] = (column.shown & WW_COLUMN_IF_KNOWN) != 0;
        listed.append(row);
    }
    return listed;
}

}  // namespace

void bind_metrics(nb::module_& m) {
    m.attr("ROW_COLUMNS") = row_columns();
    nb::class_<Rows>(m, "Rows", "The columns of each flow's row.")
        .def("__len__", [](const Rows& self) { return self.all.size(); })
        .def(
            "__getitem__",
            [](const Rows& self, std::size_t place) {
                if (place >= self.all.size()) throw nb::index_error();
                return dict_of(self.all[place]);
            },
            nb::sig("def __getitem__(self, place: int, /) -> dict[str, typing.Any]"));
    m.def("rows", &rows, "plan"_a, "connections"_a, "messages"_a, "directions"_a,
          nb::sig("def rows(plan: Plan, connections: dict, messages: dict, "
                  "directions: collections.abc.Sequence[tuple[float, float]]) "
                  "-> Rows"),
          "Returns the columns of each flow's row. A direction is its utilisation and waiting "
          "time.");
    nb::class_<metrics::Surroundings>(m, "Surroundings", "What observed columns depend on.")
        .def(nb::init<>())
#define WW_ATTRIBUTE(name) .def_rw(#name, &metrics::Surroundings::name)
            WW_ATTRIBUTE(duration_s) WW_ATTRIBUTE(min_rtt_s) WW_ATTRIBUTE(packet_bytes)
                WW_ATTRIBUTE(payload_bytes) WW_ATTRIBUTE(slowest_bps) WW_ATTRIBUTE(link_bps)
                    WW_ATTRIBUTE(overhead_bytes) WW_ATTRIBUTE(udp_bps) WW_ATTRIBUTE(udp_start_s)
                        WW_ATTRIBUTE(udp_on_s) WW_ATTRIBUTE(udp_off_s);
#undef WW_ATTRIBUTE
    m.def("observe", &observe, "column"_a, "time_s"_a, "cwnd"_a, "ssthresh"_a, "estimate_bps"_a,
          "run"_a, "Returns a column that only a trace has: metrics/observers.hpp.");
    const std::vector<std::string_view>& observed = metrics::observed();
    m.attr("OBSERVED") = nb::cast(std::vector<std::string>(observed.begin(), observed.end()));
    m.def("jain", &metrics::jain, "rates"_a,
          "Returns Jain's fairness index, 1/n (one has all) to 1 (all equal); NaN if all are 0.");
    m.def(
        "spread",
        [](const std::vector<double>& values) {
            const metrics::Spread spread = metrics::spread(values);
            return std::tuple(spread.mean, spread.deviation, spread.runs);
        },
        "values"_a, "Returns the mean of the values that are not NaN, their deviation and number.");
    m.def(
        "compare",
        [](const std::vector<std::pair<double, double>>& pairs) {
            const metrics::Comparison comparison = metrics::compare(pairs);
            const auto& [mean, deviation, runs] = comparison.difference;
            return std::tuple(mean, deviation, runs, comparison.ratio, comparison.residual,
                              comparison.second);
        },
        "pairs"_a,
        "Compares the first of each pair with the second: the mean of the differences, their "
        "deviation and number, the ratio of the means, the deviation of its residuals, and the "
        "second's mean.");
    m.attr("LEVEL") = metrics::kLevel;
    m.def("t_probability", &metrics::t_probability, "t"_a, "dof"_a,
          "Returns P(|T| < t) for Student's t with `dof` degrees of freedom.");
    m.def("t_quantile", &metrics::t_quantile, "dof"_a, "level"_a = metrics::kLevel,
          "Returns the t with P(|T| < t) = `level`: 12.706 for one degree of freedom at 95 %.");
    m.def("half_width", &metrics::half_width, "deviation"_a, "runs"_a, "level"_a = metrics::kLevel,
          "Returns half the width of a mean's confidence interval; NaN for one run.");
    m.def("percentile", &metrics::percentile, "values"_a, "share"_a,
          "Returns the interpolated quantile for a share from 0 to 1; NaN without values.");
}

}  // namespace ww::bindings
