/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Maps the kernel's congestion state to the core's phase; the only such table in C. The BPF programs read the
 * state from the socket, the observer of the emulated path reads it from TCP_INFO.
 */
#ifndef WW_CA_STATE_H
#define WW_CA_STATE_H

#include <linux/tcp.h> /* enum tcp_ca_state */

#include "../../core/contract.h"

/* The kernel enters CWR after an ECN echo or when a local queue is full: a recovery without a loss. */
static inline enum ww_phase phase_of(__u8 state) {
    switch (state) {
    case TCP_CA_Disorder:
        return WW_DISORDER;
    case TCP_CA_CWR:
    case TCP_CA_Recovery:
        return WW_RECOVERY;
    case TCP_CA_Loss:
        return WW_LOSS;
    default: /* TCP_CA_Open, or a state added by a later kernel */
        return WW_OPEN;
    }
}

#endif
