// SPDX-License-Identifier: GPL-2.0-only
/*
 * The system calls that ../path/traffic.cpp makes, as functions: system_calls.txt has their names. Virtual time passes
 * in ww_epoll_pwait2 only.
 */
#include <linux/file.h>
#include <linux/hrtimer.h>
#include <linux/kernel.h>
#include <linux/netdevice.h>
#include <linux/poll.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>
#include <linux/tcp.h>
#include <net/net_namespace.h>
#include <net/sock.h>
#include <net/tcp.h>

#include "kernel.h"
#include "machine.h"

extern int* __errno_location(void); /* of the host's C library */

struct host_timespec {
    long seconds, nanoseconds;
};

/* --- descriptors: sockets that the traffic opens; one set of them is watched --- */

enum { MOST_SOCKETS = 1 << 16, FIRST = 1 << 20 }; /* no number that the host's descriptors have */

struct watched {
    struct socket* socket;
    wait_queue_entry_t entry;
    struct list_head ready; /* in ready_sockets if not empty */
    u64 data;
    u32 events;
    bool is_watched;
};
static struct watched* sockets[MOST_SOCKETS];
static LIST_HEAD(ready_sockets);
static DEFINE_SPINLOCK(ready_lock);

static long fail(long error) {
    if (error >= 0) return error;
    *__errno_location() = -error;
    return -1;
}

static struct watched* watched_of(int number) {
    const int i = number - FIRST;

    return i >= 0 && i < MOST_SOCKETS ? sockets[i] : NULL;
}

/* Takes over a socket, and gives it a file as a process's socket has. */
static int add(struct socket* socket) {
    struct file* file = sock_alloc_file(socket, O_NONBLOCK, NULL);
    int i;

    if (IS_ERR(file)) return PTR_ERR(file); /* which has released the socket */

    for (i = 0; i < MOST_SOCKETS; i++)
        if (!sockets[i]) {
            sockets[i] = kzalloc(sizeof(struct watched), GFP_KERNEL);
            if (!sockets[i]) break;
            sockets[i]->socket = socket;
            INIT_LIST_HEAD(&sockets[i]->ready);
            return FIRST + i;
        }
    __fput_sync(file);
    return -EMFILE;
}

static void mark_ready(struct watched* w) {
    unsigned long flags;

    spin_lock_irqsave(&ready_lock, flags);
    if (list_empty(&w->ready)) list_add_tail(&w->ready, &ready_sockets);
    spin_unlock_irqrestore(&ready_lock, flags);
}

static int socket_changes(wait_queue_entry_t* entry, unsigned int mode, int flags, void* key) {
    mark_ready(container_of(entry, struct watched, entry));
    ww_wake();
    return 0;
}

static void unwatch(struct watched* w) {
    unsigned long flags;

    if (!w->is_watched) return;
    remove_wait_queue(&w->socket->wq.wait, &w->entry);
    spin_lock_irqsave(&ready_lock, flags);
    list_del_init(&w->ready);
    spin_unlock_irqrestore(&ready_lock, flags);
    w->is_watched = false;
}

int ww_socket(int family, int type, int protocol) {
    struct socket* socket;
    int error =
        __sock_create(ww_current_net(), family, type & SOCK_TYPE_MASK, protocol, &socket, 0);

    if (error) return fail(error);
    return fail(add(socket));
}

int ww_close(int number) {
    struct watched* w = watched_of(number);

    if (!w) return fail(-EBADF);
    unwatch(w);
    __fput_sync(w->socket->file);
    kfree(w);
    sockets[number - FIRST] = NULL;
    return 0;
}

int ww_bind(int number, struct sockaddr* address, unsigned int size) {
    return fail(kernel_bind(watched_of(number)->socket, address, size));
}
int ww_listen(int number, int backlog) {
    return fail(kernel_listen(watched_of(number)->socket, backlog));
}
int ww_connect(int number, struct sockaddr* address, unsigned int size) {
    return fail(kernel_connect(watched_of(number)->socket, address, size, O_NONBLOCK));
}
int ww_shutdown(int number, int how) {
    return fail(kernel_sock_shutdown(watched_of(number)->socket, how));
}

int ww_getsockname(int number, struct sockaddr* address, unsigned int* size) {
    return fail(min(0, kernel_getsockname(watched_of(number)->socket, address)));
}

int ww_accept4(int number, struct sockaddr* peer, unsigned int* size, int flags) {
    struct socket *listener = watched_of(number)->socket, *socket;
    int error = kernel_accept(listener, &socket, O_NONBLOCK);

    if (error) return fail(error);
    if (peer) kernel_getpeername(socket, peer);
    return fail(add(socket));
}

int ww_setsockopt(int number, int level, int name, const void* value, unsigned int size) {
    struct socket* socket = watched_of(number)->socket;

    if (level == SOL_SOCKET)
        return fail(sock_setsockopt(socket, level, name, KERNEL_SOCKPTR((void*)value), size));
    return fail(socket->ops->setsockopt(socket, level, name, KERNEL_SOCKPTR((void*)value), size));
}

int ww_getsockopt(int number, int level, int name, void* value, int* size) {
    struct sock* sk = watched_of(number)->socket->sk;

    if (level == SOL_SOCKET)
        return fail(sk_getsockopt(sk, level, name, KERNEL_SOCKPTR(value), KERNEL_SOCKPTR(size)));
    return fail(do_tcp_getsockopt(sk, level, name, KERNEL_SOCKPTR(value), KERNEL_SOCKPTR(size)));
}

long ww_send(int number, void* data, unsigned long size, int flags) {
    struct msghdr message = {.msg_flags = flags | MSG_DONTWAIT | MSG_NOSIGNAL};
    struct kvec part = {data, size};

    return fail(kernel_sendmsg(watched_of(number)->socket, &message, &part, 1, size));
}

long ww_sendto(int number, const void* data, unsigned long size, int flags, void* to,
               unsigned int to_size) {
    struct msghdr message = {
        .msg_name = to, .msg_namelen = to_size, .msg_flags = flags | MSG_DONTWAIT | MSG_NOSIGNAL};
    struct kvec part = {(void*)data, size};

    return fail(kernel_sendmsg(watched_of(number)->socket, &message, &part, 1, size));
}

/* With MSG_TRUNC TCP discards the data and needs no room for it. */
long ww_recv(int number, void* data, unsigned long size, int flags) {
    struct msghdr message = {};
    struct kvec part = {data, size};

    return fail(
        kernel_recvmsg(watched_of(number)->socket, &message, &part, 1, size, flags | MSG_DONTWAIT));
}
long ww_read(int number, void* data, unsigned long size) {
    return fail(-EAGAIN); /* standard input never ends */
}

int ww_prctl(int option) { return 0; }

unsigned int ww_if_nametoindex(const char* name) {
    struct net_device* device;
    unsigned int number = 0;

    rtnl_lock();
    device = __dev_get_by_name(ww_current_net(), name);
    if (device) number = device->ifindex;
    rtnl_unlock();
    return number;
}

/* Reading the clock costs virtual time in a process, but not where interrupts are off. */
unsigned long long ww_machine_now(void) {
    unsigned long flags;
    u64 now;

    local_irq_save(flags);
    now = ktime_get_ns();
    local_irq_restore(flags);
    return now;
}

int ww_clock_gettime(int clock, struct host_timespec* time) {
    const u64 now = ww_machine_now();

    time->seconds = now / NSEC_PER_SEC;
    time->nanoseconds = now % NSEC_PER_SEC;
    return 0;
}

struct host_epoll_event {
    u32 events;
    u64 data;
} __packed;

int ww_epoll_create1(int flags) { return FIRST + MOST_SOCKETS; }

int ww_epoll_ctl(int set, int operation, int number, struct host_epoll_event* event) {
    struct watched* w = watched_of(number);

    if (!w) return 0; /* a descriptor of the host, which never becomes ready */
    if (operation == 2 /* EPOLL_CTL_DEL */) {
        unwatch(w);
        return 0;
    }
    w->events = event->events;
    w->data = event->data;
    w->is_watched = true;
    init_waitqueue_func_entry(&w->entry, socket_changes);
    add_wait_queue(&w->socket->wq.wait, &w->entry);
    mark_ready(w);
    return 0;
}

static int take_ready(struct host_epoll_event* events, int room) {
    const u32 edge = 1u << 31, always = EPOLLERR | EPOLLHUP;
    struct watched *w, *next;
    unsigned long flags;
    LIST_HEAD(candidates);
    int count = 0;

    spin_lock_irqsave(&ready_lock, flags);
    list_splice_init(&ready_sockets, &candidates);
    spin_unlock_irqrestore(&ready_lock, flags);
    list_for_each_entry_safe(w, next, &candidates, ready) {
        const u32 now =
            (__force u32)w->socket->ops->poll(NULL, w->socket, NULL) & (w->events | always);

        if (count == room) break;
        spin_lock_irqsave(&ready_lock, flags);
        list_del_init(&w->ready);
        spin_unlock_irqrestore(&ready_lock, flags);
        if (!now) continue;
        events[count++] = (struct host_epoll_event){now, w->data};
        if (!(w->events & edge)) mark_ready(w);
    }
    spin_lock_irqsave(&ready_lock, flags);
    list_splice(&candidates, &ready_sockets);
    spin_unlock_irqrestore(&ready_lock, flags);
    return count;
}

/* The place where virtual time passes: packets move until a socket is ready or the time is over. */
int ww_epoll_pwait2(int set, struct host_epoll_event* events, int room,
                    const struct host_timespec* timeout, const void* mask) {
    const u64 end = ww_machine_now() + timeout->seconds * NSEC_PER_SEC + timeout->nanoseconds;

    for (;;) {
        u64 next;
        ktime_t due;
        int count;

        ww_has_work = false;
        ww_take_sent();
        next = ww_machine_advance(ww_machine_now());
        if (ww_has_sent()) continue;
        count = take_ready(events, room);
        if (count || ww_machine_now() >= end) return count;
        due = ns_to_ktime(min(next, end));
        set_current_state(TASK_UNINTERRUPTIBLE);
        if (!ww_has_work) schedule_hrtimeout_range(&due, 0, HRTIMER_MODE_ABS);
        __set_current_state(TASK_RUNNING);
    }
}
