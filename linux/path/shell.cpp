// SPDX-License-Identifier: GPL-2.0-only
#include "shell.hpp"

#include <fcntl.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cinttypes>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <thread>

#include "gateway.hpp"
#include "meter.hpp"
#include "nat.hpp"

namespace ww::path {
namespace {

constexpr long kPidfdSendSignal = 424,
               kPidfdOpen = 434;  // headers before Linux 5.3 lack their names
constexpr int kNotExecutable = 126, kNotFound = 127, kSignal = 128;  // exit codes, as a shell's
constexpr auto kPatience = std::chrono::milliseconds(300);           // between SIGHUP and SIGKILL
constexpr sim::Time kLongestDrain = 2 * sim::kSecond;
constexpr auto kLongestEnd = std::chrono::seconds(3);  // for processes that survive SIGKILL
constexpr auto kPollInterval = std::chrono::milliseconds(5);

void check(int result, const char* what) {
    if (result < 0) throw std::system_error(errno, std::generic_category(), what);
}

struct Pipe {
    Descriptor read, write;
};

Pipe make_pipe() {
    int ends[2];
    check(::pipe2(ends, O_CLOEXEC), "making a pipe");
    return {Descriptor(ends[0]), Descriptor(ends[1])};
}

// Returns the signals that the front waits for: those that it passes on, and the end of a child.
sigset_t signals() {
    sigset_t all;
    ::sigemptyset(&all);
    for (const int one : {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGCHLD})
        ::sigaddset(&all, one);
    return all;
}

// Sends a signal to every other process in a namespace; returns how many there were.
int signal_all_in(const std::string& net, int number) {
    int count = 0;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator("/proc", error)) {
        const pid_t pid = std::atoi(entry.path().filename().c_str());
        if (pid <= 0 || pid == ::getpid()) continue;
        // The descriptor still names this process if another one gets its PID.
        const Descriptor process(static_cast<int>(::syscall(kPidfdOpen, pid, 0)));
        if (!process) continue;
        const auto its = std::filesystem::read_symlink(entry.path() / "ns/net", error);
        if (error || its != net) continue;
        if (::syscall(kPidfdSendSignal, process.get(), number, nullptr, 0) == 0) count++;
    }
    return count;
}

// Starts the command inside and returns its PID. Sets `problem` to errno if it can't be started, else to 0.
pid_t start(char** command, int net, const sigset_t& mask, int& problem) {
    Pipe said = make_pipe();
    const pid_t front = ::getpid();
    const pid_t pid = ::fork();
    check(pid, "starting a process");
    if (pid == 0) {
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (::getppid() != front) ::_exit(kSignal);  // the front ended before prctl took effect
        if (::setns(net, CLONE_NEWNET) == 0) {
            ::sigprocmask(SIG_SETMASK, &mask, nullptr);
            ::execvp(command[0], command);
        }
        (void)!::write(said.write.get(), &errno, sizeof errno);
        ::_exit(kSignal);
    }
    said.write = Descriptor();
    problem = 0;
    while (::read(said.read.get(), &problem, sizeof problem) < 0 && errno == EINTR) continue;
    return pid;
}

// Counts the connections of this namespace whose peer does not know yet that they have ended.
int unfinished_connections() {
    constexpr unsigned kFinWait1 = 4, kLastAck = 9,
                       kClosing = 11;  // as in include/net/tcp_states.h
    int count = 0;
    for (const char* name : {"tcp", "tcp6"}) {
        std::ifstream table(std::string("/proc/thread-self/net/") + name);
        std::string line;
        std::getline(table, line);  // the columns' names
        while (std::getline(table, line)) {
            unsigned state = 0;
            if (std::sscanf(line.c_str(), "%*s %*s %*s %x", &state) != 1) continue;
            count += state == kFinWait1 || state == kLastAck || state == kClosing;
        }
    }
    return count;
}

// Carries the packets in transit, so that the peers learn that the command's connections have ended.
void drain_connections(Model& model, const Gateway& gateway, const Clock& clock) {
    const sim::Time until = clock.now() + kLongestDrain;
    const auto goes_on = [&](sim::Time now) {
        return now < until && (model.next() != sim::kNever || unfinished_connections() > 0);
    };
    if (goes_on(clock.now()))
        run_loop(model, gateway.hosts, clock, -1, {kLongestDrain / 400, goes_on});
}

// Runs the path: the loop, until the front has ended or has closed its end of `lifeline`.
[[noreturn]] void carry(Pipe& lifeline, const Gateway& gateway, Model& model, const sigset_t& mask,
                        bool has_meter) {
    lifeline.write = Descriptor();
    ::setsid();
    ::sigprocmask(SIG_SETMASK, &mask, nullptr);
    std::signal(SIGPIPE, SIG_IGN);
    const Descriptor nothing(::open("/dev/null", O_RDWR | O_CLOEXEC));
    for (const int stream : {STDIN_FILENO, STDOUT_FILENO}) ::dup2(nothing.get(), stream);
    // Stays in the inner namespace: an enclosing shell ends the processes in its own, and so leaves this one time.
    const int inside = gateway.hosts.front().net();
    enter(inside);

    const Clock clock;
    Meter meter(model, STDERR_FILENO);
    Tick tick;
    if (has_meter) tick = {Meter::kEvery, [&](sim::Time now) { return meter.tick(now), true; }};
    const LoopReport report = run_loop(model, gateway.hosts, clock, lifeline.read.get(), tick);
    const sim::Time end = clock.now();
    end_all_in(inside);
    if (char word; ::read(lifeline.read.get(), &word, 1) == 1)
        drain_connections(model, gateway, clock);
    std::uint64_t missed = report.refused;
    for (const Host& host : gateway.hosts) missed += host.overruns();
    if (missed > 0)
        std::fprintf(stderr,
                     "westwood: this machine was too slow: %" PRIu64
                     " packets never reached the path\n",
                     missed);
    if (has_meter) meter.sum_up(end, report.lateness);
    if (!report.error.empty()) std::fprintf(stderr, "westwood: %s\n", report.error.c_str());
    ::_exit(report.error.empty() ? 0 : 1);
}

// How the command ended (waitpid(2)), and whether the path ended before it.
struct Ended {
    int status = 0;
    bool path_ended_first = false;
};

// Waits for the command, and passes on the signals that the front receives.
Ended wait_for(pid_t command, pid_t path, const sigset_t& waited_for) {
    Ended ended;
    for (;;) {
        siginfo_t info;
        const int number = ::sigwaitinfo(&waited_for, &info);
        // The terminal signals the command as well; a hangup may be for this process only.
        if (number > 0 && number != SIGCHLD && (info.si_code != SI_KERNEL || number == SIGHUP))
            ::kill(command, number);
        int status;
        for (pid_t pid; (pid = ::waitpid(-1, &status, WNOHANG)) > 0;) {
            if (pid == command) {
                ended.status = status;
                return ended;
            }
            if (pid == path) {
                ended.path_ended_first = true;
                ::kill(command, SIGKILL);
            }
        }
    }
}

// Ends this process as the command ended, so that its parent sees no difference.
int end_as(int status) {
    if (WIFEXITED(status)) return WEXITSTATUS(status);
    const int number = WTERMSIG(status);
    const rlimit no_core{};
    ::setrlimit(RLIMIT_CORE, &no_core);
    std::signal(number, SIG_DFL);
    sigset_t one;
    ::sigemptyset(&one);
    ::sigaddset(&one, number);
    ::kill(::getpid(), number);
    ::sigprocmask(SIG_UNBLOCK, &one, nullptr);
    return kSignal + number;
}

void report_connectivity(const Gateway& gateway, const Nat& nat) {
    if (gateway.is_nested) return;  // the outermost shell has reported it
    std::ifstream servers("/etc/resolv.conf");
    if (!nat.owner)
        std::fprintf(stderr, "westwood: only this machine is within reach: %s\n",
                     nat.lacking.c_str());
    else if (const std::string server = loopback_nameserver(servers); !server.empty())
        std::fprintf(stderr,
                     "westwood: no name resolution inside: /etc/resolv.conf has %s, this machine's "
                     "loopback, which is out of reach there\n",
                     server.c_str());
}

}  // namespace

void end_all_in(int net) {
    std::error_code error;
    const std::string name =
        std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(net), error).string();
    if (error) return;
    const auto start = std::chrono::steady_clock::now();
    const auto passed = [&] { return std::chrono::steady_clock::now() - start; };
    int left = signal_all_in(name, SIGHUP);
    if (left > 0) signal_all_in(name, SIGCONT);
    for (; left > 0 && passed() < kLongestEnd; left = signal_all_in(name, 0)) {
        if (passed() > kPatience) signal_all_in(name, SIGKILL);
        std::this_thread::sleep_for(kPollInterval);
    }
}

int run_shell(const Plan& plan, char** command, bool has_meter) {
    const sigset_t waited_for = signals();
    sigset_t mask;
    ::sigprocmask(SIG_BLOCK, &waited_for, &mask);
    std::signal(SIGCHLD, SIG_DFL);  // if it were ignored, waitpid would fail
    const sim::Topology topology(plan.network);
    if (!topology.error().empty()) throw PlanError(topology.error());
    Model model(plan.network, topology, plan.seed, Packets::of_others);
    const Gateway gateway = make_gateway(plan);
    const Nat nat = gateway.is_nested ? Nat{} : make_nat(gateway);
    report_connectivity(gateway, nat);
    ::setenv("WESTWOOD_GATEWAY", dotted(gateway.block.outside()).c_str(), !gateway.is_nested);

    Pipe lifeline = make_pipe();
    const pid_t path = ::fork();
    check(path, "starting a process");
    if (path == 0) carry(lifeline, gateway, model, mask, has_meter);
    const int inside = gateway.hosts.front().net();
    int problem = 0;
    const pid_t child = start(command, inside, mask, problem);
    const Ended ended = wait_for(child, path, waited_for);
    if (ended.path_ended_first) {
        end_all_in(inside);
        std::fprintf(stderr, "westwood: the path ended, and %s with it\n", command[0]);
        return 1;
    }
    (void)!::write(lifeline.write.get(), "e", 1);  // a regular end: drain first
    lifeline.write = Descriptor();
    ::waitpid(path, nullptr, 0);
    if (problem != 0) {
        std::fprintf(stderr, "westwood: %s: %s\n", command[0],
                     problem == ENOENT ? "command not found" : std::strerror(problem));
        return problem == ENOENT ? kNotFound : kNotExecutable;
    }
    return end_as(ended.status);
}

}  // namespace ww::path
