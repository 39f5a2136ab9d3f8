// SPDX-License-Identifier: BSD-3-Clause
//
// Ends runs whose control fails: it sets a window out of range, makes an error that the processor or the compiler's
// checks report by a signal, or does not return. Signals are answered only in the control's own code, which holds
// no lock and owns no memory, so that the thread can leave it by a jump. The memory of that run is not freed.
// An error elsewhere in the run's thread may be due to what a control has written, and ends the process with a line.
#include "control_watch.hpp"

#include <link.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <csetjmp>
#include <cstring>
#include <mutex>
#include <set>
#include <thread>
#include <utility>

#include "guarded_state.hpp"

namespace ww::bindings {
namespace {

// A run takes some milliseconds between two signs of life; a control's operation nanoseconds.
constexpr double kLongest_s = 2;
constexpr auto kLook = std::chrono::milliseconds(250);
constexpr std::uintptr_t kNear = 1 << 16;  // bytes: further from its stack nothing is an overflow

struct Code {
    std::uintptr_t first, end;
    std::string source, name;
    const Code* older;
};

// Grows only, so that a signal's handler may read it.
std::atomic<const Code*> newest_code = nullptr;

const Code* code_at(std::uintptr_t place) {
    const Code* code = newest_code;
    while (code != nullptr && (place < code->first || place >= code->end)) code = code->older;
    return code;
}

enum class Memory : sig_atomic_t { elsewhere, stack, state };

struct Run {
    std::string failure;
    std::atomic<std::uint64_t> signs = 0;  // of life
    pthread_t thread = pthread_self();
    sigjmp_buf back;
    volatile sig_atomic_t signal = 0, memory = 0;
    const Code* volatile code = nullptr;
    volatile std::uintptr_t place = 0, caller = 0;
    std::uint64_t states = 0;  // the places of those that it has
    // Of the watch:
    std::uint64_t seen = 0;
    double seen_at_s = 0;
};

thread_local Run* current = nullptr;
std::atomic<const Code*> last_opened = nullptr;  // the control of the last connection

// ---- Signals

constexpr int kErrors[] = {SIGFPE, SIGILL, SIGSEGV, SIGBUS, SIGTRAP, SIGABRT};
std::array<struct sigaction, 65> others;

int late() { return SIGRTMIN + 7; }

std::uintptr_t stack_of(const void* context) {
    const auto& machine = static_cast<const ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
    return static_cast<std::uintptr_t>(machine.gregs[REG_RSP]);
#elif defined(__aarch64__)
    return machine.sp;
#else
    (void)machine;
    return 0;
#endif
}

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
#if defined(__x86_64__)
    return *reinterpret_cast<const std::uintptr_t*>(stack_of(context)) - 1;
#elif defined(__aarch64__)
    return static_cast<const ucontext_t*>(context)->uc_mcontext.regs[30] - 1;
#else
    (void)context;
    return 0;
#endif
}

Memory memory_at(int number, const siginfo_t* info, const void* context) {
    if (number != SIGSEGV && number != SIGBUS) return Memory::elsewhere;
    const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr), sp = stack_of(context);
    if (std::max(address, sp) - std::min(address, sp) < kNear) return Memory::stack;
    return is_guarded(info->si_addr) ? Memory::state : Memory::elsewhere;
}

// Ends the process: nobody knows what else the control has written. The first thread that gets here has the word.
void say_and_end(const char* name) {
    static std::atomic_flag is_said = ATOMIC_FLAG_INIT;
    if (is_said.test_and_set())
        for (;;) pause();
    std::array<char, 600> line = {};
    std::size_t length = 0;
    for (const char* part :
         {"westwood: ", name,
          ": the simulator crashed, probably because the control wrote into its memory\n"})
        for (; *part != '\0' && length < line.size() - 1; part++)
            line[length++] = *part >= ' ' || *part < 0 || *part == '\n' ? *part : '?';
    line[length - 1] = '\n';
    if (write(STDERR_FILENO, line.data(), length) < 0) _exit(1);
    _exit(2);
}

// Returns whether an error of this process caused the signal, not somebody else.
bool is_ours(int number, const siginfo_t& info) {
    return number == SIGABRT ? info.si_pid == getpid() : info.si_code > 0;
}

void on_signal(int number, siginfo_t* info, void* context) {
    const Memory memory = memory_at(number, info, context);
    const std::uintptr_t place = place_of(context),
                         caller = memory == Memory::stack ? 0 : caller_of(context);
    const Code* code = current == nullptr || number == SIGABRT ? nullptr : code_at(place);
    if (current != nullptr && code == nullptr && number != late() && number != SIGABRT)
        code = code_at(caller);
    if (code != nullptr) {
        current->signal = number;
        current->memory = static_cast<sig_atomic_t>(memory);
        current->code = code;
        current->place = place;
        current->caller = caller;
        siglongjmp(current->back, 1);
    }
    if (number == late()) return;  // the engine itself works, and will soon give a sign
    const struct sigaction& other = others[static_cast<std::size_t>(number)];
    if ((other.sa_flags & SA_SIGINFO) != 0) return other.sa_sigaction(number, info, context);
    if (other.sa_handler != SIG_DFL && other.sa_handler != SIG_IGN) return other.sa_handler(number);
    const Code* const last = last_opened;
    if (last != nullptr && (current != nullptr || is_ours(number, *info)))
        say_and_end(last->name.c_str());
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
        stack_t stack = {};
        stack.ss_sp = memory_.data();
        stack.ss_size = memory_.size();
        sigaltstack(&stack, &before_);
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

bool is_watching = false;  // with the lock

// A forked process has none of the other threads: it needs a watch of its own, for its own runs.
void watch_in_children() {
    const auto unlock = [] { runs_lock.unlock(); };
    pthread_atfork([] { runs_lock.lock(); }, unlock,
                   [] {
                       runs.clear();
                       is_watching = false;
                       runs_lock.unlock();
                   });
}

class Watched {
  public:
    explicit Watched(Run& run) : run_(run) {
        static std::once_flag first;
        std::call_once(first, [] {
            take_signals();
            watch_in_children();
        });
        current = &run;
        const std::lock_guard locked(runs_lock);
        runs.insert(&run);
        if (!std::exchange(is_watching, true)) std::thread(watch_always).detach();
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

std::string cause_of(int signal, Memory memory) {
    if (signal == late()) return "does not return within 4 s";
    if (signal == SIGFPE) return "divides by zero";
    if (signal == SIGILL || signal == SIGTRAP)
        return "overflows, divides by zero, or leaves the bounds of an array or a shift";
    if (memory == Memory::stack) return "uses more of the stack than there is";
    if (memory == Memory::state) return "leaves the bounds of its state";
    return "uses memory that is not its own";
}

std::string failure_of(const Run& run) {
    const Code& code = *run.code;
    const auto within = [&](std::uintptr_t place) {
        return place >= code.first && place < code.end ? std::to_string(place - code.first) + " "
                                                       : "";
    };
    return code.source + "\t\t" + within(run.place) + within(run.caller) + "\t" +
           cause_of(run.signal, static_cast<Memory>(run.memory));
}

}  // namespace

void watch_code(const void* address, const std::string& source, const std::string& name) {
    struct Range {
        std::uintptr_t place, first, end;
    } range = {reinterpret_cast<std::uintptr_t>(address), 0, 0};
    const auto in = [](dl_phdr_info* info, std::size_t, void* wanted) {
        Range& code = *static_cast<Range*>(wanted);
        code.first = code.end = info->dlpi_addr;
        for (int i = 0; i < info->dlpi_phnum; i++)
            if (info->dlpi_phdr[i].p_type == PT_LOAD)
                code.end = std::max<std::uintptr_t>(
                    code.end, code.first + info->dlpi_phdr[i].p_vaddr + info->dlpi_phdr[i].p_memsz);
        return code.place >= code.first && code.place < code.end ? 1 : 0;
    };
    if (dl_iterate_phdr(in, &range) != 1) return;
    newest_code = new Code{range.first, range.end, source, name, newest_code};
}

void opens(const std::string& source, std::uint64_t places) {
    if (current != nullptr) current->states |= places;
    const Code* code = last_opened;
    if (code != nullptr && code->source == source) return;
    for (code = newest_code; code != nullptr && code->source != source;) code = code->older;
    last_opened = code;
}

void closes(std::uint64_t places) {
    if (current != nullptr) current->states &= ~places;
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

void watched(const std::function<void()>& work, bool is_whole) {
    Run run;
    const Watched watch(run);
    if (sigsetjmp(run.back, 1) == 0) {
        work();
    } else {
        run.failure = failure_of(run);
        if (is_whole) give_back_guarded(run.states);
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
