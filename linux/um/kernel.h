/* SPDX-License-Identifier: GPL-2.0-only */
/* What the files of the kernel's half of the machine know of each other. */
#pragma once

#include <linux/types.h>

struct net;

/* Returns the current namespace. */
struct net* ww_current_net(void);

/* Ends a wait for time: a packet was sent, or a socket has changed. */
void ww_wake(void);
extern bool ww_has_work;

/* Hands the packets that the devices have sent to the engine's channels. */
void ww_take_sent(void);
bool ww_has_sent(void);
