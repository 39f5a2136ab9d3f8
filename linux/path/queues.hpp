// SPDX-License-Identifier: GPL-2.0-only
//
// Queues of the kernel. A direction whose discipline decides when packets leave (engine/link/queue/) waits in the
// kernel's own discipline: a TUN device in a namespace of its own, with
//
//   htb, which lets packets leave at the link's rate
//   the discipline, with the settings of the scenario as the attributes of WW_*_KERNEL
//
// A packet enters by a packet socket, and the device gives it back when it leaves. The delay and the losses of the link
// are the model's. The devices disappear with this process.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "host.hpp"
#include "netlink.hpp"

namespace ww::path {

// Returns whether --engine linux lets this direction wait in a discipline of the kernel.
bool waits_in_kernel(const sim::Direction& direction);

// Returns the requests of rtnetlink(7) that set up a direction's discipline on a device, given by its number.
std::vector<Message> requests_of(const sim::Direction& direction, std::uint32_t overhead,
                                 int device);

class Queues {
  public:
    struct Queue {
        std::uint32_t channel;
        Host device;        // `node` is the channel's number
        Descriptor socket;  // a packet socket
        int number;         // of the device
    };

    Queues() = default;  // none
    // Makes the queues of the plan's network. Leaves the calling thread in another namespace.
    explicit Queues(const Plan& plan);

    // Puts a packet into a channel's queue; returns false if the discipline drops it at once.
    bool enqueue(std::uint32_t channel, std::span<const std::uint8_t> packet) const;

    const std::vector<Queue>& all() const { return queues_; }

  private:
    std::vector<Queue> queues_;
};

}  // namespace ww::path
