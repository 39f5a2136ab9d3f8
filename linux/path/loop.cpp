// SPDX-License-Identifier: GPL-2.0-only
#include "loop.hpp"

#include <poll.h>
#include <sched.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <vector>

namespace ww::path {
namespace {

// Packets read from one device before the others get their turn.
constexpr int kBatch = 64;
constexpr sim::Time kNanosecond = 1000;

void ask_for_precision() {
    ::prctl(PR_SET_TIMERSLACK, 1);
    sched_param priority{};
    priority.sched_priority = 1;
    (void)::sched_setscheduler(0, SCHED_FIFO, &priority);  // optional: a refusal does not matter
}

timespec until(sim::Time now, sim::Time due) {
    const sim::Time left = std::clamp<sim::Time>(due - now, 0, 3600 * sim::kSecond) / kNanosecond;
    return {left / 1'000'000'000, left % 1'000'000'000};
}

// True if the error concerns only this packet, or the device is going down: the loop continues.
bool is_harmless(int error) {
    return error == EINVAL || error == EAGAIN || error == EIO || error == ENOBUFS ||
           error == ENOMEM || error == EINTR;
}

class Loop {
  public:
    Loop(Model& model, std::span<const Host> hosts, const Clock& clock, int stop, const Tick& tick,
         const Queues& queues)
        : model_(model),
          clock_(clock),
          tick_(tick),
          next_tick_(tick.every == sim::kNever ? sim::kNever : clock.now() + tick.every),
          ready_{{stop, POLLIN, 0}} {
        for (const Host& host : hosts) {
            ready_.push_back({host.tun(), POLLIN, 0});
            tun_of_node_.resize(std::max<std::size_t>(tun_of_node_.size(), host.node() + 1), -1);
            tun_of_node_[host.node()] = host.tun();
            takers_.push_back([this, &host](sim::Time now, std::size_t size) {
                model_.enter(now, host.node(), size);
            });
        }
        for (const Queues::Queue& queue : queues.all()) {
            ready_.push_back({queue.device.tun(), POLLIN, 0});
            takers_.push_back([this, &queue](sim::Time now, std::size_t size) {
                model_.leave(now, queue.channel, size);
            });
        }
    }

    LoopReport run() {
        try {
            run_on();
        } catch (const std::system_error& error) {  // of a queue of the kernel
            report_.error = error.what();
        }
        return report_;
    }

  private:
    void run_on() {
        while (report_.error.empty()) {
            model_.run(clock_.now(), deliver_);
            if (clock_.now() >= next_tick_) {
                if (!tick_.act(clock_.now())) break;
                next_tick_ += tick_.every;
            }
            const timespec timeout = until(clock_.now(), std::min(next_tick_, model_.next()));
            if (::ppoll(ready_.data(), ready_.size(), &timeout, nullptr) < 0 && errno != EINTR)
                report_.error = std::strerror(errno);
            if (ready_[0].revents != 0) break;
            for (std::size_t i = 0; i < takers_.size(); i++)
                if (ready_[i + 1].revents != 0) take_batch(ready_[i + 1].fd, takers_[i]);
        }
    }

    // Moves a packet, which was read from a device into the model's room(), into the model.
    using Take = std::function<void(sim::Time now, std::size_t size)>;

    void take_batch(int device, const Take& take) {
        for (int count = 0; count < kBatch; count++) {
            const auto room = model_.room();
            const ssize_t size = ::read(device, room.data(), room.size());
            if (size <= 0) return;
            const sim::Time now = clock_.now();
            model_.run(now, deliver_);
            take(now, static_cast<std::size_t>(size));
        }
    }

    void deliver(std::uint32_t node, std::span<const std::uint8_t> packet, sim::Time at) {
        report_.lateness.add(clock_.now() - at);
        if (::write(tun_of_node_[node], packet.data(), packet.size()) >= 0) return;
        report_.refused++;
        if (!is_harmless(errno)) report_.error = std::strerror(errno);
    }

    Model& model_;
    const Clock& clock_;
    const Tick& tick_;
    sim::Time next_tick_;
    std::vector<pollfd> ready_;  // `stop`, then the devices
    std::vector<Take> takers_;   // of the devices
    std::vector<int> tun_of_node_;
    const Model::Deliver deliver_ = [this](auto node, auto packet, auto at) {
        deliver(node, packet, at);
    };
    LoopReport report_;
};

}  // namespace

LoopReport run_loop(Model& model, std::span<const Host> hosts, const Clock& clock, int stop,
                    const Tick& tick, const Queues& queues) {
    ask_for_precision();
    return Loop(model, hosts, clock, stop, tick, queues).run();
}

}  // namespace ww::path
