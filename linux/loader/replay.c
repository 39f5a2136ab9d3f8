/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Repeats the calls of a recording (core/calls.h) in a BPF program (linux/bpf/replay.bpf.c). The lines come on standard
 * input; the windows after each go to standard output. Nothing is registered.
 */
#include "../bpf/replay.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ww_kernel.h"

static int make_calls(int program, struct ww_replayed *with) {
    char line[1024];
    while (fgets(line, sizeof line, stdin) != NULL && strcmp(line, "end\n") != 0) {
        LIBBPF_OPTS(bpf_test_run_opts, options);
        with->call = ww_read_call(line);
        const int error = bpf_prog_test_run_opts(program, &options);
        if (error != 0) return fail(-error, "the kernel does not run the program");
        printf("%" PRIu32 " %" PRIu32 " %" PRIu64 "\n", with->window.cwnd, with->window.ssthresh,
               with->window.pacing);
    }
    return DONE;
}

int replay_calls(struct bpf_object *object) {
    const struct bpf_program *program = bpf_object__find_program_by_name(object, "replay");
    const struct bpf_map *map = bpf_object__find_map_by_name(object, "replayed");
    if (program == NULL || map == NULL) return fail(0, "the object has no program that replays");
    const size_t size = (size_t)sysconf(_SC_PAGESIZE);
    struct ww_replayed *with =
        mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, bpf_map__fd(map), 0);
    if (with == MAP_FAILED) return fail(errno, "the calls can't be passed to the kernel");
    const int result = make_calls(bpf_program__fd(program), with);
    munmap(with, size);
    return result;
}
