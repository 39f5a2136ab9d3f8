// SPDX-License-Identifier: BSD-3-Clause
//
// Binds the output of a simulation: counts as attributes, traces as columns.
#include "bindings.hpp"

namespace ww::bindings {
namespace {

using namespace ww::sim;

constexpr std::array kDrops = {WW_DROP_KINDS(WW_NAME_OF)};
constexpr std::array kPackets = {WW_PACKET_KINDS(WW_NAME_OF)};
constexpr std::array kEvents = {WW_EVENT_KINDS(WW_NAME_OF)};

// These methods need the Python object, which their views keep alive.
template <class T>
const T& held(nb::handle self) {
    return nb::cast<const T&>(self);
}

nb::dict windows(nb::handle self) {
    const Records& records = held<Records>(self);
    nb::dict columns;
    columns["connection"] = view(self, records.windows_of);
#define WW_ROW(type, name, what) columns[#name] = view(self, records.windows.name);
    WW_WINDOW_COLUMNS(WW_ROW)
#undef WW_ROW
    if (!records.has_shown) return columns;
#define WW_ROW(type, name, what) columns[#name] = view(self, records.shown.name);
    WW_SHOWN_COLUMNS(WW_ROW)
#undef WW_ROW
    return columns;
}

nb::dict events(nb::handle self) {
    const Records& records = held<Records>(self);
    const std::vector<Event>& rows = records.events;
    nb::dict columns;
    columns["connection"] = view(self, records.events_of);
    columns["time_s"] = view<double>(self, rows, &Event::time_s);
    columns["kind"] = view<std::uint8_t>(self, rows, &Event::kind);
    columns["segment"] = view<std::int64_t>(self, rows, &Event::segment);
    columns["cwnd"] = view<std::uint32_t>(self, rows, &Event::cwnd);
    columns["ssthresh"] = view<std::uint32_t>(self, rows, &Event::ssthresh);
    return columns;
}

nb::dict queues(nb::handle self) {
    const Records& records = held<Records>(self);
    nb::dict columns;
    columns["channel"] = view(self, records.queues_of);
#define WW_ROW(type, name, what) columns[#name] = view(self, records.queues.name);
    WW_QUEUE_COLUMNS(WW_ROW)
#undef WW_ROW
    return columns;
}

nb::dict states(nb::handle self) {
    const Records& records = held<Records>(self);
    nb::dict columns;
    columns["channel"] = view(self, records.states_of);
#define WW_ROW(type, name, what) columns[#name] = view(self, records.states.name);
    WW_STATE_COLUMNS(WW_ROW)
#undef WW_ROW
    return columns;
}

nb::dict drops(nb::handle self) {
    const std::vector<Drop>& rows = held<Records>(self).drops;
    nb::dict columns;
#define WW_ROW(type, name, what) \
    columns[#name] = view<WW_TRACE_TYPE_##type>(self, rows, &Drop::name);
    WW_DROP_COLUMNS(WW_ROW)
#undef WW_ROW
    return columns;
}

nb::dict captured(nb::handle self) {
    const std::vector<Captured>& rows = held<Records>(self).captured;
    nb::dict columns;
    columns["time_ps"] = view<std::int64_t>(self, rows, &Captured::at);
    columns["flow"] = view<std::uint32_t>(self, rows, &Captured::flow);
    columns["number"] = view<std::uint32_t>(self, rows, &Captured::number);
    columns["payload"] = view<std::uint16_t>(self, rows, &Captured::payload);
    columns["flags"] = view<std::uint16_t>(self, rows, &Captured::flags);
    columns["leaving"] = view<std::uint8_t>(self, rows, &Captured::leaving);
    columns["sack_count"] = view<std::uint8_t>(self, rows, &Captured::sack_count);
    constexpr std::size_t kNumbers = std::extent_v<decltype(Captured::sack)>;
    constexpr std::size_t kStride = sizeof(Captured) / sizeof(std::uint32_t);
    columns["sack"] = nb::ndarray<nb::numpy, const std::uint32_t, nb::ndim<2>>(
        rows.empty() ? nullptr : rows.data()->sack, {rows.size(), kNumbers}, self, {kStride, 1});
    return columns;
}

// A column of few connections; a list is faster to make and to read than a view.
template <class To, class Row, class From>
nb::list list(const std::vector<Row>& rows, From Row::*field) {
    nb::list values;
    for (const Row& row : rows) values.append(static_cast<To>(row.*field));
    return values;
}

nb::dict connections(nb::handle self) {
    constexpr std::size_t kFew = 10'000;
    const std::vector<FlowCounts>& rows = held<Outcome>(self).connections;
    const bool few = rows.size() <= kFew;
    nb::dict columns;
#define WW_COLUMN(type, name)                                 \
    if (few)                                                  \
        columns[#name] = list<type>(rows, &FlowCounts::name); \
    else                                                      \
        columns[#name] = view<type, nb::memview>(self, rows, &FlowCounts::name);
#define WW_ROW(type, name, ...) WW_COLUMN(WW_COLUMN_TYPE_##type, name)
    WW_COLUMN(std::uint32_t, source)
    WW_FLOW_COLUMNS(WW_ROW)
#undef WW_ROW
#undef WW_COLUMN
    return columns;
}

// The responses and chunks of all connections.
nb::dict messages(nb::handle self) {
    const std::vector<Message>& rows = held<Outcome>(self).messages;
    nb::dict columns;
#define WW_ROW(type, name, ...) columns[#name] = list<WW_COLUMN_TYPE_##type>(rows, &Message::name);
    WW_MESSAGE_COLUMNS(WW_ROW)
#undef WW_ROW
    return columns;
}

}  // namespace

void bind_results(nb::module_& m) {
    nb::class_<Records>(m, "Records", "What a run recorded, or a part of it: columns of tables.")
#define WW_TABLE(name, what) \
    .def(#name, &name,       \
         nb::sig("def " #name "(self) -> dict[str, numpy.typing.NDArray[typing.Any]]"), what)
        WW_TABLE(windows, "By time, with the connection of each row.")
            WW_TABLE(events, "By time, with the connection; kind indexes EVENT_KINDS.") WW_TABLE(
                queues, "The packets that waited, with the channel: 2 link (+ 1 backward).")
                WW_TABLE(states,
                         "What disciplines declare; column is a place in QUEUES[i].columns.")
                    WW_TABLE(drops,
                             "By time; kind indexes DROP_KINDS, channel is 2 link (+ 1 backward).")
                        WW_TABLE(captured,
                                 "The captured packets by time; sack has eight entries each.");

    nb::class_<DirectionResult>(m, "DirectionResult", "What crossed a direction of a link.")
#define WW_ATTRIBUTE(type, name, ...) .def_ro(#name, &DirectionResult::name)
        WW_DIRECTION_COLUMNS(WW_ATTRIBUTE)
#undef WW_ATTRIBUTE
            ;

    nb::class_<Outcome>(m, "Outcome", "One simulation's outcome.")
        .def("connections", &connections, nb::sig("def connections(self) -> dict[str, typing.Any]"),
             "What became of each connection: engine/columns.hpp. Lists, or views of many.")
        .def("messages", &messages, nb::sig("def messages(self) -> dict[str, typing.Any]"),
             "The responses and chunks of the connections: engine/columns.hpp.")
        .def_ro("forward", &Outcome::forward)
        .def_ro("backward", &Outcome::backward)
        .def_ro("records", &Outcome::records)
        .def_ro("packets", &Outcome::packets)
        .def_ro("events", &Outcome::events);
    m.attr("DROP_KINDS") = std::vector<std::string>(kDrops.begin(), kDrops.end());
    m.attr("PACKET_KINDS") = std::vector<std::string>(kPackets.begin(), kPackets.end());
    m.attr("EVENT_KINDS") = std::vector<std::string>(kEvents.begin(), kEvents.end());
}

}  // namespace ww::bindings
