// SPDX-License-Identifier: BSD-3-Clause
//
// Decides which packets a wire loses, by the model of kinds.hpp that its settings choose.
#pragma once

#include <vector>

#include "kinds.hpp"

namespace ww::sim {

class LossProcess {
  public:
    // `random` belongs to this direction, `shared` to the link.
    LossProcess(const Loss& loss, const Random& random, const Random& shared, Stop* stop = nullptr)
        : model_(std::visit(LossModelMaker{{random, shared, stop}}, loss)) {
        draw();
    }

    // Sets the size of the packets from now on.
    void set_size(std::uint32_t bytes) {
        const bool is_new =
            std::visit([&](auto& model) { return model.resize(bytes, until_due_); }, model_);
        if (!is_new) return;
        drawn_ -= until_due_;
        draw();
    }

    // Returns true if the next packet needs a decision. If not, on_passed() counts it, or several
    // at once.
    bool is_next() const { return until_due_ == 0; }
    void on_passed(std::uint64_t packets = 1) { until_due_ -= packets; }
    bool loses_none() const { return until_due_ > UINT64_MAX / 2; }

    // Takes a packet that leaves the transmitter at `now`. Returns true if it is lost.
    bool loses(Time now) {
        if (is_next()) [[unlikely]]
            return decide(now);
        on_passed();
        return false;
    }

    std::uint64_t crossed() const { return drawn_ - until_due_; }

  private:
    [[gnu::noinline]] bool decide(Time now) {
        drawn_++;
        const bool lost = std::visit([&](auto& model) { return model.decide(now); }, model_);
        draw();
        return lost;
    }

    void draw() {
        until_due_ = std::visit([](auto& model) { return model.packets_until_due(); }, model_);
        drawn_ += until_due_;
    }

    std::uint64_t until_due_ = 0;  // packets that pass before the next decision
    std::uint64_t drawn_ =
        0;  // packets up to the next decision; it may wrap, because only differences count
    AnyLossModel model_;
};

// Returns which of the first `most` packets a loss that only counts packets hits, counted from 1.
inline std::vector<std::uint64_t> lost_among(std::uint64_t most, const Loss& loss,
                                             std::uint64_t seed) {
    LossProcess process(loss, Random(seed, Stream::loss_forward, 0),
                        Random(seed, Stream::link_state, 0));
    std::vector<std::uint64_t> packets;
    for (std::uint64_t number = 1; number <= most; number++)
        if (process.loses(0)) packets.push_back(number);
    return packets;
}

}  // namespace ww::sim
