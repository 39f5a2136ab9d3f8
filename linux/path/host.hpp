// SPDX-License-Identifier: GPL-2.0-only
//
// A host is a network namespace without a name, whose only link is a TUN device.
//
// Nothing of it outlives this process: namespace and device exist as long as this process holds their
// descriptors and sockets, and the kernel closes those however the process ends.
//
// Each flow has an address at either end (packet.hpp) and a route to the other end. The route carries
// what Linux sets per route: packet size, initial cwnd, minimum RTO, ACK policy (ip-route(8)).
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "plan.hpp"

namespace ww::path {

// Thrown if this machine lacks something; the message names it and says how to get it.
struct Unavailable : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// Owns a file descriptor and closes it.
class Descriptor {
  public:
    explicit Descriptor(int fd = -1) : fd_(fd) {}
    Descriptor(Descriptor&& other) noexcept : fd_(other.release()) {}
    Descriptor& operator=(Descriptor&& other) noexcept;
    ~Descriptor();

    int get() const { return fd_; }
    explicit operator bool() const { return fd_ >= 0; }
    int release() {
        const int fd = fd_;
        fd_ = -1;
        return fd;
    }

  private:
    int fd_;
};

inline constexpr std::uint16_t kPort = 5001;  // sinks listen on it

class Host {
  public:
    // Makes the host of a node, with the addresses and routes for the plan's flows.
    Host(const Plan& plan, std::uint32_t node);

    // Takes over an existing namespace and its device.
    Host(std::uint32_t node, Descriptor net, Descriptor tun, std::string device)
        : node_(node), net_(std::move(net)), tun_(std::move(tun)), device_(std::move(device)) {}

    std::uint32_t node() const { return node_; }
    int tun() const { return tun_.get(); }
    int net() const { return net_.get(); }  // the descriptor of its namespace

    // Opens a socket in the namespace; throws Unavailable.
    Descriptor socket(int type) const;

    // Counts the packets that the device dropped because they were not read in time.
    std::uint64_t overruns() const;

  private:
    void set_parameters(const Plan& plan) const;
    void set_routes(const Plan& plan) const;

    std::uint32_t node_;
    Descriptor net_, tun_;
    std::string device_;
};

// Returns the network namespace that the calling thread is in.
Descriptor current_namespace();

// Moves the calling thread into a new network namespace; throws Unavailable.
void enter_new_namespace();

// Moves the calling thread into another network namespace.
void enter(int net);

// Makes a TUN device in the namespace of the calling thread and starts it. The kernel replaces %d in its name
// by a number.
Descriptor make_device(std::string& name, std::uint32_t packet_bytes);

// Starts a device of this namespace.
void start_device(const std::string& name);

// Sets a parameter of this namespace (sysctl(8)); does nothing if this kernel lacks it.
void set_parameter(const std::string& name, const std::string& value);

// Makes a host for each node that a flow begins or ends at. Leaves the calling thread in another namespace.
std::vector<Host> make_hosts(const Plan& plan);

std::uint32_t source_address(std::uint32_t flow);  // host byte order
std::uint32_t sink_address(std::uint32_t flow);

}  // namespace ww::path
