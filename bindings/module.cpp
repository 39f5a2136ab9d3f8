// SPDX-License-Identifier: BSD-3-Clause
//
// westwood._engine: the simulator's data contract (engine/network.hpp) for Python, and simulate(),
// which runs with the interpreter lock released. No policy and no metrics here.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
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

constexpr std::array kAlgorithms{"reno", "westwood"};
constexpr std::array kSamplers{"per-ack", "per-rtt", "per-rtt-timer"};
constexpr std::array kFilters{"none", "ewma", "tustin-constant", "tustin"};
constexpr std::array kRecoveries{"tahoe", "reno", "newreno", "sack"};
constexpr std::array kLosses{"none", "uniform", "script"};
constexpr std::array kEvents{"send", "retransmit", "ack", "dupack", "recovery", "exit", "timeout"};

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

template <class To, class From>
nb::ndarray<nb::numpy, To, nb::ndim<1>> column(const std::vector<Event>& events,
                                               From Event::*field) {
    std::vector<To> values;
    values.reserve(events.size());
    for (const Event& event : events) values.push_back(static_cast<To>(event.*field));
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
        .def_rw("literal_count", &ww_config::literal_count);
}

void bind_links(nb::module_& m) {
    nb::class_<Direction> direction(m, "Direction",
                                    "One direction of a link; times in ps, -1: no limit.");
    direction.def(nb::init<>())
        .def_rw("rate_bps", &Direction::rate_bps)
        .def_rw("delay_ps", &Direction::delay);
    limited(direction, "queue_packets", &Direction::queue_packets, kUnlimited);
    limited(direction, "queue_bytes", &Direction::queue_bytes, kUnlimited);
    direction
        .def_prop_rw(
            "loss_kind",
            [](const Direction& self) {
                return std::string(kLosses[static_cast<std::size_t>(self.loss.kind)]);
            },
            [](Direction& self, const std::string& kind) {
                self.loss.kind = static_cast<LossKind>(position(kLosses, kind));
            })
        .def_prop_rw(
            "loss_rate", [](const Direction& self) { return self.loss.rate; },
            [](Direction& self, double rate) { self.loss.rate = rate; })
        .def_prop_rw(
            "loss_packets", [](const Direction& self) { return self.loss.packets; },
            [](Direction& self, std::vector<std::uint64_t> packets) {
                self.loss.packets = std::move(packets);
            });

    nb::class_<Link>(m, "Link", "A duplex link between nodes a and b.")
        .def(nb::init<>())
        .def_rw("a", &Link::a)
        .def_rw("b", &Link::b)
        .def_rw("overhead_bytes", &Link::overhead_bytes)
        .def_rw("forward", &Link::forward)
        .def_rw("backward", &Link::backward);
}

void bind_flow(nb::module_& m) {
    nb::class_<Flow> flow(m, "Flow", "A TCP connection; times in ps, windows in segments.");
    flow.def(nb::init<>())
        .def_rw("from_node", &Flow::from)
        .def_rw("to_node", &Flow::to)
        .def_rw("cc", &Flow::cc)
        .def_rw("start_ps", &Flow::start);
    named(flow, "recovery", &Flow::recovery, kRecoveries);
    limited(flow, "stop_ps", &Flow::stop, kNever);
    limited(flow, "size_bytes", &Flow::size_bytes, kUnlimited);
    limited(flow, "initial_ssthresh", &Flow::initial_ssthresh, std::uint32_t{WW_SSTHRESH_INFINITE});
    flow.def_rw("mss", &Flow::mss)
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
            "trace_interval_ps", [](const Network& self) { return self.trace.interval; },
            [](Network& self, std::int64_t interval) { self.trace.interval = interval; });
}

void bind_results(nb::module_& m) {
    nb::class_<FlowResult>(m, "FlowResult", "What became of a flow: engine/network.hpp.")
        .def_ro("delivered_bytes", &FlowResult::delivered_bytes)
        .def_ro("ip_bytes_at_sink", &FlowResult::ip_bytes_at_sink)
        .def_ro("sent", &FlowResult::sent)
        .def_ro("retransmitted", &FlowResult::retransmitted)
        .def_ro("timeouts", &FlowResult::timeouts)
        .def_ro("fast_recoveries", &FlowResult::fast_recoveries)
        .def_ro("queue_drops", &FlowResult::queue_drops)
        .def_ro("lost", &FlowResult::lost)
        .def_ro("mean_cwnd", &FlowResult::mean_cwnd)
        .def_ro("mean_srtt_s", &FlowResult::mean_srtt_s)
        .def_ro("min_rtt_s", &FlowResult::min_rtt_s)
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
        .def_ro("queue_drops", &DirectionResult::queue_drops)
        .def_ro("lost", &DirectionResult::lost);

    nb::class_<Result>(m, "Result", "One simulation's outcome.")
        .def_ro("flows", &Result::flows)
        .def_ro("forward", &Result::forward)
        .def_ro("backward", &Result::backward)
        .def_ro("packets", &Result::packets)
        .def_ro("events", &Result::events);
}

}  // namespace

NB_MODULE(_engine, m) {
    m.doc() = "The Westwood simulator's engine.";
    bind_congestion_control(m);
    bind_links(m);
    bind_flow(m);
    bind_network(m);
    bind_results(m);

    std::vector<std::string> presets;
    for (const PresetName& preset : kPresets) presets.emplace_back(preset.name);
    m.attr("PRESETS") = presets;
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
