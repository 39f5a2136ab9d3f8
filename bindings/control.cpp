// SPDX-License-Identifier: BSD-3-Clause
//
// Loads controls of users (core/control.h), which westwood/control/ has compiled into shared objects.
#include "../wire/control.hpp"

#include <dlfcn.h>
#include <nanobind/stl/tuple.h>

#include <deque>

#include "../plan/controls.hpp"
#include "control_watch.hpp"
#include "guarded_state.hpp"

namespace ww::bindings {
namespace {

struct Loaded {
    ww_control_ops ops;
    std::string source;
};

const std::string& source_of(const ww_control_ops* ops) {
    return static_cast<const Loaded*>(ops->context)->source;
}

// Controls stay for the life of the process, because networks have their addresses.
std::deque<Loaded>& all_loaded() {
    static std::deque<Loaded> all;
    return all;
}

void refuse(const ww_control_ops* ops, const char* call, const ww_window* window) {
    fail(source_of(ops), call, wire::problem_of(*window));
}

void* new_state(const ww_control_ops* ops) {
    void* const state = take_guarded(ops->state_bytes);
    opens(source_of(ops), state == nullptr ? 0 : bit_of_guarded(state));
    return state;
}

void end_state(const ww_control_ops* ops, void* state) {
    closes(bit_of_guarded(state));
    if (!give_back_guarded(state, ops->state_bytes))
        fail(source_of(ops), "", "writes beside its state");
}

nb::list parameters_of(const ww_control_ops& ops) {
    nb::list rows;
    for (std::uint32_t i = 0; i < ops.parameter_count; i++) {
        const ww_parameter& parameter = ops.parameters[i];
        nb::dict row;
        row["name"] = parameter.name;
        row["fallback"] = parameter.fallback;
        row["least"] = parameter.least;
        row["most"] = parameter.most;
        row["what"] = parameter.what;
        rows.append(row);
    }
    return rows;
}

nb::list quantities_of(const ww_control_ops& ops) {
    nb::list rows;
    for (std::uint32_t i = 0; i < ops.quantity_count; i++) {
        const ww_quantity& quantity = ops.quantities[i];
        nb::dict row;
        row["name"] = quantity.name;
        row["unit"] = quantity.unit;
        row["what"] = quantity.what;
        rows.append(row);
    }
    return rows;
}

nb::list calls_of(const ww_control_ops& ops) {
    nb::list names;
    for (const char* call : wire::calls_of(ops)) names.append(call);
    return names;
}

nb::dict load(const std::string& file, const std::string& source, const std::string& name) {
    void* const object = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (object == nullptr) throw std::invalid_argument(dlerror());
    const auto* const table =
        static_cast<const ww_control_ops*>(dlsym(object, wire::kControlSymbol));
    const std::string problem =
        table == nullptr ? "it does not end with WW_CONTROL" : wire::problem_of(*table);
    if (!problem.empty()) {
        dlclose(object);
        throw std::invalid_argument(problem);
    }
    Loaded& loaded = all_loaded().emplace_back(Loaded{*table, source});
    loaded.ops.context = &loaded;
    loaded.ops.refuse = refuse;
    loaded.ops.new_state = new_state;
    loaded.ops.end_state = end_state;
    watch_code(table, source, name);
    plan::add_control(source, loaded.ops);
    nb::dict facts;
    facts["label"] = table->label;
    facts["traits"] = table->traits;
    facts["state_bytes"] = table->state_bytes;
    facts["like"] = table->like;
    facts["calls"] = calls_of(*table);
    facts["parameters"] = parameters_of(*table);
    facts["quantities"] = quantities_of(*table);
    return facts;
}

// A control of which only the declarations are known, as a results folder has them. Scenarios may name it.
struct Described {
    ww_control_ops ops = {};
    std::string source, label;
    std::deque<std::string> names;
    std::vector<ww_parameter> parameters;
};

void refuse_run(const ww_config* config) {
    const auto* const described = static_cast<const Described*>(config->control->context);
    fail(described->source, "on_ack", "was not loaded");
}

void describe(
    const std::string& source, const std::string& label, std::uint32_t traits, std::uint32_t like,
    const std::vector<std::tuple<std::string, std::uint32_t, std::uint32_t, std::uint32_t>>&
        parameters) {
    static std::deque<Described> all;
    Described& described = all.emplace_back();
    described.source = source;
    described.label = label;
    for (const auto& [name, fallback, least, most] : parameters)
        described.parameters.push_back(
            {described.names.emplace_back(name).c_str(), "", fallback, least, most});
    ww_control_ops& ops = described.ops;
    ops.version = WW_CONTROL_VERSION;
    ops.state_bytes = sizeof(ww_loaded_state);
    ops.traits = traits;
    ops.like = like;
    ops.label = described.label.c_str();
    ops.parameters = described.parameters.data();
    ops.parameter_count = static_cast<std::uint32_t>(described.parameters.size());
    ops.context = &described;
    ops.on_ack = [](const ww_config* config, void*, ww_window*, const ww_sample*) {
        refuse_run(config);
    };
    ops.on_loss = [](const ww_config* config, void*, ww_window*, std::uint64_t, std::uint32_t,
                     std::uint32_t) { refuse_run(config); };
    const std::string problem = wire::problem_of(ops);
    if (!problem.empty()) {
        all.pop_back();
        throw std::invalid_argument(problem);
    }
    plan::add_control(source, ops);
}

}  // namespace

void bind_control(nb::module_& m) {
    nb::exception<ControlFailed>(m, "ControlFailed", PyExc_ValueError);
    m.def("load_control", &load, "file"_a, "source"_a, "name"_a,
          "Loads a control from a shared object; scenarios find it by `source`, and messages call "
          "it `name`. Returns its label, traits, state, calls, parameters, quantities and the "
          "protocol that it is like. Raises ValueError with what is wrong with it.");
    m.def(
        "describe_control", &describe, "source"_a, "label"_a, "traits"_a, "like"_a, "parameters"_a,
        "Makes a control known to scenarios by its declarations, without code; a parameter is its "
        "name, default, least and most. Raises ValueError with what is wrong with them.");
    m.attr("MOST_STATE_BYTES") = WW_OWN_STATE_MAX;
}

}  // namespace ww::bindings
