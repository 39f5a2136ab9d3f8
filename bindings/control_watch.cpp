// SPDX-License-Identifier: BSD-3-Clause
//
// Ends runs whose control fails: it sets a window out of range, makes an error that the processor or the compiler's
// checks report by a signal, or does not return. Signals are answered only in the control's own code, which holds
// no lock and owns no memory, so that the thread can leave it by a jump. The memory of that run is not freed.
#include "control_watch.hpp"

#include <link.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <time.h>
#include <ucontext.h>

#include <array>
#include <atomic>
#include <chrono>
#include <csetjmp>
#include <cstring>
#include <mutex>
#include <set>
#include <thread>

namespace ww::bindings {
namespace {

// A run takes some milliseconds between two signs of life; a control's operation nanoseconds.
constexpr double kLongest_s = 2;
constexpr auto kLook = std::chrono::milliseconds(250);
constexpr std::size_t kMostCodes = 4096;

struct Code {
    std::uintptr_t first, end;
    std::string source;
};

// Grows only, so that a signal's handler may read it.
std::array<Code, kMostCodes> codes;
std::atomic<std::size_t> code_count = 0;

const Code* code_at(std::uintptr_t place) {
    for (std::size_t i = 0; i < code_count; i++)
        if (place >= codes[i].first && place < codes[i].end) return &codes[i];
    return nullptr;
}

struct Run {
    std::string failure;
    std::atomic<std::uint64_t> signs = 0;  // of life
    pthread_t thread = pthread_self();
    sigjmp_buf back;
    volatile sig_atomic_t signal = 0;
    const Code* volatile code = nullptr;
    volatile std::uintptr_t place = 0;
    // Of the watch:
    std::uint64_t seen = 0;
    double seen_at_s = 0;
};

thread_local Run* current = nullptr;

// ---- Signals

constexpr int kErrors[] = {SIGFPE, SIGILL, SIGSEGV, SIGBUS, SIGTRAP};
std::array<struct sigaction, 65> others;

int late() { return SIGRTMIN + 7; }

std::uintptr_t place_of(const void* context) {
    const auto& machine = static_cast<const ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
    return static_cast<std::uintptr_t>(machine.gregs[REG_RIP]);
#elif defined(__aarch64__)
    return machine.pc;
#else
    (void)machine;
    return 0;  // nothing is in a control's code: errors end the process
#endif
}

// Returns where a function goes back to that has not used the stack, such as the one at a null pointer.
std::uintptr_t caller_of(const void* context) {
    const auto& machine = static_cast<const ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
    return *reinterpret_cast<const std::uintptr_t*>(machine.gregs[REG_RSP]) - 1;
#elif defined(__aarch64__)
    return machine.regs[30] - 1;
#else
    (void)machine;
    return 0;
#endif
}

void on_signal(int number, siginfo_t* info, void* context) {
    std::uintptr_t place = place_of(context);
    const Code* code = current == nullptr ? nullptr : code_at(place);
    if (current != nullptr && code == nullptr && number != late()) {
        place = caller_of(context);
        code = code_at(place);
    }
    if (code != nullptr) {
        current->signal = number;
        current->code = code;
        current->place = place;
        siglongjmp(current->back, 1);
    }
    if (number == late()) return;  // the engine itself works, and will soon give a sign
    const struct sigaction& other = others[static_cast<std::size_t>(number)];
    if ((other.sa_flags & SA_SIGINFO) != 0) return other.sa_sigaction(number, info, context);
    if (other.sa_handler != SIG_DFL && other.sa_handler != SIG_IGN) return other.sa_handler(number);
    sigaction(number, &other, nullptr);  // the instruction runs again and ends the process
}

void take_signals() {
    struct sigaction action = {};
    action.sa_sigaction = on_signal;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    for (const int number : kErrors)
        sigaction(number, &action, &others[static_cast<std::size_t>(number)]);
    sigaction(late(), &action, nullptr);
}

// A stack for handlers, since a control may use up the thread's own.
class HandlerStack {
  public:
    HandlerStack() {
        stack_t own = {};
        own.ss_sp = memory_.data();
        own.ss_size = memory_.size();
        sigaltstack(&own, &before_);
    }
    ~HandlerStack() { sigaltstack(&before_, nullptr); }

  private:
    std::array<char, 1 << 16> memory_;
    stack_t before_ = {};
};

// ---- The watch

std::mutex runs_lock;
std::set<Run*> runs;

double busy_s(pthread_t thread) {
    clockid_t clock;
    timespec now = {};
    if (pthread_getcpuclockid(thread, &clock) != 0 || clock_gettime(clock, &now) != 0) return 0;
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

void look() {
    const std::lock_guard locked(runs_lock);
    for (Run* const run : runs) {
        const double now_s = busy_s(run->thread);
        const std::uint64_t signs = run->signs;
        if (signs != run->seen || run->seen_at_s == 0) {
            run->seen = signs;
            run->seen_at_s = now_s;
        } else if (now_s - run->seen_at_s > kLongest_s) {
            pthread_kill(run->thread, late());
        }
    }
}

void watch_always() {
    for (;;) {
        std::this_thread::sleep_for(kLook);
        look();
    }
}

class Watched {
  public:
    explicit Watched(Run& run) : run_(run) {
        static std::once_flag first;
        std::call_once(first, [] {
            take_signals();
            std::thread(watch_always).detach();
        });
        current = &run;
        const std::lock_guard locked(runs_lock);
        runs.insert(&run);
    }
    ~Watched() {
        const std::lock_guard locked(runs_lock);
        runs.erase(&run_);
        current = nullptr;
    }

  private:
    Run& run_;
    HandlerStack stack_;
};

std::string cause_of(int signal) {
    if (signal == late()) return "does not return within 4 s";
    if (signal == SIGFPE) return "divides by zero";
    if (signal == SIGILL || signal == SIGTRAP)
        return "overflows, divides by zero, or leaves the bounds of an array or a shift";
    return "uses memory that is not its own";
}

}  // namespace

void watch_code(const void* address, const std::string& source) {
    const auto in = [](dl_phdr_info* info, std::size_t, void* wanted) {
        const auto place = *static_cast<std::uintptr_t*>(wanted);
        std::uintptr_t first = info->dlpi_addr, end = first;
        for (int i = 0; i < info->dlpi_phnum; i++)
            if (info->dlpi_phdr[i].p_type == PT_LOAD)
                end =
                    std::max(end, first + info->dlpi_phdr[i].p_vaddr + info->dlpi_phdr[i].p_memsz);
        if (place < first || place >= end) return 0;
        if (code_count < kMostCodes) {
            codes[code_count].first = first;
            codes[code_count].end = end;
            return 1;
        }
        return 2;
    };
    auto place = reinterpret_cast<std::uintptr_t>(address);
    if (dl_iterate_phdr(in, &place) != 1) return;
    codes[code_count].source = source;
    code_count++;
}

void fail(const std::string& source, const char* call, const std::string& problem) {
    if (current != nullptr && current->failure.empty())
        current->failure = source + "\t" + call + "\t\t" + problem;
}

bool still_sound() {
    if (current == nullptr) return true;
    current->signs++;
    return current->failure.empty();
}

void watched(const std::function<void()>& work) {
    Run run;
    const Watched watch(run);
    if (sigsetjmp(run.back, 1) == 0) {
        work();
    } else {
        const Code& code = *run.code;
        run.failure = code.source + "\t\t" + std::to_string(run.place - code.first) + "\t" +
                      cause_of(run.signal);
    }
    if (!run.failure.empty()) throw ControlFailed(run.failure);
}

sim::Outcome run_watched(const sim::Network& network, std::uint64_t seed, sim::Sink* sink,
                         const sim::Stop& stop) {
    sim::Outcome outcome;
    watched([&] { outcome = sim::run(network, seed, sink, stop); });
    return outcome;
}

}  // namespace ww::bindings
