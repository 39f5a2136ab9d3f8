/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * Loads the controls of users that a plan names, and ends the run if one of them fails.
 */
#ifndef WW_CONTROL_H
#define WW_CONTROL_H

#include "wire/control.hpp"
#include "wire/plan.hpp"

#include "ns3/simulator.h"
#include "ns3/ww-tcp-westwood.h"

#include <csignal>
#include <cstdint>
#include <deque>
#include <dlfcn.h>
#include <string>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>
#include <utility>

namespace ns3
{

/// A control that a plan's statement `object` names.
struct LoadedControl
{
    ww_control_ops ops;
    std::string source;
    uintptr_t base; //!< where its object begins in memory
};

/// Returns the controls that were loaded, which stay until the program ends.
inline std::deque<LoadedControl>&
LoadedControls()
{
    static std::deque<LoadedControl> all;
    return all;
}

/// Ends the run with the four fields that westwood/control/loading.py locates: what identifies the
/// control, the operation or nothing, the place in the machine code or nothing, and the problem.
[[noreturn]] inline void
EndByControl(const std::string& source,
             const std::string& call,
             const std::string& place,
             const std::string& problem)
{
    const std::string line =
        "control\t" + source + "\t" + call + "\t" + place + "\t" + problem + "\n";
    [[maybe_unused]] const auto written = write(STDERR_FILENO, line.data(), line.size());
    _exit(2);
}

/// Returns the control whose code has this place, or nullptr.
inline const LoadedControl*
ControlAt(uintptr_t place)
{
    Dl_info info{};
    if (dladdr(reinterpret_cast<void*>(place), &info) == 0)
    {
        return nullptr;
    }
    for (const LoadedControl& one : LoadedControls())
    {
        if (one.base == reinterpret_cast<uintptr_t>(info.dli_fbase))
        {
            return &one;
        }
    }
    return nullptr;
}

inline uintptr_t
PlaceOf(const void* context)
{
    [[maybe_unused]] const auto& machine = static_cast<const ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
    return static_cast<uintptr_t>(machine.gregs[REG_RIP]);
#elif defined(__aarch64__)
    return machine.pc;
#else
    return 0;
#endif
}

/// Answers an error of a control's code. Any other ends the program as it would without this.
inline void
OnErrorSignal(int number, siginfo_t*, void* context)
{
    const uintptr_t place = PlaceOf(context);
    if (const LoadedControl* const control = ControlAt(place))
    {
        const char* const problem = number == SIGFPE ? "divides by zero"
                                    : number == SIGILL || number == SIGTRAP
                                        ? "overflows, divides by zero, or leaves the "
                                          "bounds of an array or a shift"
                                        : "uses memory that is not its own";
        EndByControl(control->source, "", std::to_string(place - control->base), problem);
    }
    std::signal(number, SIG_DFL); // the instruction runs again
}

/// Ends the run if a control's operation takes all of the time between two looks.
inline void
OnLook(int, siginfo_t*, void* context)
{
    static uint64_t before = UINT64_MAX;
    const uint64_t events = Simulator::GetEventCount();
    const uintptr_t place = PlaceOf(context);
    const LoadedControl* const control = events == before ? ControlAt(place) : nullptr;
    if (control)
    {
        EndByControl(control->source,
                     "",
                     std::to_string(place - control->base),
                     "does not return within 2 s");
    }
    before = events;
}

/// Watches over the code of the controls, in processor time.
inline void
WatchControls()
{
    struct sigaction action = {};
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
    action.sa_sigaction = OnErrorSignal;
    for (const int number : {SIGFPE, SIGILL, SIGSEGV, SIGBUS, SIGTRAP})
    {
        sigaction(number, &action, nullptr);
    }
    action.sa_sigaction = OnLook;
    sigaction(SIGVTALRM, &action, nullptr);
    const itimerval look = {{2, 0}, {2, 0}};
    setitimer(ITIMER_VIRTUAL, &look, nullptr);
}

/// Loads a control; throws PlanError.
inline const ww_control_ops&
LoadControl(const std::string& source, const std::string& file)
{
    void* const object = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!object)
    {
        throw ww::wire::PlanError(std::string("object: ") + dlerror());
    }
    const auto* const table =
        static_cast<const ww_control_ops*>(dlsym(object, ww::wire::kControlSymbol));
    const std::string problem = table ? ww::wire::problem_of(*table) : "it has no table";
    if (!problem.empty())
    {
        throw ww::wire::PlanError("object: " + file + ": " + problem);
    }
    Dl_info info{};
    dladdr(table, &info);
    LoadedControl& loaded = LoadedControls().emplace_back(
        LoadedControl{*table, source, reinterpret_cast<uintptr_t>(info.dli_fbase)});
    loaded.ops.context = &loaded;
    loaded.ops.refuse = [](const ww_control_ops* ops, const char* call, const ww_window* window) {
        EndByControl(static_cast<const LoadedControl*>(ops->context)->source,
                     call,
                     "",
                     ww::wire::problem_of(*window));
    };
    return loaded.ops;
}

/// Loads the controls of a plan, and gives them to its flows.
inline void
LoadControls(ww::wire::Plan& plan)
{
    std::map<std::string, const ww_control_ops*> loaded;
    for (const auto& [source, file] : plan.objects)
    {
        loaded[source] = &LoadControl(source, file);
        WwTcpWestwood::AddControl(source, loaded[source]);
    }
    for (std::size_t i = 0; i < plan.controls.size(); i++)
    {
        if (!plan.controls[i].empty())
        {
            plan.network.flows[i].cc.control = loaded.at(plan.controls[i]);
        }
    }
    if (!loaded.empty())
    {
        WatchControls();
    }
}

} // namespace ns3

#endif /* WW_CONTROL_H */
