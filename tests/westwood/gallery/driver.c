/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls a control of the gallery as the lines of its input say, and prints the windows and what it shows:
 *
 *   own INDEX VALUE                             a parameter, before the first call
 *   begin CWND SSTHRESH                         a connection begins
 *   ack NOW_US RTT_US ACKED FLIGHT MARKED       an ACK for new data, which limits the sender
 *   loss|mark|rto NOW_US                        with cwnd segments in flight
 *
 * CONTROL is the file of the control.
 */
#include <stdio.h>
#include <string.h>

#include CONTROL

static void refuse(const struct ww_control_ops *ops, const char *call,
                   const struct ww_window *window) {
    (void)ops, (void)window;
    printf("refused %s\n", call);
}

static struct ww_sample ack_of(uint64_t now_us, const uint64_t *more) {
    struct ww_sample ack = {0};
    ack.now_us = now_us;
    ack.mss = 1000;
    ack.rtt_us = ack.srtt_us = ack.rate_rtt_us = (uint32_t)more[0];
    ack.acked_segments = ack.newly_delivered = (uint32_t)more[1];
    ack.in_flight = ack.pipe = (uint32_t)more[2];
    ack.newly_marked = (uint32_t)more[3];
    ack.phase = WW_OPEN;
    ack.is_cwnd_limited = true;
    return ack;
}

static void call(const struct ww_config *config, struct ww_loaded_state *state,
                 struct ww_window *window, const char *word, const uint64_t *numbers) {
    const uint64_t now_us = numbers[0];
    const uint32_t flight = window->cwnd, mss = 1000;
    if (!strcmp(word, "ack")) {
        const struct ww_sample ack = ack_of(now_us, numbers + 1);
        ww_loaded_on_ack(config, state, window, &ack);
    } else if (!strcmp(word, "loss")) {
        ww_loaded_on_loss(config, state, window, now_us, flight, mss);
    } else if (!strcmp(word, "mark")) {
        ww_loaded_on_mark(config, state, window, now_us, flight, mss);
    } else if (!strcmp(word, "rto")) {
        ww_loaded_on_rto(config, state, window, now_us, flight, mss, false);
    }
    uint64_t seen[WW_QUANTITIES_MAX + 1] = {0};
    if (config->control->observe) config->control->observe(config, state, now_us, seen);
    printf("%u %u %llu", window->cwnd, window->ssthresh, (unsigned long long)window->pacing);
    for (uint32_t i = 0; i < config->control->quantity_count; i++)
        printf(" %llu", (unsigned long long)seen[i]);
    printf("\n");
}

int main(void) {
    union {
        struct ww_own_ops own;
        struct ww_control_ops ops;
    } table = {.own = ww_own_control};
    table.ops.refuse = refuse;
    struct ww_config config = ww_configure((enum ww_protocol)table.ops.like);
    config.algorithm = WW_ALG_LOADED;
    config.control = &table.ops;
    for (uint32_t i = 0; i < table.ops.parameter_count; i++)
        config.own[i] = table.ops.parameters[i].fallback;
    struct ww_loaded_state state;
    struct ww_window window = {10, WW_SSTHRESH_INFINITE, 0};
    ww_loaded_init(&config, &state);
    char line[256], word[16];
    while (fgets(line, sizeof line, stdin)) {
        unsigned long long read[5] = {0, 0, 0, 0, 0};
        uint64_t numbers[5];
        sscanf(line, "%15s %llu %llu %llu %llu %llu", word, &read[0], &read[1], &read[2], &read[3],
               &read[4]);
        for (int i = 0; i < 5; i++) numbers[i] = read[i];
        if (!strcmp(word, "own")) {
            config.own[numbers[0] % WW_PARAMETERS_MAX] = (uint32_t)numbers[1];
        } else if (!strcmp(word, "begin")) {
            ww_loaded_init(&config, &state);
            window.cwnd = (uint32_t)numbers[0];
            window.ssthresh = (uint32_t)numbers[1];
        } else {
            call(&config, &state, &window, word, numbers);
        }
    }
    return 0;
}
