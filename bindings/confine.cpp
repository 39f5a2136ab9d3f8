// SPDX-License-Identifier: BSD-3-Clause
//
// Takes from a process what a control does not need: files, sockets, other processes, and most of the kernel. What is
// not listed here is refused (seccomp(2)).
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <system_error>

#include "control.hpp"

namespace ww::bindings {
namespace {

#if defined(__x86_64__)
constexpr std::uint32_t kMachine = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr std::uint32_t kMachine = AUDIT_ARCH_AARCH64;
#elif defined(__riscv) && __riscv_xlen == 64
constexpr std::uint32_t kMachine = AUDIT_ARCH_RISCV64;
#else
constexpr std::uint32_t kMachine = 0;
#endif

// Memory, threads, signals to itself, clocks, and what is open already.
constexpr std::uint32_t kAlways[] = {
    SYS_brk,
    SYS_mmap,
    SYS_munmap,
    SYS_mprotect,
    SYS_mremap,
    SYS_madvise,
    SYS_futex,
    SYS_set_robust_list,
    SYS_rseq,
    SYS_sched_yield,
    SYS_gettid,
    SYS_getpid,
    SYS_rt_sigaction,
    SYS_rt_sigreturn,
    SYS_rt_sigprocmask,
    SYS_sigaltstack,
    SYS_clock_gettime,
    SYS_clock_nanosleep,
    SYS_nanosleep,
    SYS_gettimeofday,
    SYS_read,
    SYS_write,
    SYS_close,
    SYS_exit,
    SYS_exit_group,
    SYS_sched_getaffinity,
    SYS_getrandom,
};

// What starting a program needs, and the sanitizers in it. They read files, as openat is checked below.
constexpr std::uint32_t kOfPrograms[] = {
    SYS_execve,          SYS_execveat, SYS_pread64,     SYS_lseek,      SYS_fstat,
    SYS_newfstatat,      SYS_statx,    SYS_faccessat,   SYS_readlinkat, SYS_getcwd,
    SYS_uname,           SYS_sysinfo,  SYS_getrlimit,   SYS_prlimit64,  SYS_getuid,
    SYS_geteuid,         SYS_getgid,   SYS_getegid,     SYS_getppid,    SYS_personality,
    SYS_set_tid_address, SYS_writev,   SYS_close_range, SYS_fadvise64,  SYS_setitimer,
#if defined(__x86_64__)
    SYS_arch_prctl,      SYS_access,   SYS_readlink,    SYS_stat,
#endif
};

constexpr std::uint32_t kWriting = O_ACCMODE | O_CREAT | O_TRUNC;

class Filter {
  public:
    Filter() {
        load(offsetof(seccomp_data, arch));
        unless_equal(kMachine, 1);
        end(SECCOMP_RET_KILL_PROCESS);
        load(offsetof(seccomp_data, nr));
    }

    void allow(std::uint32_t call) {
        if_equal(call, 1);
        end(SECCOMP_RET_ALLOW);
    }

    void refuse(std::uint32_t call, int error) {
        if_equal(call, 1);
        end(SECCOMP_RET_ERRNO | static_cast<std::uint32_t>(error));
    }

    // Allows the call if the low half of an argument, masked, is this value.
    void allow_if(std::uint32_t call, int argument, std::uint32_t mask, std::uint32_t value) {
        if_equal(call, 6);
        load(static_cast<std::uint32_t>(offsetof(seccomp_data, args)) +
             static_cast<std::uint32_t>(argument) * 8);  // little endian
        add(BPF_ALU | BPF_AND | BPF_K, mask);
        unless_equal(value, 1);
        end(SECCOMP_RET_ERRNO | EPERM);
        end(SECCOMP_RET_ALLOW);
        load(offsetof(seccomp_data, nr));
    }

    void install() {
        end(SECCOMP_RET_ERRNO | EPERM);
        const sock_fprog program = {static_cast<unsigned short>(code_.size()), code_.data()};
        if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
            prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
            throw std::system_error(errno, std::generic_category());
    }

  private:
    void add(int code, std::uint32_t value, std::uint8_t then = 0, std::uint8_t otherwise = 0) {
        code_.push_back({static_cast<std::uint16_t>(code), then, otherwise, value});
    }
    void load(std::uint32_t offset) { add(BPF_LD | BPF_W | BPF_ABS, offset); }
    void end(std::uint32_t answer) { add(BPF_RET | BPF_K, answer); }
    // Skips so many instructions unless, or if, what was loaded is this value.
    void if_equal(std::uint32_t value, std::uint8_t skipped) {
        add(BPF_JMP | BPF_JEQ | BPF_K, value, 0, skipped);
    }
    void unless_equal(std::uint32_t value, std::uint8_t skipped) {
        add(BPF_JMP | BPF_JEQ | BPF_K, value, skipped, 0);
    }

    std::vector<sock_filter> code_;
};

void confine(bool starts_program) {
    if (kMachine == 0) throw std::system_error(ENOSYS, std::generic_category());
    Filter filter;
    for (const std::uint32_t call : kAlways) filter.allow(call);
    filter.allow_if(SYS_clone, 0, CLONE_THREAD, CLONE_THREAD);
    filter.allow_if(SYS_tgkill, 0, ~0u, static_cast<std::uint32_t>(getpid()));
    filter.refuse(SYS_clone3, ENOSYS);  // its flags are in memory; the C library then calls clone
    for (const std::uint32_t call : kOfPrograms)
        if (starts_program) filter.allow(call);
    if (starts_program) {
        filter.allow_if(SYS_openat, 2, kWriting, O_RDONLY);
#if defined(__x86_64__)
        filter.allow_if(SYS_open, 1, kWriting, O_RDONLY);
#endif
        filter.allow_if(SYS_ioctl, 1, ~0u, TCGETS);
    }
    filter.install();
}

}  // namespace

void bind_confine(nb::module_& m) {
    m.def(
        "confine",
        [](bool starts_program) {
            try {
                confine(starts_program);
            } catch (const std::system_error& error) {
                errno = error.code().value();
                PyErr_SetFromErrno(PyExc_OSError);
                throw nb::python_error();
            }
        },
        "starts_program"_a = false,
        "Takes from this process, for good, what a control does not need: files, sockets and "
        "other processes. One that `starts_program` may still read files and execute. Raises "
        "OSError if this kernel has no seccomp.");
}

}  // namespace ww::bindings
