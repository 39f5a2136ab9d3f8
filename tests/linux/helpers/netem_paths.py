# SPDX-License-Identifier: BSD-3-Clause
"""Sets up a netem path between two hosts, as a shell function for an emulated machine."""

# netem is in a third namespace: on the sender's own device it would hide losses from TCP.
NETEM_PATH = """
end() { # namespace device address
    ip -n $1 addr add $3/24 dev $2
    ip -n $1 link set $2 gso_max_size 1514 gso_max_segs 1 up
    ip netns exec $1 sysctl -qw net.ipv4.tcp_no_metrics_save=1 net.ipv4.ip_forward=1
}
netem_path() { # number rate_mbit delay_ms loss_percent queue
    for one in s m r; do ip netns add $one$1; done
    ip link add a$1 netns s$1 type veth peer name b$1 netns m$1
    ip link add c$1 netns m$1 type veth peer name d$1 netns r$1
    end s$1 a$1 10.$1.1.1; end m$1 b$1 10.$1.1.2; end m$1 c$1 10.$1.2.1; end r$1 d$1 10.$1.2.2
    ip -n s$1 route add default via 10.$1.1.2
    ip -n r$1 route add default via 10.$1.2.1
    tc -n m$1 qdisc add dev c$1 root netem rate $2mbit delay $3ms loss $4% limit $5
    tc -n m$1 qdisc add dev b$1 root netem delay $3ms limit 1000
    ip netns exec r$1 iperf3 -s -D
}
"""
