/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Writes events as CSV: the columns of the simulator's traces (docs/traces.md) and a few more. The recorder
 * ends on SIGINT or SIGTERM, or when its parent process ends, and reports how many events there were.
 */
#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "ww_kernel.h"

/* In the order of enum ww_event_kind and of enum ww_phase. */
static const char *const kinds[] = {"start", "window", "loss", "timeout",
                                    "exit",  "undo",   "end",  "retransmit"};
static const char *const states[] = {"open", "disorder", "recovery", "loss"};
static volatile sig_atomic_t stopped;

static void stop(int signal) {
    (void)signal;
    stopped = 1;
}

struct recording {
    __u64 start_us;
    __u64 events;
    char **controls; /* names of the controls to record; none: all */
};

/* Names the connection's control. A module or BPF program may choose any name, so it is made safe for a column. */
static void name_control(char *name, const struct ww_event *event) {
    const char *from = event->cc < WW_CONTROL_COUNT ? ww_control_names[event->cc] : event->name;
    size_t length = 0;
    for (; length < sizeof event->name - 1 && from[length] != '\0'; length++)
        name[length] = isalnum((unsigned char)from[length]) || strchr("_.-", from[length]) != NULL
                           ? from[length]
                           : '?';
    name[length] = '\0';
}

static bool is_wanted(const struct recording *recording, const char *name) {
    char **one = recording->controls;
    while (*one != NULL && strcmp(*one, name) != 0) one++;
    return *one != NULL || one == recording->controls;
}

static void print_end(const struct ww_event *event, const __u8 *address, __u16 port) {
    char text[INET6_ADDRSTRLEN] = "?";
    const bool mapped = event->family == AF_INET6 && IN6_IS_ADDR_V4MAPPED(address);
    const bool is_v6 = event->family == AF_INET6 && !mapped;
    inet_ntop(is_v6 ? AF_INET6 : AF_INET, mapped ? address + 12 : address, text, sizeof text);
    printf(is_v6 ? "[%s]:%u" : "%s:%u", text, port);
}

/* Prints seconds, or leaves the column empty if the time is unknown. */
static void print_span(bool known, __u32 us) {
    if (known)
        printf(",%u.%06u", us / 1000000, us % 1000000);
    else
        putchar(',');
}

/* Prints bit/s from bytes/s << 8, or leaves the column empty if the bandwidth is unknown. */
static void print_rate(bool known, __u64 bandwidth) {
    if (known)
        printf(",%.2f", (double)bandwidth / 32);
    else
        putchar(',');
}

static int print_event(void *context, void *data, size_t size) {
    struct recording *recording = context;
    const struct ww_event *event = data;
    char control[sizeof event->name];
    if (size < sizeof *event) return -EPROTO; /* from programs of another version */
    name_control(control, event);
    if (!is_wanted(recording, control)) return 0;
    const bool is_ours = event->cc != WW_CONTROL_COUNT; /* other controls have no estimate */
    const __u64 us =
        event->time_us > recording->start_us ? event->time_us - recording->start_us : 0;
    recording->events++;
    printf("%u,", event->netns);
    print_end(event, event->local, event->local_port);
    putchar('>');
    print_end(event, event->remote, event->remote_port);
    printf(",%" PRIu64 ".%06u,%u,", (uint64_t)(us / 1000000), (unsigned)(us % 1000000),
           event->cwnd);
    if (event->ssthresh != 0x7fffffff) printf("%u", event->ssthresh);
    print_rate(event->samples != 0 && is_ours, event->estimate);
    print_rate(event->samples != 0, event->sample);
    print_span(event->rtt_us != 0, event->rtt_us);
    print_span(event->srtt_us != 0, event->srtt_us);
    print_span(event->srtt_us != 0, event->srtt_us + event->rttvar_us);
    printf(",%u,%s,%s,%s", event->in_flight, states[event->state & 3],
           event->kind < sizeof kinds / sizeof *kinds ? kinds[event->kind] : "?", control);
    print_span(event->rtt_min_us != 0xffffffff, event->rtt_min_us);
    printf(",%u,%" PRIu64 ",%u,%u,%u\n", event->mss, (uint64_t)event->acked_bytes, event->sent,
           event->retransmitted, event->lost);
    return ferror(stdout) ? -(errno != 0 ? errno : EIO) : 0;
}

/*
 * Returns how far this process's clock is ahead of the kernel's, in us. The two differ in a time namespace
 * (time_namespaces(7)), and the programs use the kernel's.
 */
static __s64 offset_us(const char *clock) {
    char found[32];
    long long seconds, nanoseconds;
    __s64 offset = 0;
    FILE *file = fopen("/proc/self/timens_offsets", "r");
    if (file == NULL) return 0;
    while (fscanf(file, "%31s %lld %lld", found, &seconds, &nanoseconds) == 3)
        if (strcmp(found, clock) == 0) offset = seconds * 1000000 + nanoseconds / 1000;
    fclose(file);
    return offset;
}

/*
 * Returns when a process started, in ticks since boot: field 22 of /proc/PID/stat (proc(5)), counted after
 * the name, which may contain spaces. Returns 0 if there is no such process or it has died.
 */
static __u64 start_of(__u32 process) {
    char path[64], line[1024];
    snprintf(path, sizeof path, "/proc/%u/stat", process);
    FILE *file = process != 0 ? fopen(path, "r") : NULL;
    if (file == NULL) return 0;
    const char *rest = fgets(line, sizeof line, file) ? strrchr(line, ')') : NULL;
    fclose(file);
    if (rest == NULL || rest[1] != ' ' || rest[2] == 'Z' || rest[2] == 'X') return 0;
    for (int field = 2; rest != NULL && field < 22; field++) {
        rest = strchr(rest, ' ');
        if (rest != NULL) rest++;
    }
    if (rest == NULL) return 0;
    const __s64 ticks_later = offset_us("boottime") * sysconf(_SC_CLK_TCK) / 1000000;
    return strtoull(rest, NULL, 10) - (__u64)ticks_later;
}

unsigned recorder_of(struct ww_control_block *block) {
    const __u32 recorder = block->recorder, first = 0;
    if (recorder == 0 || start_of(recorder) == block->recorder_start) return recorder;
    const int rings = open_pin("rings");
    if (rings >= 0) {
        bpf_map_delete_elem(
            rings, &first); /* its ring buffer, which the programs would otherwise still fill */
        close(rings);
    }
    block->recorder = 0;
    return 0;
}

/* Prints events until a signal stops us. */
static int consume(struct ring_buffer *events) {
    const struct timespec pause = {0, 20000000};
    int result = 0;
    while (!stopped && result >= 0) {
        nanosleep(&pause, NULL);
        result = ring_buffer__consume(events);
        if (result >= 0 && fflush(stdout) != 0) result = -errno;
    }
    return result;
}

static __u64 now_us(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    const __s64 us = (__s64)now.tv_sec * 1000000 + now.tv_nsec / 1000;
    return (__u64)(us - offset_us("monotonic"));
}

/* Passes `ring` to the programs of our controls, which read the map `rings`. */
static int join(struct ww_control_block *block, int rings, int ring, __u16 port) {
    const __u32 first = 0;
    block->port = port;
    block->recorder_start = start_of((__u32)getpid());
    block->recorder = (__u32)getpid();
    if (bpf_map_update_elem(rings, &first, &ring, BPF_ANY) == 0) return DONE;
    block->recorder = 0;
    return fail(errno, "can't pass the ring buffer to the programs");
}

/* Removes the ring from the map; this waits for programs that are still writing. */
static void part(struct ww_control_block *block, int rings) {
    const __u32 first = 0;
    if (block == NULL) return;
    bpf_map_delete_elem(rings, &first);
    block->recorder = 0;
}

/* Prints the events in the ring until a signal stops us. */
static int print_all(struct ring_buffer *events, struct ww_control_block *block, int rings,
                     struct tracing *tracing, struct recording *recording) {
    const struct ww_control_block none = {};
    const struct ww_control_block before = block == NULL ? none : *block;
    leave();
    puts(
        "netns,flow,time_s,cwnd,ssthresh,estimate_bps,sample_bps,rtt_s,srtt_s,rto_s,in_flight,"
        "state,event,cc,rtt_min_s,mss,delivered_bytes,sent,retransmitted,lost");
    int result = fflush(stdout) == 0 ? consume(events) : -errno;
    const __u64 traces_dropped = end_tracing(tracing);
    part(block, rings);
    if (result >= 0) result = ring_buffer__consume(events);
    if (result >= 0 && fflush(stdout) != 0) result = -errno;
    const struct ww_control_block after = block == NULL ? none : *block;
    fprintf(stderr, "%" PRIu64 " events, %" PRIu64 " dropped, %" PRIu64 " missed\n",
            (uint64_t)recording->events,
            (uint64_t)(traces_dropped + after.dropped - before.dropped),
            (uint64_t)(after.missed - before.missed));
    if (result >= 0) return DONE;
    if (result == -EPROTO && block != NULL)
        fprintf(stderr,
                "version %s is loaded, and its events have another format: westwood kernel "
                "load\n",
                block->version);
    else
        fprintf(stderr, "can't write the recording: %s\n", strerror(-result));
    _exit(FAILED); /* discards stdio's buffer: a line may be cut, but nothing follows it */
}

/* Records through a ring buffer of its own; block is NULL if none of our controls is loaded. */
static int run(struct ww_control_block *block, int rings, const struct wanted *wanted) {
    struct recording recording = {now_us(), 0, wanted->controls};
    struct tracing tracing = {};
    const int ring =
        bpf_map_create(BPF_MAP_TYPE_RINGBUF, "ww_events", 0, 0, wanted->ring_bytes, NULL);
    if (ring < 0) return fail(errno, "can't make a ring buffer of %u bytes", wanted->ring_bytes);
    struct ring_buffer *events = ring_buffer__new(ring, print_event, &recording, NULL);
    if (events == NULL) return fail(errno, "can't read the ring buffer");
    const __u16 port = (__u16)wanted->port;
    int result = block == NULL ? DONE : join(block, rings, ring, port);
    if (result != DONE) return result;
    if (wanted->object != NULL)
        result = start_tracing(&tracing, wanted->object, ring, port, block == NULL);
    if (result == DONE)
        result = print_all(events, block, rings, &tracing, &recording);
    else
        part(block, rings);
    ring_buffer__free(events);
    close(ring);
    return result;
}

int record(const char *dir, const struct wanted *wanted) {
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (wanted->starter != 0 && getppid() != (pid_t)wanted->starter)
        return fail(0, "the parent process has ended");
    struct wanted ours = *wanted;
    if (ours.object != NULL && (ours.object = realpath(wanted->object, NULL)) == NULL)
        return fail(errno, "%s", wanted->object); /* absolute, since enter() changes the folder */
    int result = enter(dir, false);
    if (result != DONE && result != ABSENT) return result;
    struct ww_control_block *block = result == DONE ? open_control_block() : NULL;
    const bool none = result == ABSENT || (block == NULL && errno == ENOENT);
    if (none && ours.object == NULL) return fail(0, "nothing is loaded: westwood kernel load");
    if (block == NULL && !none) return fail(errno, "%s/control: can't be opened", dir);
    if (block != NULL && recorder_of(block) != 0)
        return fail(0, "process %u is recording already", block->recorder);
    const struct sigaction action = {.sa_handler = stop};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* so a write beyond the file size limit fails, as on a full disk */
    const int rings = block == NULL ? -1 : open_pin("rings");
    if (block != NULL && rings < 0) return fail(-rings, "%s/rings: can't be opened", dir);
    result = run(block, rings, &ours);
    close(rings);
    return result;
}
