// SPDX-License-Identifier: GPL-2.0-only
/*
 * Starts the machine: `linux SEED PARENT < PLAN > REPORT`, with the kernel's messages on standard error. It ends with
 * the process PARENT, which started it. `linux SEED PARENT PROGRAM > OUTPUT` runs a program of this machine as the first
 * process of the kernel, in place of a plan: its root is that of this machine, read-only.
 *
 * Everything outside that a kernel could see is the same in every run: its command line, environment, addresses and
 * randomness. So the program executes itself once more, with constant ones, before the kernel's main.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "machine.h"

#define NAME "westwood-linux"

unsigned long ww_machine_turns;

enum { IDLE_CPU_S = 10, MOST_CPU_S = 3600 };

static void limit_cpu(rlim_t seconds) {
    struct rlimit cpu;

    getrlimit(RLIMIT_CPU, &cpu);
    if (cpu.rlim_max < seconds) seconds = cpu.rlim_max;
    cpu.rlim_cur = seconds;
    setrlimit(RLIMIT_CPU, &cpu);
}

/* The CPU time of the limit is over: has anything happened in virtual time since the last one? */
static void limit_reached(int number) {
    static unsigned long last = -1;
    static const char loops[] = "\nthe kernel works without end: virtual time stands still\n";
    static const char slow[] = "\nthe run takes more than an hour of CPU time\n";
    const rlim_t used_s =
        clock() / CLOCKS_PER_SEC; /* the kernel has a function getrusage of its own */

    if (ww_machine_turns == last || used_s >= MOST_CPU_S) {
        const ssize_t written = ww_machine_turns == last
                                    ? write(STDERR_FILENO, loops, sizeof loops - 1)
                                    : write(STDERR_FILENO, slow, sizeof slow - 1);

        (void)written;
        _exit(1);
    }
    last = ww_machine_turns;
    limit_cpu(used_s + IDLE_CPU_S);
}

static void refuse(const char* what) {
    fprintf(stderr, "%s: %s\n", what, strerror(errno));
    _exit(1);
}

static void start_again(const char* seed, pid_t parent, const char* program) {
    static char* command[] = {NAME,
                              "mem=1G",
                              "con=null",
                              "con0=null,fd:1",
                              "quiet",
                              "time-travel=inf-cpu",
                              "time-travel-start=1700000000000000000",
                              NULL, /* for a program, the next ones too */
                              "root=/dev/root",
                              "rootfstype=hostfs",
                              "ro",
                              NULL};
    static char seeded[64], folder[4096], first[4096];
    /* rseq: the static C library's area of restartable sequences would be unmapped under the kernel's feet. */
    char* environment[] = {seeded, "GLIBC_TUNABLES=glibc.pthread.rseq=0", folder, NULL};
    const char* temporary = getenv("TMPDIR");
    char** word;

    snprintf(seeded, sizeof seeded, "UML_SEED=%s", seed);
    snprintf(folder, sizeof folder, "TMPDIR=%s", temporary ? temporary : "/dev/shm");
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);
    if (program) {
        snprintf(first, sizeof first, "init=%s", program);
        for (word = command; *word; word++) continue;
        *word = first;
    } else if (dup2(STDOUT_FILENO, WW_REPORT_FD) < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0) {
        refuse("descriptors");
    }
    if (personality(ADDR_NO_RANDOMIZE) < 0) refuse("personality");
    execve("/proc/self/exe", command, environment);
    refuse("/proc/self/exe");
}

__attribute__((constructor)) static void start(int count, char** words) {
    const struct sigaction action = {.sa_handler = limit_reached,
                                     .sa_flags = SA_ONSTACK | SA_RESTART};

    if (count == 0 || strcmp(words[0], NAME) != 0) {
        if (count < 3 || count > 4 || words[1][strspn(words[1], "0123456789")] != 0) {
            fprintf(stderr, "usage: linux SEED PARENT [PROGRAM] < PLAN > REPORT\n");
            _exit(2);
        }
        start_again(words[1], atoi(words[2]), words[3]); /* the last word is NULL */
    }
    sigaction(SIGXCPU, &action, NULL);
    limit_cpu(IDLE_CPU_S);
}
