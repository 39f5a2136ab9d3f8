/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Makes the calls of a recording (core/calls.h) that come on standard input, up to a line `end`, and prints the windows
 * after each: `westwood control replay`. The control is control.c beside this file, whose parameters are the arguments,
 * or the protocol WW_PROTOCOL of the catalogue, if that is defined.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef WW_PROTOCOL
#include "control.c"
#endif
#undef WW_CONTROL
#include "calls.h"

#ifdef WW_PROTOCOL
static struct ww_config ww_replay_config(void) { return ww_configure(WW_PROTOCOL); }
#else
static union {
    struct ww_own_ops own;
    struct ww_control_ops ops;
} ww_replay_table;

static struct ww_config ww_replay_config(void) {
    ww_replay_table.own = ww_own_control;
    struct ww_config config = ww_configure((enum ww_protocol)ww_replay_table.ops.like);
    config.algorithm = WW_ALG_LOADED;
    config.control = &ww_replay_table.ops;
    return config;
}
#endif

int main(int count, char **words) {
    struct ww_config config = ww_replay_config();
    config.batched_acks = true;
    for (int i = 1; i < count && i <= WW_PARAMETERS_MAX; i++)
        config.own[i - 1] = (uint32_t)strtoul(words[i], NULL, 10);
    struct ww_state state;
    struct ww_window window = {0, 0, 0};
    char line[1024];
    while (fgets(line, sizeof line, stdin) != NULL && strcmp(line, "end\n") != 0) {
        const struct ww_call call = ww_read_call(line);
        ww_make_call(&config, &state, &window, &call);
        printf("%u %u %llu\n", window.cwnd, window.ssthresh, (unsigned long long)window.pacing);
    }
    return 0;
}
