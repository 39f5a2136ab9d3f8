/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Connections of QUIC stacks in simulated time, each with both of its ends: quic/stacks/src/abi.rs. The client sends
 * data to the server. Times are in ns since the start of the run. A call that fails leaves an error, after which the
 * connection is only good for ww_quic_error and ww_quic_close.
 */
#ifndef WW_STACKS_H
#define WW_STACKS_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct ww_connection;

struct ww_options {
    const char *stack;       /* quinn, noq or a fork */
    const char *control;     /* a name of the stack's, or of the core's catalogue */
    bool own_control;        /* it is the stack's own */
    uint16_t datagram_bytes; /* the largest UDP payload */
    uint64_t receive_window; /* bytes */
    uint64_t seed, number;   /* of the run; of the connection in it */
};

struct ww_packet {
    uint32_t number;
    uint16_t bytes; /* UDP payload */
    bool ecn_capable;
};

enum ww_ecn { WW_NOT_CAPABLE, WW_CAPABLE, WW_MARKED };

struct ww_connection_state {
    uint64_t window, ssthresh;             /* bytes; UINT64_MAX: none */
    uint64_t srtt_ns;                      /* 0: no sample yet */
    uint64_t lost_packets, datagrams_sent; /* by the client */
    uint64_t sent;                         /* bytes of streams, each once */
    uint64_t delivered;                    /* bytes, in order, to the server's application */
    uint64_t acknowledged; /* bytes, up to the last stream that is wholly acknowledged */
    bool is_established;
};

/* Starts the random numbers of a run. */
void ww_quic_begin(uint64_t seed);
/* Returns a line for each fork of a stack in this build: its name, package, version and controls. */
const char *ww_quic_forks(void);

struct ww_connection *ww_quic_open(const struct ww_options *options);
void ww_quic_close(struct ww_connection *connection);
/* Returns why the last call failed; empty: none did. */
const char *ww_quic_error(const struct ww_connection *connection);
/* Returns when an end has something to do; INT64_MAX: never. */
int64_t ww_quic_next(struct ww_connection *connection, bool server);
void ww_quic_wake(struct ww_connection *connection, bool server, int64_t now_ns);
/* Takes a packet at an end; ecn: enum ww_ecn. */
void ww_quic_take(struct ww_connection *connection, bool server, int64_t now_ns, uint32_t number,
                  uint8_t ecn);
/* Forgets a packet that the network has dropped. */
void ww_quic_drop(struct ww_connection *connection, uint32_t number);
/* Returns whether an end sends a packet now. */
bool ww_quic_send(struct ww_connection *connection, bool server, int64_t now_ns,
                  struct ww_packet *packet);
/* Lets the client write up to `total` bytes since the start; `ends`: the last one ends a stream. */
void ww_quic_write(struct ww_connection *connection, uint64_t total, bool ends);
/* The client's application stops: if some of what it has written has not been sent, its stream ends here. */
void ww_quic_stop(struct ww_connection *connection);
/* Fills in the state; lost_packets only with counts, which takes longer. */
void ww_quic_state(struct ww_connection *connection, bool with_counts,
                   struct ww_connection_state *state);

#ifdef __cplusplus
}
#endif

#endif
