/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A control of the core that hears less than the simulator reports, as in a QUIC stack: bench/quic_reports.py. That
 * program defines LIKE, such as BBR3, and LIKE_STATE before this text. `without` chooses what is withheld.
 */
#define WW_STATE withheld
#define WW_PARAMETERS(X) X(without, 0, 0, 5, "What is withheld; 0: nothing")
#include "bbr3.h"
#include "control.h"
#include "cubic.h"

enum {
    NOTHING,
    PACING, /* its rate: the host sends 1.25 windows per round trip */
    LOST_PACKETS, /* each lost segment before the ACK: the next ACK tells how many, and when the last was sent */
    CWND_LIMITED, /* whether the window limited the sender */
    APP_LIMITED,  /* whether the application limited it */
    UNDO,         /* that a reduction was needless */
};

#define JOIN_(a, b, c) a##b##c
#define JOIN(a, b, c) JOIN_(a, b, c)
#define CALL(operation) JOIN(WW_, LIKE, operation)

struct withheld {
    union {
        struct ww_common common;
        LIKE_STATE like;
    };
};

/* Of the only connection; BBRv3's state leaves no room for it. */
static struct {
    struct ww_lost last;
    uint32_t unreported, counted; /* lost segments: since the last ACK, and those of the last ACK */
} lost_segments;

static bool is_without(const struct ww_config *config, uint32_t what) {
    return ww_parameters(config)->without == what;
}

static void init(const struct ww_config *config, struct withheld *state) {
    (void)config;
    CALL(_INIT)(&state->like);
    lost_segments.unreported = lost_segments.counted = 0;
}

static void on_packet_sent(const struct ww_config *config, struct withheld *state,
                           struct ww_window *window, const struct ww_sent *sent) {
    struct ww_sent heard = *sent;
    if (is_without(config, APP_LIMITED)) heard.is_app_limited = false;
    CALL(_ON_PACKET_SENT)(config, &state->like, window, &heard);
}

static void on_packet_lost(const struct ww_config *config, struct withheld *state,
                           struct ww_window *window, const struct ww_lost *lost) {
    struct ww_lost heard = *lost;
    if (is_without(config, APP_LIMITED)) heard.is_app_limited = false;
    lost_segments.last = heard;
    lost_segments.unreported++;
    if (!is_without(config, LOST_PACKETS))
        CALL(_ON_PACKET_LOST)(config, &state->like, window, &heard);
}

static void on_ack(const struct ww_config *config, struct withheld *state, struct ww_window *window,
                   const struct ww_sample *ack) {
    struct ww_sample heard = *ack;
    if (is_without(config, LOST_PACKETS)) heard.newly_lost = lost_segments.counted;
    if (is_without(config, CWND_LIMITED)) heard.is_cwnd_limited = !ack->is_app_limited;
    if (is_without(config, APP_LIMITED)) heard.is_app_limited = false;
    CALL(_ON_ACK)(config, &state->like, window, &heard);
    if (is_without(config, PACING) && ack->srtt_us > 0) {
        const uint64_t window_bytes = (uint64_t)window->cwnd * ack->mss;
        window->pacing =
            ww_min_u64(window_bytes * 1250000 / ack->srtt_us << WW_BW_FRACTION, WW_BW_MAX);
    }
    lost_segments.counted = lost_segments.unreported;
    for (; is_without(config, LOST_PACKETS) && lost_segments.unreported > 0;
         lost_segments.unreported--)
        CALL(_ON_PACKET_LOST)(config, &state->like, window, &lost_segments.last);
    lost_segments.unreported = 0;
}

static void on_loss(const struct ww_config *config, struct withheld *state,
                    struct ww_window *window, uint64_t now_us, uint32_t in_flight, uint32_t mss) {
    CALL(_ON_LOSS)(config, &state->like, window, now_us, in_flight, mss);
}

static void on_mark(const struct ww_config *config, struct withheld *state,
                    struct ww_window *window, uint64_t now_us, uint32_t in_flight, uint32_t mss) {
    CALL(_ON_MARK)(config, &state->like, window, now_us, in_flight, mss);
}

static void on_recovery_exit(const struct ww_config *config, struct withheld *state,
                             struct ww_window *window, uint64_t now_us, uint32_t mss) {
    CALL(_ON_RECOVERY_EXIT)(config, &state->like, window, now_us, mss);
}

static void on_rto(const struct ww_config *config, struct withheld *state, struct ww_window *window,
                   uint64_t now_us, uint32_t in_flight, uint32_t mss, bool repeated) {
    CALL(_ON_RTO)(config, &state->like, window, now_us, in_flight, mss, repeated);
}

static void on_undo(const struct ww_config *config, struct withheld *state,
                    struct ww_window *window) {
    if (!is_without(config, UNDO)) CALL(_ON_UNDO)(config, &state->like, window);
}

static void on_restart(const struct ww_config *config, struct withheld *state, uint64_t now_us) {
    CALL(_ON_RESTART)(config, &state->like, now_us);
}

WW_CONTROL("Withheld", CALL(_TRAITS) | WW_NEEDS_RATE | WW_FOLLOWS_PACKETS,
           .like = JOIN(WW_PROTOCOL_, LIKE, ), .init = init, .on_ack = on_ack,
           .on_packet_sent = on_packet_sent, .on_packet_lost = on_packet_lost, .on_loss = on_loss,
           .on_mark = on_mark, .on_recovery_exit = on_recovery_exit, .on_rto = on_rto,
           .on_undo = on_undo, .on_restart = on_restart)
