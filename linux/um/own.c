// SPDX-License-Identifier: GPL-2.0-only
/*
 * The control of a user's file in the machine's kernel, as ww_own. Its functions are called through the table of its
 * shared object, which object.cpp has loaded. ww_machine_call() makes the calls of a recording in any control.
 */
#include "hosts.h"
#include "machine.h"
/* The core comes after the kernel's headers. */
#include "../../core/calls.h"

static struct ww_config own_config;
#define ww_own_config() own_config
/* controls.c has the hosts as well: what they define for all files has other names here. */
#define hosts own_hosts
#define large_hosts own_large_hosts
#define flights own_flights
#include "../bpf/programs.h"

WW_OPERATIONS(ww_own, WW_CONTROL_OWN, WW_PROTOCOL_COUNT, true)

int ww_machine_add_control(const void* config) {
    own_config = *(const struct ww_config*)config;
    if (!ww_owns_recovery(&own_config)) {
        ww_own.cong_control = NULL;
        ww_own.cong_avoid = avoid_ww_own;
    }
    return tcp_register_congestion_control(&ww_own);
}

void ww_machine_call(const void* config, const char* line, void* window) {
    static struct ww_state state;
    const struct ww_call call = ww_read_call(line);

    ww_make_call(config, &state, window, &call);
}
