// SPDX-License-Identifier: BSD-3-Clause
//
// westwood._engine: the simulator's data contract (engine/network.hpp) for Python, and simulate(),
// which runs with the interpreter lock released. No policy and no metrics here.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <cmath>
#include <stdexcept>

#include "../engine/network.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace ww::sim;

namespace {

constexpr std::array kAlgorithms{"reno", "westwood", "cubic", "vegas", "bbr"};
constexpr std::array kSamplers{"per-ack", "per-rtt", "per-rtt-timer"};
constexpr std::array kFilters{"none", "ewma", "tustin-constant", "tustin", "ewma-twice"};
constexpr std::array kRecoveries{"tahoe", "reno", "newreno", "sack", "rate-halving", "prr"};
constexpr std::array kSpreads{"fixed", "exponential"};
constexpr std::array kLosses{"none", "uniform", "script", "states", "bits"};
constexpr std::array kDrops{"queue", "early", "wire", "mark"};
constexpr std::array kEvents{"send",     "retransmit", "ack",     "dupack",
                             "recovery", "exit",       "timeout", "ecn"};

struct PresetName {
    ww_preset_id id;
    const char* name;
};
#define WW_NAMED_PRESET(id, name) PresetName{id, name},
constexpr PresetName kPresets[] = {WW_PRESETS(WW_NAMED_PRESET)};
#undef WW_NAMED_PRESET

template <std::size_t N>
std::size_t position(const std::array<const char*, N>& names, const std::string& name) {
    for (std::size_t i = 0; i < N; i++)
        if (name == names[i]) return i;
    throw std::invalid_argument("unknown name '" + name + "'");
}

// An attribute of T that is an enumerator in C and its name in Python.
template <class T, class Field, std::size_t N>
void named(nb::class_<T>& type, const char* name, Field T::*field,
           const std::array<const char*, N>& names) {
    type.def_prop_rw(
        name,
        [field, &names](const T& self) {
            return std::string(names[static_cast<std::size_t>(self.*field)]);
        },
        [field, &names](T& self, const std::string& value) {
            self.*field = static_cast<Field>(position(names, value));
        });
}

// An attribute whose "no limit" value is -1 in Python.
template <class T, class Field>
void limited(nb::class_<T>& type, const char* name, Field T::*field, Field unlimited) {
    type.def_prop_rw(
        name,
        [field, unlimited](const T& self) {
            return self.*field == unlimited ? std::int64_t{-1}
                                            : static_cast<std::int64_t>(self.*field);
        },
        [field, unlimited](T& self, std::int64_t value) {
            self.*field = value == -1 ? unlimited : static_cast<Field>(value);
        });
}

// A numpy array that owns its data.
template <class T>
nb::ndarray<nb::numpy, T, nb::ndim<1>> array(std::vector<T> values) {
    auto* owned = new std::vector<T>(std::move(values));
    nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return {owned->data(), {owned->size()}, owner};
}

// One field of every row of a table.
template <class To, class Row, class From>
nb::ndarray<nb::numpy, To, nb::ndim<1>> column(const std::vector<Row>& rows, From Row::*field) {
    std::vector<To> values;
    values.reserve(rows.size());
    for (const Row& row : rows) values.push_back(static_cast<To>(row.*field));
    return array(std::move(values));
}

nb::dict trace(const FlowResult& result) {
    const WindowTrace& t = result.trace;
    nb::dict columns;
    columns["time_s"] = array(t.time_s);
    columns["cwnd"] = array(t.cwnd);
    columns["ssthresh"] = array(t.ssthresh);
    columns["estimate_bps"] = array(t.estimate_bps);
    columns["sample_bps"] = array(t.sample_bps);
    columns["rtt_s"] = array(t.rtt_s);
    columns["srtt_s"] = array(t.srtt_s);
    columns["rto_s"] = array(t.rto_s);
    columns["in_flight"] = array(t.in_flight);
    columns["phase"] = array(t.phase);
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
    columns["time_s"] = column<double>(result.drops, &Drop::time_s);
    columns["pipe"] = column<std::uint32_t>(result.drops, &Drop::pipe);
    columns["flow"] = column<std::uint32_t>(result.drops, &Drop::flow);
    columns["kind"] = column<std::uint8_t>(result.drops, &Drop::kind);
    columns["ack"] = column<std::uint8_t>(result.drops, &Drop::ack);
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
    columns["arrival_s"] = array(result.arrival_s);
    columns["start_s"] = array(result.start_s);
    columns["bytes"] = array(result.waiting_bytes);
    return columns;
}

void bind_congestion_control(nb::module_& m) {
    nb::class_<ww_config> cc(m, "CongestionControl",
                             "Settings of a congestion control: core/contract.h.");
    cc.def_prop_ro("algorithm",
                   [](const ww_config& self) { return std::string(kAlgorithms[self.algorithm]); });
    named(cc, "sampler", &ww_config::sampler, kSamplers);
    named(cc, "filter", &ww_config::filter, kFilters);
    cc.def_rw("virtual_m", &ww_config::virtual_m)
        .def_rw("tau_us", &ww_config::tau_us)
        .def_rw("min_interval_us", &ww_config::min_interval_us)
        .def_rw("alpha_permille", &ww_config::alpha_permille)
        .def_rw("min_cwnd", &ww_config::min_cwnd)
        .def_rw("byte_counting", &ww_config::byte_counting)
        .def_rw("validate_cwnd", &ww_config::validate_cwnd)
        .def_rw("set_cwnd_on_loss", &ww_config::set_cwnd_on_loss)
        .def_rw("seed_filter", &ww_config::seed_filter)
        .def_rw("literal_count", &ww_config::literal_count)
        .def_rw("reset_rtt_min", &ww_config::reset_rtt_min)
        .def_rw("set_at_exit", &ww_config::set_at_exit)
        .def_rw("halve_on_loss", &ww_config::halve_on_loss)
        .def_rw("cte_permille", &ww_config::cte_permille)
        .def_rw("hystart", &ww_config::hystart)
        .def_rw("fast_convergence", &ww_config::fast_convergence)
        .def_rw("vegas_alpha", &ww_config::vegas_alpha)
        .def_rw("vegas_beta", &ww_config::vegas_beta)
        .def_rw("vegas_gamma", &ww_config::vegas_gamma);
}

void bind_loss_and_red(nb::module_& m) {
    nb::class_<Loss> loss(m, "Loss", "What a wire loses; times in ps.");
    named(loss, "kind", &Loss::kind, kLosses);
    loss.def_rw("rate", &Loss::rate)
        .def_rw("packets", &Loss::packets)
        .def_prop_rw(
            "state_mean_ps",
            [](const Loss& self) { return std::pair(self.state_mean[0], self.state_mean[1]); },
            [](Loss& self, std::pair<Time, Time> mean) {
                self.state_mean[0] = mean.first;
                self.state_mean[1] = mean.second;
            })
        .def_prop_rw(
            "state_rate",
            [](const Loss& self) { return std::pair(self.state_rate[0], self.state_rate[1]); },
            [](Loss& self, std::pair<double, double> rate) {
                self.state_rate[0] = rate.first;
                self.state_rate[1] = rate.second;
            })
        .def_rw("state_fixed", &Loss::state_fixed);

    nb::class_<Red>(m, "Red", "Random Early Detection; off: drop-tail.")
        .def_rw("on", &Red::on)
        .def_rw("min_packets", &Red::min_packets)
        .def_rw("max_packets", &Red::max_packets)
        .def_rw("max_p", &Red::max_p)
        .def_rw("weight", &Red::weight)
        .def_rw("mean_packet_bytes", &Red::mean_packet_bytes)
        .def_rw("gentle", &Red::gentle)
        .def_rw("ecn", &Red::ecn);
}

void bind_links(nb::module_& m) {
    nb::class_<Direction> direction(m, "Direction",
                                    "One direction of a link; times in ps, -1: no limit.");
    direction.def(nb::init<>())
        .def_rw("rate_bps", &Direction::rate_bps)
        .def_rw("delay_ps", &Direction::delay);
    limited(direction, "queue_packets", &Direction::queue_packets, kUnlimited);
    limited(direction, "queue_bytes", &Direction::queue_bytes, kUnlimited);
    direction.def_rw("loss", &Direction::loss)
        .def_rw("red", &Direction::red)
        .def_rw("opportunities_ms", &Direction::opportunities_ms)
        .def_rw("jitter_ps", &Direction::jitter)
        .def_rw("reorder_rate", &Direction::reorder_rate)
        .def_rw("reorder_delay_ps", &Direction::reorder_delay);

    nb::class_<Link>(m, "Link", "A duplex link between nodes a and b.")
        .def(nb::init<>())
        .def_rw("a", &Link::a)
        .def_rw("b", &Link::b)
        .def_rw("overhead_bytes", &Link::overhead_bytes)
        .def_rw("forward", &Link::forward)
        .def_rw("backward", &Link::backward);
}

void bind_flow(nb::module_& m) {
    nb::class_<Datagrams> datagrams(m, "Datagrams", "An on/off source; times in ps.");
    datagrams.def_rw("on", &Datagrams::on)
        .def_rw("rate_bps", &Datagrams::rate_bps)
        .def_rw("off_mean_ps", &Datagrams::off_mean);
    limited(datagrams, "on_mean_ps", &Datagrams::on_mean, kNever);
    named(datagrams, "spread", &Datagrams::spread, kSpreads);

    nb::class_<Flow> flow(m, "Flow", "A TCP connection; times in ps, windows in segments.");
    flow.def(nb::init<>())
        .def_rw("from_node", &Flow::from)
        .def_rw("to_node", &Flow::to)
        .def_rw("cc", &Flow::cc)
        .def_rw("start_ps", &Flow::start)
        .def_rw("start_spread_ps", &Flow::start_spread);
    named(flow, "recovery", &Flow::recovery, kRecoveries);
    limited(flow, "stop_ps", &Flow::stop, kNever);
    limited(flow, "size_bytes", &Flow::size_bytes, kUnlimited);
    limited(flow, "initial_ssthresh", &Flow::initial_ssthresh, std::uint32_t{WW_SSTHRESH_INFINITE});
    named(flow, "size_spread", &Flow::size_spread, kSpreads);
    flow.def_rw("datagrams", &Flow::datagrams)
        .def_rw("arrivals_mean_ps", &Flow::arrivals_mean)
        .def_rw("ecn", &Flow::ecn)
        .def_rw("mss", &Flow::mss)
        .def_rw("header_bytes", &Flow::header_bytes)
        .def_rw("initial_cwnd", &Flow::initial_cwnd)
        .def_rw("receive_window", &Flow::receive_window)
        .def_rw("min_rto_ps", &Flow::min_rto)
        .def_rw("max_rto_ps", &Flow::max_rto)
        .def_rw("initial_rto_ps", &Flow::initial_rto)
        .def_rw("clock_granularity_ps", &Flow::clock_granularity)
        .def_rw("delayed_ack", &Flow::delayed_ack)
        .def_rw("delayed_ack_timeout_ps", &Flow::delayed_ack_timeout)
        .def_rw("dupack_threshold", &Flow::dupack_threshold)
        .def_rw("limited_transmit", &Flow::limited_transmit)
        .def_rw("flight_excludes_sacked", &Flow::flight_excludes_sacked)
        .def_rw("ssthresh_from_cwnd", &Flow::ssthresh_from_cwnd)
        .def_rw("handshake_rtt", &Flow::handshake_rtt)
        .def_rw("random_isn", &Flow::random_isn)
        .def_rw("isn", &Flow::isn);
}

void bind_network(nb::module_& m) {
    nb::class_<Network>(m, "Network", "Nodes 0..nodes-1, links, flows and what to trace.")
        .def(nb::init<>())
        .def_rw("nodes", &Network::nodes)
        .def_rw("links", &Network::links)
        .def_rw("flows", &Network::flows)
        .def_rw("duration_ps", &Network::duration)
        .def_rw("event_per_hop", &Network::event_per_hop)
        .def_prop_rw(
            "trace_windows", [](const Network& self) { return self.trace.windows; },
            [](Network& self, bool on) { self.trace.windows = on; })
        .def_prop_rw(
            "trace_events", [](const Network& self) { return self.trace.events; },
            [](Network& self, bool on) { self.trace.events = on; })
        .def_prop_rw(
            "trace_queues", [](const Network& self) { return self.trace.queues; },
            [](Network& self, bool on) { self.trace.queues = on; })
        .def_prop_rw(
            "capture_link", [](const Network& self) { return self.trace.capture_link; },
            [](Network& self, std::int64_t link) { self.trace.capture_link = link; })
        .def_prop_rw(
            "trace_interval_ps", [](const Network& self) { return self.trace.interval; },
            [](Network& self, std::int64_t interval) { self.trace.interval = interval; });
}

void bind_results(nb::module_& m) {
    nb::class_<FlowResult>(m, "FlowResult", "What became of a flow: engine/network.hpp.")
        .def_ro("source", &FlowResult::source)
        .def_ro("delivered_bytes", &FlowResult::delivered_bytes)
        .def_ro("ip_bytes_at_sink", &FlowResult::ip_bytes_at_sink)
        .def_ro("sent", &FlowResult::sent)
        .def_ro("retransmitted", &FlowResult::retransmitted)
        .def_ro("timeouts", &FlowResult::timeouts)
        .def_ro("fast_recoveries", &FlowResult::fast_recoveries)
        .def_ro("ecn_reductions", &FlowResult::ecn_reductions)
        .def_ro("queue_drops", &FlowResult::queue_drops)
        .def_ro("lost", &FlowResult::lost)
        .def_ro("mean_cwnd", &FlowResult::mean_cwnd)
        .def_ro("mean_srtt_s", &FlowResult::mean_srtt_s)
        .def_ro("min_rtt_s", &FlowResult::min_rtt_s)
        .def_ro("start_s", &FlowResult::start_s)
        .def_ro("established_s", &FlowResult::established_s)
        .def_ro("completed_s", &FlowResult::completed_s)
        .def("trace", &trace,
             nb::sig("def trace(self) -> dict[str, numpy.typing.NDArray[typing.Any]]"),
             "Columns of the window trace, one entry a row.")
        .def("event_log", &event_log,
             nb::sig("def event_log(self) -> dict[str, numpy.typing.NDArray[typing.Any]]"),
             "Columns of the event log; kind indexes EVENT_KINDS.");

    nb::class_<DirectionResult>(m, "DirectionResult", "What crossed a direction of a link.")
        .def_ro("packets", &DirectionResult::packets)
        .def_ro("bytes", &DirectionResult::bytes)
        .def_ro("queue_drops", &DirectionResult::queue_drops)
        .def_ro("early_drops", &DirectionResult::early_drops)
        .def_ro("marked", &DirectionResult::marked)
        .def_ro("lost", &DirectionResult::lost)
        .def_ro("waited_s", &DirectionResult::waited_s)
        .def_ro("longest_wait_s", &DirectionResult::longest_wait_s)
        .def_ro("utilisation", &DirectionResult::utilisation)
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
}

}  // namespace

NB_MODULE(_engine, m) {
    m.doc() = "The Westwood simulator's engine.";
    bind_congestion_control(m);
    bind_loss_and_red(m);
    bind_links(m);
    bind_flow(m);
    bind_network(m);
    bind_results(m);

    std::vector<std::string> presets;
    for (const PresetName& preset : kPresets) presets.emplace_back(preset.name);
    m.attr("PRESETS") = presets;
    m.attr("DROP_KINDS") = std::vector<std::string>(kDrops.begin(), kDrops.end());
    m.attr("EVENT_KINDS") = std::vector<std::string>(kEvents.begin(), kEvents.end());

    m.def(
        "preset",
        [](const std::string& name) {
            for (const PresetName& preset : kPresets)
                if (name == preset.name) return ww_preset(preset.id);
            throw std::invalid_argument("unknown preset '" + name + "'");
        },
        "name"_a, "The settings of a named congestion control. ValueError if there is none.");

    m.def(
        "simulate",
        [](const Network& network, std::uint64_t seed) {
            Result result;
            {
                nb::gil_scoped_release unlocked;
                result = simulate(network, seed);
            }
            if (!result.error.empty()) throw std::invalid_argument(result.error);
            return result;
        },
        "network"_a, "seed"_a,
        "Runs a network. Same network and seed, same result to the bit. ValueError says in one "
        "line "
        "what is wrong with the network. The interpreter lock is released meanwhile.");
}
