// SPDX-License-Identifier: BSD-3-Clause
//
// Binds recordings of the calls of a control, and their repetition (core/calls.h).
#include "../engine/learn/calls.hpp"

#include "../plan/controls.hpp"
#include "control.hpp"

namespace ww::bindings {
namespace {

constexpr std::array kProtocols = {
#define WW_ROW(ID, name, ...) name,
    WW_PROTOCOLS(WW_ROW)
#undef WW_ROW
};

// Returns the configuration that every host gives a control: its own, with ACKs for any number of segments. `name` is
// a protocol or the source of a loaded control.
ww_config config_of(const std::string& name, const std::vector<std::uint32_t>& parameters) {
    ww_config config{};
    if (const ww_control_ops* const control = plan::find_control(name)) {
        config = ww_configure(static_cast<ww_protocol>(control->like));
        config.algorithm = WW_ALG_LOADED;
        config.control = control;
        for (std::size_t i = 0; i < std::min<std::size_t>(parameters.size(), WW_PARAMETERS_MAX);
             i++)
            config.own[i] = parameters[i];
    } else {
        config = ww_configure(static_cast<ww_protocol>(position(kProtocols, name)));
    }
    config.batched_acks = true;
    return config;
}

std::string record(sim::Network network, std::uint64_t seed, const std::string& name,
                   const std::vector<std::uint32_t>& parameters) {
    const sim::CallRecorder recorder(config_of(name, parameters));
    network.flows[0].cc = recorder.config();
    const nb::gil_scoped_release unlocked;
    const sim::Outcome outcome = run_watched(network, seed, nullptr, {});
    if (!outcome.error.empty()) throw std::invalid_argument(outcome.error);
    return recorder.text();
}

std::string replay(const std::string& name, const std::vector<std::uint32_t>& parameters,
                   const std::string& calls) {
    const ww_config config = config_of(name, parameters);
    const nb::gil_scoped_release unlocked;
    std::string windows;
    watched([&] { windows = sim::repeat_calls(config, calls); });
    return windows;
}

}  // namespace

void bind_calls(nb::module_& m) {
    m.attr("CALLS") = nb::cast(sim::call_words());
    m.def("record_calls", &record, "network"_a, "seed"_a, "control"_a, "parameters"_a,
          "Simulates a network whose first flow has a control, a protocol or the `source` of a "
          "loaded one. Returns the calls of its first connection, in the text of core/calls.h.");
    m.def("replay_calls", &replay, "control"_a, "parameters"_a, "calls"_a,
          "Makes the calls of a recording; returns a line with the windows after each.");
}

}  // namespace ww::bindings
