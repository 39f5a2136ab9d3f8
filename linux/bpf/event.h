/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Defines the control block and the events of a recording, which BPF programs and ww-kernel share. Both sides
 * are built together; a control block with another tag belongs to another version.
 */
#ifndef WW_EVENT_H
#define WW_EVENT_H

#include <linux/types.h>

#include "../../core/catalogue.h"

/*
 * Our controls are the rows of the catalogue marked WW_OURS, numbered in its order. WW_CONTROLS lists them;
 * its user first defines WW_CONTROL(name in the kernel, protocol, algorithm, recovery).
 */
#define WW_CONTROLS WW_PROTOCOLS(WW_CONTROL_ROW)
#define WW_CONTROL_ROW(ID, name, ALGORITHM, RECOVERY, settings, label, look, ns3, kernel, source) \
    WW_CONTROL_IF(kernel, WW_PROTOCOL_##ID, ALGORITHM, RECOVERY)
#define WW_CONTROL_IF(...) WW_CONTROL_WHERE(__VA_ARGS__)
#define WW_CONTROL_WHERE(where, ...) WW_CONTROL_##where(__VA_ARGS__)
#define WW_CONTROL_HERE(...) WW_CONTROL(__VA_ARGS__)
#define WW_CONTROL_ELSEWHERE(...)
#define WW_OURS(name) HERE, name
#define WW_UPSTREAM(name) ELSEWHERE, name
#define WW_NOWHERE ELSEWHERE, none

#define WW_CONTROL(name, ...) WW_NUMBER_##name,
enum ww_control {
    WW_CONTROLS WW_CONTROL_COUNT, /* in an event: another control, which `name` names */
    WW_CONTROL_OWN                /* the first of WW_OWN_MAX numbers of users' controls */
};
#undef WW_CONTROL
#define WW_OWN_MAX 8
#define WW_OWN_PARAMETERS_MAX 16 /* WW_PARAMETERS_MAX of settings.h */
#define WW_NUMBERS (WW_CONTROL_OWN + WW_OWN_MAX)

enum ww_event_kind {
    WW_EVENT_START,
    WW_EVENT_WINDOW, /* a bandwidth sample: every 65 ms from controls with one per ACK, every 50 from others */
    WW_EVENT_LOSS,    /* fast recovery begins: ssthresh is set, cwnd has not changed yet */
    WW_EVENT_TIMEOUT, /* a timeout: ssthresh and cwnd are set */
    WW_EVENT_EXIT,    /* fast recovery has ended, both windows are set */
    WW_EVENT_UNDO,    /* the last loss was spurious, the windows are restored */
    WW_EVENT_END,
    WW_EVENT_RETRANSMIT, /* segments were retransmitted; only for other controls */
};

struct ww_event {
    __u64 time_us;     /* CLOCK_MONOTONIC */
    __u64 estimate;    /* filtered, bytes/s << 8 */
    __u64 sample;      /* raw, bytes/s << 8 */
    __u64 acked_bytes; /* since the connection began, as are the four counters below */
    __u32 sent;        /* segments with data */
    __u32 retransmitted;
    __u32 lost;
    __u32 samples;    /* bandwidth samples; 0: estimate and sample have no value yet */
    __u32 cwnd;       /* segments, as are the two below */
    __u32 ssthresh;   /* 0x7fffffff: no limit yet */
    __u32 in_flight;  /* sent and not cumulatively acknowledged */
    __u32 mss;        /* bytes */
    __u32 rtt_us;     /* last sample; 0: none yet */
    __u32 rtt_min_us; /* UINT32_MAX: none yet */
    __u32 srtt_us;
    __u32 rttvar_us; /* as the kernel has it: RTO = srtt + this, before back-off */
    __u32 netns;     /* inode number of the network namespace */
    __u8 local[16];  /* an address in network order; IPv4 uses the first four bytes */
    __u8 remote[16];
    __u16 local_port; /* in host order */
    __u16 remote_port;
    __u8 kind;   /* enum ww_event_kind */
    __u8 cc;     /* enum ww_control; from WW_CONTROL_COUNT on `name` has the control's name */
    __u8 state;  /* enum ww_phase */
    __u8 family; /* AF_INET, AF_INET6 */
    char name[16];
};

/*
 * The control block lies in the object's .bss, which both sides map. ww-kernel writes version, tag, port and
 * the recorder; the BPF programs write the counters.
 */
/* A user's control: own.bpf.c. */
struct ww_own {
    char name[16]; /* in the kernel; empty: this slot is free */
    __u64 source;  /* identifies the file's contents: westwood/control/loading.py */
    __u32 parameters[WW_OWN_PARAMETERS_MAX];
};

struct ww_control_block {
    char version[32]; /* the package's version */
    __u64 tag;        /* a hash of the object's contents */
    __u16 port;       /* record only connections with this port at either end; 0: all */
    __u16
        traces_ours; /* the tracing programs also record ww_*, whose own programs are not loaded */
    __u32 recorder;  /* PID of the recording process; 0: none */
    /* When that process started, in ticks since boot, to recognise a reused PID. */
    __u64 recorder_start;
    __u64 dropped;            /* events lost because the ring buffer was full */
    __u64 missed;             /* operations that the kernel skipped, detected later */
    __u64 opened[WW_NUMBERS]; /* connections since the object was loaded, by enum ww_control */
    __u64 closed[WW_NUMBERS];
    struct ww_own own[WW_OWN_MAX]; /* users' controls; each shares this block with the object */
};

#endif
