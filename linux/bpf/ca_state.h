/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kernel's congestion state of a connection, as the core's phase: the only such table in C. The BPF
 * programs read the state in the socket, the emulated path's observer reads it in TCP_INFO.
 */
#ifndef WW_CA_STATE_H
#define WW_CA_STATE_H

#include <linux/tcp.h> /* enum tcp_ca_state */

#include "../../core/contract.h"

/* The kernel is in CWR after an ECN echo or when a local queue is full: a recovery without a loss. */
static inline enum ww_phase phase_of(__u8 state) {
    switch (state) {
    case TCP_CA_Disorder:
        return WW_DISORDER;
    case TCP_CA_CWR:
    case TCP_CA_Recovery:
        return WW_RECOVERY;
    case TCP_CA_Loss:
        return WW_LOSS;
    default: /* TCP_CA_Open, or a state that a later kernel adds */
        return WW_OPEN;
    }
}

#endif
