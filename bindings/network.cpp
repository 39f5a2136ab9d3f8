// SPDX-License-Identifier: BSD-3-Clause
//
// Binds the input of a simulation. Attributes that are settings come from the declarations and have
// the names of the fields there; -1 means "no limit".
#include "../engine/link/loss/process.hpp"
#include "../plan/controls.hpp"
#include "bindings.hpp"

namespace ww::bindings {
namespace {

using namespace ww::sim;

constexpr std::array kRecoveries = {
#define WW_ROW(ID, id, name, ...) name,
    WW_RECOVERIES(WW_ROW)
#undef WW_ROW
};
constexpr std::array kApplications = {WW_APPLICATION_KINDS(WW_NAME_OF)};
constexpr std::array kSpreads = {WW_SPREADS(WW_NAME_OF)};
#define WW_QUEUE(name, ...) #name,
constexpr std::array kQueues = {"droptail", WW_QUEUE_KINDS(WW_QUEUE)};
#undef WW_QUEUE

#define WW_BIND_WORD(id, word) word,

// Each macro binds one kind of setting as an attribute of the class `type`, which binds T.
#define WW_BIND_AS_IS(kind, name, FIELD) \
    type.def_rw(WW_TEXT(FIELD(kind, name)), &T::FIELD(kind, name));
#define WW_BIND_SWITCH WW_BIND_AS_IS
#define WW_BIND_COUNT WW_BIND_AS_IS
#define WW_BIND_COUNT_OR_NONE WW_BIND_AS_IS
#define WW_BIND_SPAN WW_BIND_AS_IS
#define WW_BIND_SHARE WW_BIND_AS_IS
#define WW_BIND_FACTOR_OR_NONE WW_BIND_AS_IS
#define WW_BIND_PACKETS WW_BIND_AS_IS
#define WW_BIND_RATE WW_BIND_AS_IS
#define WW_BIND_TIME WW_BIND_AS_IS
#define WW_BIND_BYTES WW_BIND_AS_IS
#define WW_BIND_SEGMENTS WW_BIND_AS_IS
#define WW_LIMITED(kind, name, FIELD, unlimited) \
    limited(type, WW_TEXT(FIELD(kind, name)), &T::FIELD(kind, name), unlimited);
#define WW_BIND_TIME_OR_NEVER(kind, name, FIELD) WW_LIMITED(kind, name, FIELD, kNever)
#define WW_BIND_SIZE_OR_ALL(kind, name, FIELD) WW_LIMITED(kind, name, FIELD, kUnlimited)
#define WW_BIND_SSTHRESH(kind, name, FIELD) \
    WW_LIMITED(kind, name, FIELD, std::uint32_t{WW_SSTHRESH_INFINITE})
#define WW_BIND_CHOICE(kind, name, FIELD)                                            \
    static constexpr std::array words_of_##name = {WW_CHOICES_##name(WW_BIND_WORD)}; \
    named(type, #name, &T::name, words_of_##name);

#define WW_BIND_SETTING(kind, name, ...) WW_BIND_##kind(kind, name, WW_ENGINE_FIELD)
#define WW_BIND_CC_SETTING(kind, name, ...) WW_BIND_##kind(kind, name, WW_FIELD)

void bind_congestion_control(nb::module_& m) {
    using T = ww_config;
    nb::class_<T> type(m, "CongestionControl",
                       "Settings of a congestion control: core/settings.h.");
    type.def_prop_ro("algorithm",
                     [](const T& self) { return std::string(kAlgorithms[self.algorithm]); });
    WW_SETTINGS(WW_BIND_CC_SETTING)
    type.def("__getattr__", [](const T& self, const std::string& name) {
        const auto count = self.control == nullptr ? 0 : self.control->parameter_count;
        for (std::uint32_t i = 0; i < count; i++)
            if (name == self.control->parameters[i].name) return self.own[i];
        throw nb::attribute_error(name.c_str());
    });
}

// Binds the settings of each kind of loss as a class.
void bind_losses(nb::module_& m) {
#define WW_LOSS(name, Settings, Model, PREFIX, ...)                                  \
    {                                                                                \
        using T = Settings;                                                          \
        nb::class_<T> type(m, #Settings, "Settings of a loss of kind `" #name "`."); \
        type.def(nb::init<>());                                                      \
        WW_##PREFIX##_SETTINGS(WW_BIND_SETTING)                                      \
    }
    WW_LOSS_KINDS(WW_LOSS)
#undef WW_LOSS
    nb::class_<LossList> type(m, "LossList", "The lost packets, counted from 1.");
    type.def(nb::init<>()).def_rw("packets", &LossList::packets);
    m.def("lost_among", &lost_among, "most"_a, "loss"_a.none(), "seed"_a,
          "Which of the first `most` packets a loss that only counts packets hits.");
}

// Binds the settings of each impairment as a class.
void bind_impairments(nb::module_& m) {
#define WW_IMPAIRMENT(name, Settings, Class, PREFIX, ...)                      \
    {                                                                          \
        using T = Settings;                                                    \
        nb::class_<T> type(m, #Settings, "Settings of a link's `" #name "`."); \
        type.def(nb::init<>());                                                \
        WW_##PREFIX##_SETTINGS(WW_BIND_SETTING)                                \
    }
    WW_IMPAIRMENT_KINDS(WW_IMPAIRMENT)
#undef WW_IMPAIRMENT
}

// Binds the settings of each kind of queue as a class.
void bind_queues(nb::module_& m) {
#define WW_QUEUE(name, Settings, Queue, PREFIX, ...)                                  \
    {                                                                                 \
        using T = Settings;                                                           \
        nb::class_<T> type(m, #Settings, "Settings of a queue of kind `" #name "`."); \
        WW_##PREFIX##_SETTINGS(WW_BIND_SETTING)                                       \
    }
    WW_QUEUE_KINDS(WW_QUEUE)
#undef WW_QUEUE
}

void bind_delay_changes(nb::module_& m) {
    nb::class_<DelayChanges> type(m, "DelayChanges", "Delays that replace a direction's, in ps.");
    type.def(nb::init<>())
        .def_rw("at", &DelayChanges::at)
        .def_rw("delays", &DelayChanges::delays)
        .def_rw("period", &DelayChanges::period);
}

void bind_direction(nb::module_& m) {
    using T = Direction;
    nb::class_<T> type(m, "Direction", "One direction of a link; times in ps, -1: no limit.");
    type.def(nb::init<>());
    WW_DIRECTION_SETTINGS(WW_BIND_SETTING)
    limited(type, "queue_packets", &Direction::queue_packets, kUnlimited);
    limited(type, "queue_bytes", &Direction::queue_bytes, kUnlimited);
    named(type, "queue_kind", &Direction::queue_kind, kQueues);
#define WW_QUEUE(name, ...) type.def_rw(#name, &Direction::name);
    WW_QUEUE_KINDS(WW_QUEUE)
#undef WW_QUEUE
    type.def_prop_ro("loss_kind", [](const T& self) { return kLossKinds[self.loss.index()]; });
    type.def_prop_rw(  // a copy, since the settings of a kind are gone once the kind changes
        "loss", [](const T& self) { return self.loss; },
        [](T& self, const Loss& loss) { self.loss = loss; }, nb::rv_policy::move,
        nb::for_setter("loss"_a.none()),
        "The settings of what the wire loses; None: it loses nothing.");
    type.def_rw("opportunities_ms", &Direction::opportunities_ms);
    type.def_rw("delay_changes", &Direction::delay_changes);
#define WW_IMPAIRMENT(name, Settings, ...)                                                       \
    type.def_prop_rw(                                                                            \
        #name, [](const T& self) { return self.name; },                                          \
        [](T& self, const std::optional<Settings>& to) { self.name = to; }, nb::rv_policy::move, \
        nb::for_setter(nb::arg(#name).none()));
    WW_IMPAIRMENT_KINDS(WW_IMPAIRMENT)
#undef WW_IMPAIRMENT
}

void bind_link(nb::module_& m) {
    using T = Link;
    nb::class_<T> type(m, "Link", "A duplex link between nodes a and b.");
    type.def(nb::init<>()).def_rw("a", &Link::a).def_rw("b", &Link::b);
    WW_LINK_SETTINGS(WW_BIND_SETTING)
    type.def_rw("forward", &Link::forward).def_rw("backward", &Link::backward);
}

void bind_datagrams(nb::module_& m) {
    nb::class_<Datagrams> type(m, "Datagrams", "An on/off source; times in ps.");
    type.def_rw("on", &Datagrams::on)
        .def_rw("rate_bps", &Datagrams::rate_bps)
        .def_rw("off_mean", &Datagrams::off_mean);
    limited(type, "on_mean", &Datagrams::on_mean, kNever);
    named(type, "spread", &Datagrams::spread, kSpreads);
    named(type, "spacing", &Datagrams::spacing, kSpreads);
}

void bind_media(nb::module_& m) {
    nb::class_<MediaFrames> type(m, "MediaFrames", "Frames of live media; times in ps.");
    type.def_rw("interval", &MediaFrames::interval)
        .def_rw("frame_bytes", &MediaFrames::frame_bytes)
        .def_rw("key_bytes", &MediaFrames::key_bytes)
        .def_rw("upper_bytes", &MediaFrames::upper_bytes)
        .def_rw("upper_key_bytes", &MediaFrames::upper_key_bytes)
        .def_rw("group", &MediaFrames::group)
        .def_rw("warm_up", &MediaFrames::warm_up);
    limited(type, "patience", &MediaFrames::patience, kNever);
}

void bind_application(nb::module_& m) {
    bind_media(m);
    nb::class_<Application> type(m, "Application", "What a connection's application writes.");
    named(type, "kind", &Application::kind, kApplications);
    type.def_rw("rate_bps", &Application::rate_bps)
        .def_rw("bulk", &Application::bulk)
        .def_rw("off_mean", &Application::off_mean)
        .def_rw("size_bytes", &Application::size_bytes)
        .def_rw("think_mean", &Application::think_mean)
        .def_rw("ladder_bps", &Application::ladder_bps)
        .def_rw("chunk", &Application::chunk)
        .def_rw("buffer", &Application::buffer)
        .def_rw("media", &Application::media);
    limited(type, "on_mean", &Application::on_mean, kNever);
    named(type, "spread", &Application::spread, kSpreads);
    named(type, "size_spread", &Application::size_spread, kSpreads);
}

void bind_flow(nb::module_& m) {
    using T = Flow;
    nb::class_<T> type(m, "Flow", "A TCP connection; times in ps, windows in segments.");
    type.def(nb::init<>())
        .def_rw("from_node", &Flow::from)
        .def_rw("to_node", &Flow::to)
        .def_rw("cc", &Flow::cc);
    named(type, "recovery", &Flow::recovery, kRecoveries);
    WW_FLOW_SETTINGS(WW_BIND_SETTING)
    type.def_rw("datagrams", &Flow::datagrams)
        .def_rw("application", &Flow::application)
        .def_rw("arrivals_mean", &Flow::arrivals_mean);
    named(type, "size_spread", &Flow::size_spread, kSpreads);
    type.def_rw("obeys_pacing", &Flow::obeys_pacing)
        .def_rw("random_isn", &Flow::random_isn)
        .def_rw("isn", &Flow::isn)
        .def_prop_ro("mss", &Flow::mss);
}

// Binds an option of the trace as an attribute of the network.
template <class Field>
void traced(nb::class_<Network>& type, const char* name, Field TraceOptions::*field) {
    type.def_prop_rw(
        name, [field](const Network& self) { return self.trace.*field; },
        [field](Network& self, Field value) { self.trace.*field = value; });
}

}  // namespace

void bind_network(nb::module_& m) {
    bind_congestion_control(m);
    bind_losses(m);
    bind_impairments(m);
    bind_queues(m);
    bind_delay_changes(m);
    bind_direction(m);
    bind_link(m);
    bind_datagrams(m);
    bind_application(m);
    bind_flow(m);
    nb::class_<Network> type(m, "Network", "Nodes 0..nodes-1, links, flows and what to trace.");
    type.def(nb::init<>())
        .def_rw("nodes", &Network::nodes)
        .def_rw("links", &Network::links)
        .def_prop_rw(
            "flows",
            [](const Network& self) {
                return std::vector<Flow>(self.flows.begin(), self.flows.end());
            },
            [](Network& self, const std::vector<Flow>& flows) { self.flows = flows; },
            "Copies of the flows: a list that is assigned replaces them.")
        .def_rw("duration", &Network::duration)
        .def_rw("event_per_hop", &Network::event_per_hop);
    traced(type, "trace_windows", &TraceOptions::windows);
    traced(type, "trace_events", &TraceOptions::events);
    traced(type, "trace_queues", &TraceOptions::queues);
    traced(type, "trace_interval", &TraceOptions::interval);
    traced(type, "capture_link", &TraceOptions::capture_link);
}

}  // namespace ww::bindings
