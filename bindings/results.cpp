// SPDX-License-Identifier: BSD-3-Clause
//
// Binds what comes out of a simulation: counts as attributes, traces as columns.
#include "bindings.hpp"

namespace ww::bindings {
namespace {

using namespace ww::sim;

constexpr std::array kDrops = {WW_DROP_KINDS(WW_NAME_OF)};
constexpr std::array kEvents = {WW_EVENT_KINDS(WW_NAME_OF)};

nb::dict trace(const FlowResult& result) {
    nb::dict columns;
#define WW_ROW(type, name, what) columns[#name] = array(result.trace.name);
    WW_WINDOW_COLUMNS(WW_ROW)
#undef WW_ROW
    return columns;
}

nb::dict event_log(const FlowResult& result) {
    nb::dict columns;
    columns["time_s"] = column<double>(result.events, &Event::time_s);
    columns["kind"] = column<std::uint8_t>(result.events, &Event::kind);
    columns["segment"] = column<std::int64_t>(result.events, &Event::segment);
    columns["cwnd"] = column<std::uint32_t>(result.events, &Event::cwnd);
    columns["ssthresh"] = column<std::uint32_t>(result.events, &Event::ssthresh);
    return columns;
}

nb::dict drops(const Result& result) {
    nb::dict columns;
#define WW_ROW(type, name, what) \
    columns[#name] = column<WW_TRACE_TYPE_##type>(result.drops, &Drop::name);
    WW_DROP_COLUMNS(WW_ROW)
#undef WW_ROW
    return columns;
}

nb::dict captured(const Result& result) {
    nb::dict columns;
    columns["time_ps"] = column<std::int64_t>(result.captured, &Captured::at);
    columns["flow"] = column<std::uint32_t>(result.captured, &Captured::flow);
    columns["number"] = column<std::uint32_t>(result.captured, &Captured::number);
    columns["payload"] = column<std::uint16_t>(result.captured, &Captured::payload);
    columns["flags"] = column<std::uint16_t>(result.captured, &Captured::flags);
    columns["leaving"] = column<std::uint8_t>(result.captured, &Captured::leaving);
    columns["sack_count"] = column<std::uint8_t>(result.captured, &Captured::sack_count);
    std::vector<std::uint32_t> blocks;
    blocks.reserve(8 * result.captured.size());
    for (const Captured& row : result.captured)
        blocks.insert(blocks.end(), std::begin(row.sack), std::end(row.sack));
    columns["sack"] = array(std::move(blocks));
    return columns;
}

nb::dict queue(const DirectionResult& result) {
    nb::dict columns;
#define WW_ROW(type, name, what) columns[#name] = array(result.trace.name);
    WW_QUEUE_COLUMNS(WW_ROW)
#undef WW_ROW
    return columns;
}

}  // namespace

void bind_results(nb::module_& m) {
    nb::class_<FlowResult>(m, "FlowResult", "What became of a flow: engine/network.hpp.")
        .def_ro("source", &FlowResult::source)
#define WW_ATTRIBUTE(type, name, ...) .def_ro(#name, &FlowResult::name)
            WW_FLOW_COLUMNS(WW_ATTRIBUTE)
#undef WW_ATTRIBUTE
        .def("trace", &trace,
             nb::sig("def trace(self) -> dict[str, numpy.typing.NDArray[typing.Any]]"),
             "Columns of the window trace, one entry a row.")
        .def("event_log", &event_log,
             nb::sig("def event_log(self) -> dict[str, numpy.typing.NDArray[typing.Any]]"),
             "Columns of the event log; kind indexes EVENT_KINDS.");

    nb::class_<DirectionResult>(m, "DirectionResult", "What crossed a direction of a link.")
#define WW_ATTRIBUTE(type, name, ...) .def_ro(#name, &DirectionResult::name)
        WW_DIRECTION_COLUMNS(WW_ATTRIBUTE)
#undef WW_ATTRIBUTE
            .def("queue", &queue,
                 nb::sig("def queue(self) -> dict[str, numpy.typing.NDArray[typing.Any]]"),
                 "Columns of the packets that waited, one entry a packet.");

    nb::class_<Result>(m, "Result", "One simulation's outcome.")
        .def_ro("flows", &Result::flows)
        .def_ro("forward", &Result::forward)
        .def_ro("backward", &Result::backward)
        .def("drops", &drops,
             nb::sig("def drops(self) -> dict[str, numpy.typing.NDArray[typing.Any]]"),
             "Columns of the drops; kind indexes DROP_KINDS, pipe is 2 link (+ 1 backward).")
        .def("captured", &captured,
             nb::sig("def captured(self) -> dict[str, numpy.typing.NDArray[typing.Any]]"),
             "Columns of the captured packets; sack has eight entries each.")
        .def_ro("packets", &Result::packets)
        .def_ro("events", &Result::events);
    m.attr("DROP_KINDS") = std::vector<std::string>(kDrops.begin(), kDrops.end());
    m.attr("EVENT_KINDS") = std::vector<std::string>(kEvents.begin(), kEvents.end());
}

}  // namespace ww::bindings
