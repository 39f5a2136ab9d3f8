/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls a control in any order, with any values that core/contract.h allows, as `westwood evaluate --suite check` does. The
 * file of the control stands beside this one as control.c. Arguments: the seed and the number of calls.
 * It ends with 3 if a window is out of range, with 4 if a call takes too many steps or does not end.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <unistd.h>

#include "control.c"

/* Basic blocks that a call may run through. Linux gives up on a program after a million instructions, on all paths. */
#define MOST_STEPS 20000
#define TICK_S 2 /* longer than a call takes */

#ifdef __clang__
#define UNCOUNTED __attribute__((no_sanitize("coverage")))
#else
#define UNCOUNTED __attribute__((no_sanitize_coverage))
#endif

void __sanitizer_print_stack_trace(void);
void __sanitizer_cov_trace_pc(void);
void __asan_poison_memory_region(const volatile void *first, size_t bytes);
void __asan_unpoison_memory_region(const volatile void *first, size_t bytes);

static unsigned steps;

/* A state in the middle of memory that a control must not touch. */
static struct {
    char before[1 << 16];
    struct ww_loaded_state state;
    char after[1 << 16];
} room;

static struct ww_loaded_state *begin(const struct ww_config *config) {
    __asan_poison_memory_region(&room, sizeof room);
    __asan_unpoison_memory_region(&room.state, sizeof room.state);
    ww_loaded_init(config, &room.state);
    return &room.state;
}

static volatile uint64_t done;

UNCOUNTED static void give_up(void) {
    __sanitizer_print_stack_trace();
    _exit(4);
}

/* The compiler puts a call of this into each basic block. */
UNCOUNTED void __sanitizer_cov_trace_pc(void) {
    if (++steps > MOST_STEPS) give_up();
}

/* Notices a loop without a basic block of its own, such as while (1) {}. */
UNCOUNTED static void on_tick(int signal) {
    static uint64_t before = UINT64_MAX;
    (void)signal;
    if (done == before) give_up();
    before = done;
}

/* Controls have no memory to lose, and looking for it takes rights. */
const char *__asan_default_options(void) { return "detect_leaks=0"; }

static uint64_t drawn;

/* splitmix64 */
static uint64_t any64(void) {
    uint64_t z = drawn += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* Returns an end of the range, or a number of any size within it. */
static uint64_t any(uint64_t least, uint64_t most) {
    const uint64_t shape = any64(), span = most - least;
    const uint64_t number = any64() >> (shape >> 58);
    if (shape % 8 == 0) return least;
    if (shape % 8 == 1) return most;
    return least + (span == UINT64_MAX ? number : number % (span + 1));
}

#include "drawn.h"

static void refuse(const struct ww_control_ops *ops, const char *call,
                   const struct ww_window *window) {
    (void)ops;
    printf("refused %s sets cwnd %u, ssthresh %u, pacing %llu\n", call, window->cwnd,
           window->ssthresh, (unsigned long long)window->pacing);
    exit(3);
}

static void call(const struct ww_config *config, struct ww_loaded_state *state,
                 struct ww_window *window) {
    const struct ww_sample ack = any_sample();
    const uint64_t now_us = ack.now_us;
    const uint32_t in_flight = ack.in_flight, mss = ack.mss;
    switch (any64() % 10) {
    case 0:
        ww_loaded_on_loss(config, state, window, now_us, in_flight, mss);
        break;
    case 1:
        ww_loaded_on_mark(config, state, window, now_us, in_flight, mss);
        break;
    case 2:
        ww_loaded_on_recovery_exit(config, state, window, now_us, mss);
        break;
    case 3:
        ww_loaded_on_rto(config, state, window, now_us, in_flight, mss, ack.is_dupack);
        break;
    case 4:
        ww_loaded_on_undo(config, state, window);
        break;
    case 5: {
        const struct ww_sent sent = any_sent();
        ww_loaded_on_packet_sent(config, state, window, &sent);
        ww_loaded_on_restart(config, state, now_us);
        break;
    }
    case 6: {
        const struct ww_lost lost = any_lost();
        uint64_t shown[WW_QUANTITIES_MAX + 1] = {0};
        ww_loaded_on_packet_lost(config, state, window, &lost);
        (void)ww_loaded_observe(config, state, now_us);
        (void)ww_loaded_quantum(config, window, mss);
        if (config->control->observe) config->control->observe(config, state, now_us, shown);
        break;
    }
    default:
        ww_loaded_on_ack(config, state, window, &ack);
    }
}

static struct ww_config any_config(const struct ww_control_ops *ops) {
    struct ww_config config = ww_configure((enum ww_protocol)ops->like);
    config.algorithm = WW_ALG_LOADED;
    config.control = ops;
    for (uint32_t i = 0; i < ops->parameter_count; i++) {
        const struct ww_parameter *one = &ops->parameters[i];
        config.own[i] = any64() % 2 ? one->fallback : (uint32_t)any(one->least, one->most);
    }
    return config;
}

int main(int count, char **words) {
    if (count != 3) return 2;
    drawn = strtoull(words[1], 0, 10);
    const uint64_t calls = strtoull(words[2], 0, 10);
    union {
        struct ww_own_ops own;
        struct ww_control_ops ops;
    } table = {.own = ww_own_control};
    table.ops.refuse = refuse;
    const struct itimerval ticks = {{TICK_S, 0}, {TICK_S, 0}}; /* of CPU time */
    signal(SIGVTALRM, on_tick);
    setitimer(ITIMER_VIRTUAL, &ticks, 0);
    while (done < calls) {
        const struct ww_config config = any_config(&table.ops);
        struct ww_loaded_state *const state = begin(&config);
        struct ww_window window = {10, WW_SSTHRESH_INFINITE, 0};
        for (uint64_t left = 1 + any64() % 1000; left > 0; left--, done = done + 1)
            steps = 0, call(&config, state, &window);
    }
    return 0;
}
