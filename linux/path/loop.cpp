// SPDX-License-Identifier: GPL-2.0-only
#include "loop.hpp"

#include <poll.h>
#include <sched.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

namespace ww::path {
namespace {

constexpr int kBatch = 64;  // packets from one device before the others and what is due
constexpr sim::Time kNanosecond = 1000;

void ask_for_precision() {
    ::prctl(PR_SET_TIMERSLACK, 1);
    sched_param priority{};
    priority.sched_priority = 1;
    (void)::sched_setscheduler(0, SCHED_FIFO, &priority);  // may be refused
}

timespec until(sim::Time now, sim::Time due) {
    const sim::Time left = std::clamp<sim::Time>(due - now, 0, 3600 * sim::kSecond) / kNanosecond;
    return {left / 1'000'000'000, left % 1'000'000'000};
}

// Not the device's fault but a packet's, or a device that is going down.
bool is_harmless(int error) {
    return error == EINVAL || error == EAGAIN || error == EIO || error == ENOBUFS ||
           error == ENOMEM || error == EINTR;
}

}  // namespace

LoopReport run_loop(Model& model, std::span<const Host> hosts, const Clock& clock, int stop) {
    ask_for_precision();
    LoopReport report;
    std::vector<pollfd> ready{{stop, POLLIN, 0}};
    std::vector<int> device;  // of a node
    for (const Host& host : hosts) {
        ready.push_back({host.tun(), POLLIN, 0});
        device.resize(std::max<std::size_t>(device.size(), host.node() + 1), -1);
        device[host.node()] = host.tun();
    }
    const Model::Deliver deliver = [&](std::uint32_t node, std::span<const std::uint8_t> packet,
                                       sim::Time at) {
        report.lateness.add(clock.now() - at);
        if (::write(device[node], packet.data(), packet.size()) >= 0) return;
        report.refused++;
        if (!is_harmless(errno)) report.error = std::strerror(errno);
    };
    while (report.error.empty()) {
        model.run(clock.now(), deliver);
        const timespec timeout = until(clock.now(), model.next());
        if (::ppoll(ready.data(), ready.size(), &timeout, nullptr) < 0 && errno != EINTR)
            report.error = std::strerror(errno);
        if (ready[0].revents != 0) break;
        for (std::size_t i = 1; i < ready.size(); i++) {
            if (ready[i].revents == 0) continue;
            for (int count = 0; count < kBatch; count++) {
                const auto room = model.room();
                const ssize_t size = ::read(ready[i].fd, room.data(), room.size());
                if (size <= 0) break;
                const sim::Time now = clock.now();
                model.run(now, deliver);
                model.enter(now, hosts[i - 1].node(), static_cast<std::size_t>(size));
            }
        }
    }
    return report;
}

}  // namespace ww::path
