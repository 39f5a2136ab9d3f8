// SPDX-License-Identifier: BSD-3-Clause
//
// Loads controls of users (core/control.h), which westwood/control/ has compiled into shared objects.
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
    const auto said = [&](const char* what, auto value, const char* expected) {
        fail(static_cast<const Loaded*>(ops->context)->source, call,
             std::string("sets ") + what + " to " + std::to_string(value) + ", expected " +
                 expected);
    };
    if (window->cwnd < 1 || window->cwnd > WW_CWND_MAX)
        said("cwnd", window->cwnd, "from 1 to 2^28 segments");
    else if (window->ssthresh > WW_SSTHRESH_INFINITE)
        said("ssthresh", window->ssthresh, "less than 2^31 segments");
    else
        said("pacing", window->pacing, "at most 2^45");
}

// Returns what is wrong with a table, which a file may also have without WW_CONTROL.
std::string check(const ww_control_ops& ops) {
    if (ops.version != WW_CONTROL_VERSION) return "it was compiled for another version of westwood";
    if (ops.state_bytes < sizeof(ww_common) || ops.state_bytes > WW_STATE_MAX)
        return "its state has " + std::to_string(ops.state_bytes) + " bytes, expected at most 104";
    if (ops.like >= WW_PROTOCOL_COUNT) return "it is like no control of the catalogue";
    if (ops.parameter_count > WW_PARAMETERS_MAX || ops.quantity_count > WW_QUANTITIES_MAX)
        return "it has more than 16 parameters, or more than 4 quantities";
    if (ops.label == nullptr || *ops.label == '\0') return "it has no label";
    if (ops.on_ack == nullptr) return "it has no .on_ack";
    if (ops.on_loss == nullptr) return "it has no .on_loss";
    return "";
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

nb::dict load(const std::string& file, const std::string& source) {
    void* const object = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (object == nullptr) throw std::invalid_argument(dlerror());
    const auto* const table = static_cast<const ww_control_ops*>(dlsym(object, "ww_own_control"));
    const std::string problem =
        table == nullptr ? "it does not end with WW_CONTROL" : check(*table);
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
    facts["parameters"] = parameters_of(*table);
    facts["quantities"] = quantities_of(*table);
    return facts;
}

}  // namespace

void bind_control(nb::module_& m) {
    nb::exception<ControlFailed>(m, "ControlFailed", PyExc_ValueError);
    m.def("load_control", &load, "file"_a, "source"_a,
          "Loads a control from a shared object; scenarios find it by `source`. Returns its label, "
          "traits, "
          "parameters and quantities. Raises ValueError with what is wrong with it.");
    m.attr("MOST_STATE_BYTES") = WW_STATE_MAX;
}

}  // namespace ww::bindings
