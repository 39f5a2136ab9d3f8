// SPDX-License-Identifier: BSD-3-Clause
//
// Congestion controls in Python (westwood.PythonControl): a table of operations (core/loaded.h), each of which takes
// the interpreter lock and calls the method of the same name. A connection has an instance of the class. What a
// method gets lasts for the call: the same objects are filled in for every one.
#include "python_control.hpp"

#include <nanobind/stl/tuple.h>

#include <cstring>
#include <deque>
#include <memory>

#include "../plan/controls.hpp"

namespace ww::bindings {
namespace {

struct PythonOps {
    ww_control_ops ops = {};
    nb::object control;  // the class
    std::string name;
    std::deque<std::string> texts;  // of the following
    std::vector<ww_parameter> parameters;
    std::vector<ww_quantity> quantities;
};

// An instance, and what its methods get.
struct Instance {
    nb::object self;
    nb::object window = nb::cast(ww_window{}), ack = nb::cast(ww_sample{});
    ww_window& window_seen = nb::cast<ww_window&>(window);
    ww_sample& ack_seen = nb::cast<ww_sample&>(ack);
};

struct Run {
    std::deque<Instance> instances;
    std::unique_ptr<nb::python_error> error;
    std::string call;
};

thread_local Run* current = nullptr;

struct PythonControlRaised : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// The exception in Python that the caller gets, from the one that a control raised.
nb::object& raised() {
    static nb::object& type = *new nb::object;
    return type;
}

const PythonOps& ops_of(const ww_config* config) {
    return *static_cast<const PythonOps*>(config->control->context);
}

// A connection's state holds the address of its object.
Instance& instance_of(const void* state) {
    Instance* instance = nullptr;
    std::memcpy(&instance, static_cast<const ww_loaded_state*>(state)->own, sizeof instance);
    return *instance;
}

void keep(void* state, Instance* instance) {
    std::memcpy(static_cast<ww_loaded_state*>(state)->own, &instance, sizeof instance);
}

void check(const ww_window& window) {
    if (window.cwnd < 1 || window.cwnd > WW_CWND_MAX)
        throw nb::value_error("sets cwnd out of range, expected 1 to 2^28 segments");
    if (window.ssthresh > WW_SSTHRESH_INFINITE)
        throw nb::value_error("sets ssthresh out of range, expected less than 2^31 segments");
    if (window.pacing > WW_BW_MAX)
        throw nb::value_error("sets pacing_bps out of range, expected at most 1.1e12");
}

// Does the work with the interpreter lock. After the first exception the run's controls do nothing more.
template <class Work>
void guarded(const ww_config* config, const char* call, Work work) {
    if (current == nullptr || current->error != nullptr) return;
    const nb::gil_scoped_acquire locked;
    try {
        work();
    } catch (nb::python_error& error) {
        current->error = std::make_unique<nb::python_error>(std::move(error));
    } catch (const std::exception& error) {
        PyErr_SetString(PyExc_ValueError, error.what());
        current->error = std::make_unique<nb::python_error>();
    }
    if (current->error != nullptr) current->call = ops_of(config).name + "." + call;
}

// Calls a method that may change the windows.
template <class... Arguments>
void call(const ww_config* config, void* state, const char* name, ww_window* window,
          const Arguments&... arguments) {
    guarded(config, name, [&] {
        Instance& instance = instance_of(state);
        instance.window_seen = *window;
        instance.self.attr(name)(instance.window, arguments...);
        check(instance.window_seen);
        *window = instance.window_seen;
    });
}

// Makes an instance, which has its parameters before its __init__ runs.
nb::object new_instance(const PythonOps& ops, const ww_config& config) {
    nb::object self = ops.control.attr("__new__")(ops.control);
    for (std::size_t i = 0; i < ops.parameters.size(); i++)
        self.attr(ops.parameters[i].name) = config.own[i];
    self.attr("__init__")();
    return self;
}

void init(const ww_config* config, void* state) {
    keep(state, nullptr);
    guarded(config, "__init__", [&] {
        current->instances.emplace_back(Instance{new_instance(ops_of(config), *config)});
        keep(state, &current->instances.back());
    });
}

void on_ack(const ww_config* config, void* state, ww_window* window, const ww_sample* ack) {
    guarded(config, "on_ack", [&] {
        Instance& instance = instance_of(state);
        instance.window_seen = *window;
        instance.ack_seen = *ack;
        instance.self.attr("on_ack")(instance.window, instance.ack);
        check(instance.window_seen);
        *window = instance.window_seen;
    });
}

void on_loss(const ww_config* config, void* state, ww_window* window, std::uint64_t now_us,
             std::uint32_t in_flight, std::uint32_t mss) {
    call(config, state, "on_loss", window, now_us, in_flight, mss);
}

void on_mark(const ww_config* config, void* state, ww_window* window, std::uint64_t now_us,
             std::uint32_t in_flight, std::uint32_t mss) {
    call(config, state, "on_mark", window, now_us, in_flight, mss);
}

void on_recovery_exit(const ww_config* config, void* state, ww_window* window, std::uint64_t now_us,
                      std::uint32_t mss) {
    call(config, state, "on_recovery_exit", window, now_us, mss);
}

void on_rto(const ww_config* config, void* state, ww_window* window, std::uint64_t now_us,
            std::uint32_t in_flight, std::uint32_t mss, bool repeated) {
    call(config, state, "on_rto", window, now_us, in_flight, mss, repeated);
}

void on_undo(const ww_config* config, void* state, ww_window* window) {
    call(config, state, "on_undo", window);
}

void on_restart(const ww_config* config, void* state, std::uint64_t now_us) {
    guarded(config, "on_restart", [&] { instance_of(state).self.attr("on_restart")(now_us); });
}

void on_packet_sent(const ww_config* config, void* state, ww_window* window, const ww_sent* sent) {
    call(config, state, "on_packet_sent", window, *sent);
}

void on_packet_lost(const ww_config* config, void* state, ww_window* window, const ww_lost* lost) {
    call(config, state, "on_packet_lost", window, *lost);
}

// Returns what a method sets. nanobind's own message about a wrong type does not say what is expected.
template <class T>
T number(nb::handle given, const char* name, const char* expected) {
    T value{};
    if (nb::try_cast(given, value)) return value;
    const std::string shown = nb::repr(given).c_str();
    throw nb::type_error((std::string(name) + " = " + shown + ": expected " + expected).c_str());
}

// What traces show: the method returns a number for each quantity.
void observe(const ww_config* config, const void* state, std::uint64_t now_us,
             std::uint64_t* quantities) {
    guarded(config, "observe", [&] {
        const nb::object seen = instance_of(state).self.attr("observe")(now_us);
        std::size_t i = 0;
        for (const nb::handle number_seen : nb::tuple(seen)) {
            if (i == ops_of(config).quantities.size()) break;
            quantities[i++] = number<std::uint64_t>(number_seen, "observe", "whole numbers");
        }
        if (i < ops_of(config).quantities.size())
            throw nb::value_error("expected a number for each of its quantities");
    });
}

// What on_loss would set, tried on a copy.
std::uint32_t ssthresh(const ww_config* config, const void* state, std::uint64_t now_us,
                       std::uint32_t in_flight, std::uint32_t mss) {
    ww_window window = {std::clamp(in_flight, 1u, WW_CWND_MAX), WW_SSTHRESH_INFINITE, 0};
    guarded(config, "on_loss", [&] {
        const Instance& instance = instance_of(state);
        nb::object copy = nb::module_::import_("copy").attr("deepcopy")(instance.self);
        nb::object tried = nb::cast(window);
        copy.attr("on_loss")(tried, now_us, in_flight, mss);
        window = nb::cast<ww_window>(tried);
        check(window);
    });
    return window.ssthresh;
}

// Sets the operation if the class has the method; a missing one has the core's default.
template <class Function>
void set(const nb::object& control, const char* name, Function*& operation, Function* function) {
    if (nb::hasattr(control, name)) operation = function;
}

// Makes a window an attribute that takes whole numbers.
template <std::uint32_t ww_window::*window>
void bind_window(nb::class_<ww_window>& type, const char* name) {
    type.def_prop_rw(
        name, [](const ww_window& fields) { return fields.*window; },
        [name](ww_window& fields, nb::handle given) {
            fields.*window = number<std::uint32_t>(given, name, "a whole number of segments");
        },
        nb::for_setter("given"_a.none()));
}

double pacing_bps(const ww_window& window) {
    return static_cast<double>(window.pacing) * 8 / static_cast<double>(WW_BW_UNIT);
}

void set_pacing_bps(ww_window& window, nb::handle given) {
    const double bps = number<double>(given, "pacing_bps", "a number from 0 to 1.1e12");
    const double pacing = bps / 8 * static_cast<double>(WW_BW_UNIT);
    if (!(pacing >= 0 && pacing <= static_cast<double>(WW_BW_MAX)))
        throw nb::value_error("pacing_bps: expected from 0 to 1.1e12");
    window.pacing = static_cast<std::uint64_t>(pacing);
}

using Text = std::string;
using Number = std::uint32_t;
using Parameters = std::vector<std::tuple<Text, Text, Number, Number, Number>>;
using Quantities = std::vector<std::tuple<Text, Text, Text>>;

// Adds the parameters (name, what, default, least, most) and the quantities (name, unit, what) of a class.
void declare(PythonOps& declared, const Parameters& parameters, const Quantities& quantities) {
    const auto kept = [&](const std::string& text) {
        return declared.texts.emplace_back(text).c_str();
    };
    for (const auto& [name, what, fallback, least, most] : parameters)
        declared.parameters.push_back({kept(name), kept(what), fallback, least, most});
    for (const auto& [name, unit, what] : quantities)
        declared.quantities.push_back({kept(name), kept(unit), kept(what)});
    declared.ops.parameters = declared.parameters.data();
    declared.ops.parameter_count = static_cast<std::uint32_t>(declared.parameters.size());
    declared.ops.quantities = declared.quantities.data();
    declared.ops.quantity_count = static_cast<std::uint32_t>(declared.quantities.size());
    if (!declared.quantities.empty()) declared.ops.observe = observe;
}

// Registers a class under a name. Its table stays for the life of the process, because networks have its address.
void add(const nb::object& control, const std::string& source, const std::string& name,
         unsigned traits, const Parameters& parameters, const Quantities& quantities) {
    static std::deque<PythonOps>& all = *new std::deque<PythonOps>;
    PythonOps& declared = all.emplace_back();
    declared.control = control;
    declared.name = name;
    ww_control_ops& ops = declared.ops;
    ops.version = WW_CONTROL_VERSION;
    ops.state_bytes = sizeof(ww_loaded_state);
    ops.traits = traits;
    ops.like = WW_PROTOCOL_SACK;
    ops.label = declared.name.c_str();
    declare(declared, parameters, quantities);
    ops.context = &declared;
    ops.init = init;
    ops.on_ack = on_ack;
    ops.on_loss = on_loss;
    ops.ssthresh = ssthresh;
    set(control, "on_mark", ops.on_mark, on_mark);
    set(control, "on_recovery_exit", ops.on_recovery_exit, on_recovery_exit);
    set(control, "on_rto", ops.on_rto, on_rto);
    set(control, "on_undo", ops.on_undo, on_undo);
    set(control, "on_restart", ops.on_restart, on_restart);
    set(control, "on_packet_sent", ops.on_packet_sent, on_packet_sent);
    set(control, "on_packet_lost", ops.on_packet_lost, on_packet_lost);
    plan::add_control(source, ops);
}

}  // namespace

struct PythonRun::Inside : Run {};

PythonRun::PythonRun() : inside_(std::make_unique<Inside>()), before_(current) {
    current = inside_.get();
}

PythonRun::~PythonRun() { current = static_cast<Run*>(before_); }

bool PythonRun::failed() { return current != nullptr && current->error != nullptr; }

void PythonRun::rethrow() const {
    if (inside_->error == nullptr) return;
    nb::raise_from(*inside_->error, raised().ptr(), "%s", inside_->call.c_str());
}

void bind_python_control(nb::module_& m) {
#define WW_FIELD_OF(name, ...) type.def_ro(#name, &T::name);
    {
        using T = ww_sample;
        nb::class_<T> type(m, "Ack", "What an ACK brought: ww_sample of core/contract.h.");
        WW_SAMPLE_RANGES(WW_FIELD_OF)
    }
    {
        using T = ww_sent;
        nb::class_<T> type(m, "Sent", "A segment that is about to leave: ww_sent.");
        WW_SENT_RANGES(WW_FIELD_OF)
    }
    {
        using T = ww_lost;
        nb::class_<T> type(m, "Lost", "A segment that was found lost: ww_lost.");
        WW_LOST_RANGES(WW_FIELD_OF)
    }
#undef WW_FIELD_OF
    nb::class_<ww_window> window(m, "Window", "The windows, in segments, and the pacing rate.");
    bind_window<&ww_window::cwnd>(window, "cwnd");
    bind_window<&ww_window::ssthresh>(window, "ssthresh");
    window.def_prop_rw("pacing_bps", pacing_bps, set_pacing_bps, nb::for_setter("given"_a.none()),
                       "0: not paced.");
    raised() = nb::exception<PythonControlRaised>(m, "PythonControlRaised", PyExc_Exception);
    m.def("add_python_control", &add, "control"_a, "source"_a, "name"_a, "traits"_a, "parameters"_a,
          "quantities"_a,
          "Makes a class of westwood.PythonControl a control; scenarios find it by `source`.");
}

}  // namespace ww::bindings
