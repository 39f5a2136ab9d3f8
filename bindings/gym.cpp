// SPDX-License-Identifier: BSD-3-Clause
//
// Binds batches of environments (engine/learn/), which westwood.gym steps. Arrays of numpy are filled in place.
// The interpreter lock is released while the runs go on.
#include <algorithm>
#include <span>

#include "../engine/learn/batch.hpp"
#include "../plan/routes.hpp"
#include "bindings.hpp"
#include "control.hpp"

namespace ww::bindings {
namespace {

template <class T, std::size_t dimensions = 1>
using Array = nb::ndarray<T, nb::ndim<dimensions>, nb::c_contig, nb::device::cpu>;

constexpr std::array kSteerings = {"rate", "cwnd", "cwnd_factor"};

constexpr std::array kStepColumns = {
#define WW_ROW(name, ...) #name,
    WW_STEP_COLUMNS(WW_ROW)
#undef WW_ROW
};
static_assert(sizeof(sim::StepRow) == kStepColumns.size() * sizeof(double));

// Looks for signals as Python's own loops do.
class Signals {
  public:
    sim::Stop stop() {
        return {[](void* self) { return static_cast<Signals*>(self)->answer(); }, this};
    }
    bool raised() const { return raised_; }
    void forget() { raised_ = false; }

  private:
    static constexpr std::uint32_t kEvents = 4096,
                                   kAnswers = 256;  // a look takes longer than a step

    std::uint32_t answer() {
        if (!still_sound()) return 0;
        if (++answers_ % kAnswers == 0) {
            const nb::gil_scoped_acquire locked;
            raised_ = raised_ || PyErr_CheckSignals() != 0;
        }
        return raised_ ? 0 : kEvents;
    }

    std::uint32_t answers_ = 0;
    bool raised_ = false;
};

class Environments {
  public:
    Environments(const std::vector<sim::Network>& networks, sim::BatchSettings settings)
        : batch_(std::move(settings), paths_of(networks), signals_.stop()) {}

    Environments(const Environments&) = delete;
    Environments& operator=(const Environments&) = delete;

    // Begins episodes where `which` is true.
    void reset(const Array<bool>& which, const Array<std::uint32_t>& paths,
               const Array<std::uint64_t>& seeds, const Array<double>& shares,
               const Array<float, 2>& observations) {
        expect(which.shape(0), paths.shape(0), seeds.shape(0), shares.shape(0));
        expect_observations(observations);
        for (std::size_t i = 0; i < batch_.environments(); i++)
            if (which(i) && paths(i) >= batch_.paths())
                throw std::invalid_argument("there is no such path");
        run([&] {
            for (std::size_t i = 0; i < batch_.environments() && !signals_.raised(); i++) {
                if (!which(i)) continue;
                batch_.reset(i, paths(i), seeds(i), shares(i));
                observe(i, observations);
            }
        });
    }

    // Runs a step where `which` is true.
    void step(const Array<bool>& which, const Array<double>& orders, const Array<double, 2>& rows,
              const Array<float, 2>& observations, const Array<bool>& terminated,
              const Array<bool>& truncated) {
        expect(which.shape(0), orders.shape(0), terminated.shape(0), truncated.shape(0));
        expect_observations(observations);
        expect(rows.shape(0));
        if (rows.shape(1) != kStepColumns.size()) throw std::invalid_argument("wrong shape");
        run([&] {
            for (std::size_t i = 0; i < batch_.environments() && !signals_.raised(); i++) {
                if (!which(i)) continue;
                const sim::Batch::Step step = batch_.step(i, orders(i));
                std::copy_n(&step.row.duration_s, kStepColumns.size(), &rows(i, 0));
                terminated(i) = step.terminated;
                truncated(i) = step.truncated;
                observe(i, observations);
            }
        });
    }

  private:
    static std::vector<sim::Path> paths_of(const std::vector<sim::Network>& networks) {
        std::vector<sim::Path> paths;
        for (const sim::Network& network : networks) {
            sim::Path path{network};
            for (const sim::Link& link : network.links) {
                const double rate = plan::mean_rate_bps(link.forward);
                path.slowest_bps = std::min(path.slowest_bps, rate);
                path.fastest_bps = std::max(path.fastest_bps, rate);
            }
            paths.push_back(std::move(path));
        }
        return paths;
    }

    template <class... Sizes>
    void expect(Sizes... sizes) const {
        if (((static_cast<std::size_t>(sizes) != batch_.environments()) || ...))
            throw std::invalid_argument("wrong shape");
    }
    void expect_observations(const Array<float, 2>& observations) const {
        expect(observations.shape(0));
        if (observations.shape(1) != batch_.observed()) throw std::invalid_argument("wrong shape");
    }
    void observe(std::size_t i, const Array<float, 2>& observations) const {
        if (batch_.observed() > 0) batch_.observe(i, {&observations(i, 0), batch_.observed()});
    }

    // The interpreter lock guards `busy_`. A step after an interrupt starts afresh.
    template <class Work>
    void run(Work work) {
        if (busy_) throw std::runtime_error("another thread is stepping these environments");
        busy_ = true;
        signals_.forget();
        try {
            const nb::gil_scoped_release unlocked;
            watched(work, false);
        } catch (...) {
            busy_ = false;
            throw;
        }
        busy_ = false;
        if (signals_.raised()) throw nb::python_error();
    }

    bool busy_ = false;
    Signals signals_;
    sim::Batch batch_;
};

sim::BatchSettings settings_of(std::uint32_t environments, std::uint32_t flow,
                               const std::string& steering, sim::Time interval_ps, double rtts,
                               std::uint32_t steps, std::uint32_t history,
                               const std::vector<std::string>& columns) {
    sim::BatchSettings settings;
    settings.environments = environments;
    settings.flow = flow;
    settings.steering = static_cast<sim::Steering>(position(kSteerings, steering));
    settings.interval = interval_ps;
    settings.rtts = rtts;
    settings.steps = steps;
    settings.history = history;
    for (const std::string& name : columns)
        settings.columns.push_back(static_cast<std::uint32_t>(position(kStepColumns, name)));
    return settings;
}

}  // namespace

void bind_gym(nb::module_& m) {
    nb::class_<Environments>(m, "Environments", "Runs that continue together: engine/learn/.")
        .def(
            "__init__",
            [](Environments* self, const std::vector<sim::Network>& paths,
               std::uint32_t environments, std::uint32_t flow, const std::string& steering,
               sim::Time interval_ps, double rtts, std::uint32_t steps, std::uint32_t history,
               const std::vector<std::string>& columns) {
                for (const sim::Network& path : paths)
                    if (const std::string why = sim::refusal_of_agent(path, flow); !why.empty())
                        throw std::invalid_argument(why);
                new (self)
                    Environments(paths, settings_of(environments, flow, steering, interval_ps, rtts,
                                                    steps, history, columns));
            },
            "paths"_a, "environments"_a, "flow"_a, "steering"_a, "interval_ps"_a, "rtts"_a,
            "steps"_a, "history"_a, "columns"_a)
        .def("reset", &Environments::reset, "which"_a, "paths"_a, "seeds"_a, "shares"_a,
             "observations"_a, "Begins episodes.")
        .def("step", &Environments::step, "which"_a, "orders"_a, "rows"_a, "observations"_a,
             "terminated"_a, "truncated"_a, "Gives the agents their orders and runs a step.");
    nb::dict columns;
#define WW_ROW(name, least, most, what) \
    columns[#name] = nb::make_tuple(double(least), double(most), what);
    WW_STEP_COLUMNS(WW_ROW)
#undef WW_ROW
    m.attr("STEP_COLUMNS") = columns;
    m.attr("STEERINGS") = std::vector<std::string>(kSteerings.begin(), kSteerings.end());
}

}  // namespace ww::bindings
