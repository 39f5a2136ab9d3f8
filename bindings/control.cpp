// SPDX-License-Identifier: BSD-3-Clause
//
// Loads controls of users (core/control.h), which westwood/control/ has compiled into shared objects.
#include "../wire/control.hpp"

#include <dlfcn.h>

#include <deque>

#include "../plan/controls.hpp"
#include "control_watch.hpp"

namespace ww::bindings {
namespace {

struct Loaded {
    ww_control_ops ops;
    std::string source;
};

// Controls stay for the life of the process, because networks have their addresses.
std::deque<Loaded>& all_loaded() {
    static std::deque<Loaded> all;
    return all;
}

void refuse(const ww_control_ops* ops, const char* call, const ww_window* window) {
    fail(static_cast<const Loaded*>(ops->context)->source, call, wire::problem_of(*window));
}

nb::list parameters_of(const ww_control_ops& ops) {
    nb::list rows;
    for (std::uint32_t i = 0; i < ops.parameter_count; i++) {
        const ww_parameter& one = ops.parameters[i];
        nb::dict row;
        row["name"] = one.name;
        row["fallback"] = one.fallback;
        row["least"] = one.least;
        row["most"] = one.most;
        row["what"] = one.what;
        rows.append(row);
    }
    return rows;
}

nb::list quantities_of(const ww_control_ops& ops) {
    nb::list rows;
    for (std::uint32_t i = 0; i < ops.quantity_count; i++) {
        const ww_quantity& one = ops.quantities[i];
        nb::dict row;
        row["name"] = one.name;
        row["unit"] = one.unit;
        row["what"] = one.what;
        rows.append(row);
    }
    return rows;
}

nb::list calls_of(const ww_control_ops& ops) {
    nb::list names;
    for (const char* one : wire::calls_of(ops)) names.append(one);
    return names;
}

nb::dict load(const std::string& file, const std::string& source) {
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
    watch_code(table, source);
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

}  // namespace

void bind_control(nb::module_& m) {
    nb::exception<ControlFailed>(m, "ControlFailed", PyExc_ValueError);
    m.def("load_control", &load, "file"_a, "source"_a,
          "Loads a control from a shared object; scenarios find it by `source`. Returns its label, "
          "traits, state, calls, parameters, quantities and the protocol that it is like. Raises "
          "ValueError with what is wrong with it.");
    m.attr("MOST_STATE_BYTES") = WW_OWN_STATE_MAX;
}

}  // namespace ww::bindings
