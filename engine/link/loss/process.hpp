// SPDX-License-Identifier: BSD-3-Clause
//
// Decides which packets a wire loses. A model of loss says how many packets pass before the next one
// that needs a decision, so independent losses take one random number per loss, not one per packet:
//
//   packets_until_due()  the packets that pass before the next decision; kNone: all
//   decide(now)          true if the packet due, which leaves the transmitter at `now`, is lost
//   resize(...)          the size of the packets has changed (bits.hpp); true: ask packets_until_due()
#pragma once

#include <variant>

#include "bits.hpp"
#include "script.hpp"
#include "states.hpp"
#include "uniform.hpp"

namespace ww::sim {

struct NoLoss {
    std::uint64_t packets_until_due() { return kNoLoss; }
    bool decide(Time) { return false; }
};

class LossProcess {
  public:
    // `random` belongs to this direction, `shared` to the link.
    LossProcess(const Loss& loss, const Random& random, const Random& shared, Stop* stop = nullptr)
        : model_(model_of(loss, random, shared, stop)) {
        draw();
    }

    // Sets the size of the packets from now on.
    void set_size(std::uint32_t bytes) {
        BitErrors* const bits = std::get_if<BitErrors>(&model_);
        if (bits == nullptr || !bits->resize(bytes, until_due_)) return;
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
    using Model = std::variant<NoLoss, UniformLoss, BitErrors, StateLoss, ScriptedLoss>;

    static Model model_of(const Loss& loss, const Random& random, const Random& shared,
                          Stop* stop) {
        switch (loss.kind) {
        case LossKind::uniform:
            return UniformLoss(loss.rate, random);
        case LossKind::bits:
            return BitErrors(loss.rate, random);
        case LossKind::states:
            return StateLoss(loss, random, shared, stop);
        case LossKind::script:
            return ScriptedLoss(loss.packets);
        case LossKind::none:
            break;
        }
        return NoLoss();
    }

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
    Model model_;
};

}  // namespace ww::sim
