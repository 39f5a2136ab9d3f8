// SPDX-License-Identifier: GPL-2.0-only
/*
 * The kernel's half of the machine: a network device per host, whose packets go to the engine's channels. All runs in the thread of init, before any program would start.
 */
#include "machine.h"

#include <linux/inetdevice.h>
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/netdevice.h>
#include <linux/nsproxy.h>
#include <linux/reboot.h>
#include <linux/rtnetlink.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/tcp.h>
#include <net/net_namespace.h>
#include <net/sock.h>
#include <net/tcp.h>

#include "kernel.h"

extern int uml_exitcode;

/* --- namespaces and devices --- */

enum { MOST_HOSTS = 4096, QUEUE_PACKETS = 10000 };

static struct net* namespaces[MOST_HOSTS];
static struct net_device* devices[MOST_HOSTS];
static int namespace_count, current_namespace, device_count;

static struct sk_buff_head sent; /* by all devices, in order */
static struct task_struct* machine;
bool ww_has_work;

struct net* ww_current_net(void) {
    return namespaces[current_namespace];
}

void ww_wake(void) {
    ww_has_work = true;
    wake_up_process(machine);
}

int ww_machine_new_namespace(void) {
    struct net* net = copy_net_ns(CLONE_NEWNET, &init_user_ns, &init_net);

    if (IS_ERR(net) || namespace_count == MOST_HOSTS) return -1;
    current_namespace = namespace_count++;
    namespaces[current_namespace] = net;
    return current_namespace;
}

void ww_machine_enter(int number) { current_namespace = number; }

static netdev_tx_t device_sends(struct sk_buff* skb, struct net_device* device) {
    skb_orphan(skb); /* as a TUN device does: it has left the host */
    if (skb_queue_len(&sent) >= QUEUE_PACKETS) {
        DEV_STATS_INC(device, tx_dropped);
        kfree_skb(skb);
        return NETDEV_TX_OK;
    }
    skb->tstamp = ns_to_ktime(ww_machine_now());
    skb_queue_tail(&sent, skb);
    ww_wake();
    return NETDEV_TX_OK;
}

static const struct net_device_ops operations = {.ndo_start_xmit = device_sends};

static void set_up(struct net_device* device) {
    device->netdev_ops = &operations;
    device->type = ARPHRD_NONE;
    device->flags = IFF_POINTOPOINT | IFF_NOARP | IFF_MULTICAST;
    device->priv_flags |= IFF_NO_QUEUE;
    device->lltx = true;
    device->features = device->hw_features = NETIF_F_SG | NETIF_F_FRAGLIST | NETIF_F_HW_CSUM;
    device->needs_free_netdev = true;
    device->min_mtu = 68;
    device->max_mtu = 65535;
    device->tx_queue_len = QUEUE_PACKETS;
}

int ww_machine_device(char* name, unsigned int packet_bytes) {
    struct net_device* device;
    int error;

    if (device_count == MOST_HOSTS) return -ENOSPC;
    device = alloc_netdev(sizeof(int), name, NET_NAME_USER, set_up);
    if (!device) return -ENOMEM;
    *(int*)netdev_priv(device) = device_count;
    dev_net_set(device, ww_current_net());
    device->mtu = packet_bytes;
    rtnl_lock();
    error = register_netdevice(device);
    if (!error) error = dev_open(device, NULL);
    rtnl_unlock();
    if (error) return error;
    strscpy(name, device->name, WW_NAME);
    devices[device_count] = device;
    return device_count++;
}

unsigned long long ww_machine_drops(int device) {
    return atomic_long_read(&devices[device]->stats.__tx_dropped);
}

void ww_machine_deliver(int device, const void* packet, unsigned int bytes) {
    struct sk_buff* skb = alloc_skb(bytes + NET_SKB_PAD, GFP_KERNEL);

    if (!skb) return;
    skb_reserve(skb, NET_SKB_PAD);
    skb_put_data(skb, packet, bytes);
    skb->dev = devices[device];
    skb->protocol = htons(ETH_P_IP);
    skb->ip_summed = CHECKSUM_UNNECESSARY;
    skb_reset_mac_header(skb);
    skb_reset_network_header(skb);
    local_bh_disable();
    netif_receive_skb(skb);
    local_bh_enable();
}

/* --- parameters: those of ../path/host.cpp that a namespace has --- */

struct parameter {
    const char* name;
    unsigned short offset, bytes;
};
#define PARAMETER(text, field) \
    { text, offsetof(struct net, field), sizeof_field(struct net, field) }
static const struct parameter parameters[] = {
    PARAMETER("ipv4/tcp_timestamps", ipv4.sysctl_tcp_timestamps),
    PARAMETER("ipv4/tcp_sack", ipv4.sysctl_tcp_sack),
    PARAMETER("ipv4/tcp_reordering", ipv4.sysctl_tcp_reordering),
    PARAMETER("ipv4/tcp_comp_sack_nr", ipv4.sysctl_tcp_comp_sack_nr),
    PARAMETER("ipv4/tcp_no_metrics_save", ipv4.sysctl_tcp_nometrics_save),
    PARAMETER("ipv4/tcp_ecn_fallback", ipv4.sysctl_tcp_ecn_fallback),
    PARAMETER("ipv4/tcp_moderate_rcvbuf", ipv4.sysctl_tcp_moderate_rcvbuf),
    PARAMETER("ipv4/tcp_rmem", ipv4.sysctl_tcp_rmem),
    PARAMETER("ipv4/tcp_wmem", ipv4.sysctl_tcp_wmem),
    PARAMETER("ipv4/tcp_retries2", ipv4.sysctl_tcp_retries2),
    PARAMETER("ipv4/tcp_syn_retries", ipv4.sysctl_tcp_syn_retries),
    PARAMETER("ipv4/tcp_synack_retries", ipv4.sysctl_tcp_synack_retries),
    PARAMETER("ipv4/tcp_max_syn_backlog", ipv4.sysctl_max_syn_backlog),
    PARAMETER("core/somaxconn", core.sysctl_somaxconn),
};

int ww_machine_parameter(const char* name, const char* value) {
    int numbers[3] = {0};
    const int count = sscanf(value, "%d %d %d", &numbers[0], &numbers[1], &numbers[2]);
    unsigned int i;

    for (i = 0; i < ARRAY_SIZE(parameters); i++) {
        void* field = (char*)ww_current_net() + parameters[i].offset;

        if (strcmp(name, parameters[i].name)) continue;
        if (parameters[i].bytes == 1)
            *(u8*)field = numbers[0];
        else
            memcpy(field, numbers, min_t(size_t, parameters[i].bytes, count * sizeof(int)));
        return 0;
    }
    return -1;
}

void ww_take_sent(void) {
    struct sk_buff* skb;

    while ((skb = skb_dequeue(&sent))) {
        void* room = ww_machine_room(skb->len);

        if (room && !skb_copy_bits(skb, 0, room, skb->len))
            ww_machine_entered(ktime_to_ns(skb->tstamp), *(int*)netdev_priv(skb->dev), skb->len);
        consume_skb(skb);
    }
}

bool ww_has_sent(void) { return !skb_queue_empty(&sent); }

static int __init run_machine(void) {
    if (strstr(saved_command_line, " init=")) return 0; /* start.c: a program in place of a plan */
    machine = current;
    skb_queue_head_init(&sent);
    uml_exitcode = ww_machine_main();
    kernel_power_off();
    return 0;
}
late_initcall_sync(run_machine);
