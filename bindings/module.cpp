// SPDX-License-Identifier: BSD-3-Clause
//
// The Python module westwood._engine: the declarations (catalogue.cpp), the simulator's data
// (network.cpp, plan.cpp, results.cpp) and simulate(), which runs without the interpreter lock. Policy and
// metrics are in Python.
#include <algorithm>
#include <atomic>
#include <chrono>

#include "control.hpp"
#include "python_control.hpp"

namespace ww::bindings {
namespace {

// Lets another thread stop runs that share this flag.
struct StopFlag {
    std::atomic<bool> is_set = false;
};

// Answers the engine's questions whether to go on. A run has a flag, or it checks for signals as
// Python's own loops do. Their handlers run in the main thread with the interpreter lock, which is
// taken so rarely that waiting for it behind a busy thread costs little.
class Answers {
  public:
    explicit Answers(const StopFlag* flag) : flag_(flag) {}

    sim::Stop stop() {
        return {[](void* self) { return static_cast<Answers*>(self)->answer(); }, this};
    }

  private:
    using Clock = std::chrono::steady_clock;
    static constexpr auto kLong = std::chrono::milliseconds(2),
                          kLook = std::chrono::milliseconds(40);
    static constexpr std::uint32_t kMost = 4096;  // events; with a single flow they take 0.1 ms

    std::uint32_t answer() {
        const Clock::time_point now = Clock::now();
        events_ = now - asked_ > kLong ? std::max(events_ / 8, 1u) : std::min(events_ * 2, kMost);
        asked_ = now;
        if (!still_sound() || PythonRun::failed()) return 0;
        if (flag_ != nullptr) return flag_->is_set ? 0 : events_;
        if (now - looked_ < kLook) return events_;
        looked_ = now;
        const nb::gil_scoped_acquire locked;
        return PyErr_CheckSignals() != 0 ? 0 : events_;
    }

    const StopFlag* flag_;
    std::uint32_t events_ = 64;
    Clock::time_point asked_ = Clock::now(), looked_ = asked_;
};

// Passes records to a Python function, with the interpreter lock held. An exception there ends the
// run.
class Taker : public sim::Sink {
  public:
    explicit Taker(const nb::object& function) : function_(function) {}

    void take(sim::Records records) override {
        const nb::gil_scoped_acquire locked;
        function_(std::move(records));
    }

  private:
    const nb::object& function_;
};

bool has_loaded(const sim::Network& network) {
    return std::any_of(network.flows.begin(), network.flows.end(),
                       [](const sim::Flow& flow) { return flow.cc.algorithm == WW_ALG_LOADED; });
}

sim::Outcome simulate(const sim::Network& network, std::uint64_t seed, const StopFlag* flag,
                      const nb::object& take) {
    sim::Outcome outcome;
    Answers answers(flag);
    Taker taker(take);
    const PythonRun controls;
    {
        const nb::gil_scoped_release unlocked;
        const auto run = has_loaded(network) ? run_watched : sim::run;
        outcome = run(network, seed, take.is_none() ? nullptr : &taker, answers.stop());
    }
    controls.rethrow();
    if (!outcome.error.empty()) throw std::invalid_argument(outcome.error);
    if (!outcome.stopped) return outcome;
    if (flag != nullptr) PyErr_SetNone(PyExc_KeyboardInterrupt);
    throw nb::python_error();
}

void bind_simulate(nb::module_& m) {
    nb::class_<StopFlag>(m, "Stop", "Ends the runs that were given it, when a thread sets it.")
        .def(nb::init<>())
        .def(
            "set", [](StopFlag& self) { self.is_set = true; }, "Ends them within milliseconds.")
        .def("is_set", [](const StopFlag& self) { return self.is_set.load(); });
    m.def(
        "simulate", &simulate, "network"_a, "seed"_a, "stop"_a = nb::none(), "take"_a = nb::none(),
        "Simulates a network. The same network and seed give the same result, bit for bit. Raises "
        "ValueError with one line if the network is invalid. The interpreter lock is released "
        "during the run. A signal whose handler raises ends the run; if given, `stop` does so "
        "instead. If given, take(records) receives the records piece by piece during the run.",
        nb::sig("def simulate(network: Network, seed: int, stop: Stop | None = None, "
                "take: collections.abc.Callable[[Records], object] | None = None) -> Outcome"));
}

}  // namespace
}  // namespace ww::bindings

NB_MODULE(_engine, m) {
    using namespace ww::bindings;
    nb::set_leak_warnings(false);  // pydantic's models keep readers of quantities to the end
    m.doc() = "The Westwood simulator's engine.";
    bind_calls(m);
    bind_catalogue(m);
    bind_confine(m);
    bind_control(m);
    bind_gym(m);
    bind_metrics(m);
    bind_network(m);
    bind_plan(m);
    bind_python_control(m);
    bind_quantities(m);
    bind_results(m);
    bind_simulate(m);
}
