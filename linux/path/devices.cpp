// SPDX-License-Identifier: GPL-2.0-only
//
// Namespaces and TUN devices of this machine's kernel. ../um/devices.cpp has those of the machine in virtual time.
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <system_error>

#include "host.hpp"
#include "netlink.hpp"

namespace ww::path {
namespace {

// Packets: room for a sender's bursts until the emulator reads them, before the emulator's own queue.
constexpr std::uint32_t kDeviceQueue = 10'000;

void check(int result, const char* what) {
    if (result < 0) throw std::system_error(errno, std::generic_category(), what);
}

}  // namespace

void set_parameter(const std::string& name, const std::string& value) {
    std::ofstream("/proc/sys/net/" + name) << value << std::flush;
}

void enter_new_namespace() {
    if (::unshare(CLONE_NEWNET) == 0) return;
    // An unprivileged user gets the privileges inside a new user namespace.
    if (errno == EPERM && ::unshare(CLONE_NEWUSER | CLONE_NEWNET) == 0) return;
    throw Unavailable(std::string("no network namespace (") + std::strerror(errno) +
                      "): run it as root, or allow unprivileged user namespaces");
}

Descriptor current_namespace() {
    Descriptor net(::open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC));
    check(net.get(), "opening the network namespace");
    return net;
}

void enter(int net) { check(::setns(net, CLONE_NEWNET), "entering a network namespace"); }

void start_device(const std::string& name) {
    const Descriptor control(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    check(control.get(), "opening a socket");
    ifreq request{};
    std::strncpy(request.ifr_name, name.c_str(), IFNAMSIZ - 1);
    request.ifr_flags = IFF_UP | IFF_RUNNING;
    check(::ioctl(control.get(), SIOCSIFFLAGS, &request), "starting the device");
}

Descriptor make_device(std::string& name, std::uint32_t packet_bytes) {
    Descriptor tun(::open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC));
    if (!tun)
        throw Unavailable(std::string("no /dev/net/tun (") + std::strerror(errno) +
                          "): modprobe tun, and run it as root or let this user open it");
    ifreq request{};
    std::strncpy(request.ifr_name, name.c_str(), IFNAMSIZ - 1);
    request.ifr_flags = IFF_TUN | IFF_NO_PI;
    if (::ioctl(tun.get(), TUNSETIFF, &request) < 0) {
        if (errno != EPERM) check(-1, "making a TUN device");
        throw Unavailable("no TUN device in this network namespace (" +
                          std::string(std::strerror(errno)) +
                          "): run it as root, or in a namespace of its own, unshare -Urn");
    }
    name = request.ifr_name;
    const Descriptor control(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    check(control.get(), "opening a socket");
    request.ifr_mtu = static_cast<int>(packet_bytes);
    check(::ioctl(control.get(), SIOCSIFMTU, &request), "setting the device's packet size");
    RouteTable().set_queue(static_cast<int>(::if_nametoindex(name.c_str())), kDeviceQueue);
    set_parameter("ipv6/conf/" + name + "/disable_ipv6",
                  "1");  // IPv6 would send packets of its own
    start_device(name);
    return tun;
}

std::uint64_t Host::overruns() const {
    enter(net_.get());
    std::ifstream table("/proc/thread-self/net/dev");
    for (std::string name; table >> name;) {
        std::uint64_t counter = 0;
        if (name != device_ + ":") continue;
        for (int column = 1; column <= 12; column++) table >> counter;
        return counter;  // column 12: packets dropped when sending
    }
    return 0;
}

}  // namespace ww::path
