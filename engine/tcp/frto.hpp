// SPDX-License-Identifier: BSD-3-Clause
//
// F-RTO (RFC 5682, 3.1). After a timeout the first segment is sent again, then two new ones if that
// is acknowledged. Only the next ACK tells whether the rest must be sent again.
#pragma once

#include <cstdint>

namespace ww::sim {

class Frto {
  public:
    bool is_on() const { return step_ != Step::off; }
    void begin() {
        step_ = Step::first_ack;
        new_segments_ = 0;
    }
    void end() { step_ = Step::off; }

    // Step 2: an ACK that does not complete the recovery; `may_send`: there is new data, and room for it.
    // Step 3: `original`: it acknowledges data sent before the timeout and not again. Returns true if the
    // timeout was spurious.
    bool on_ack(bool advanced, bool original, bool may_send) {
        if (step_ == Step::first_ack && advanced && may_send) {
            step_ = Step::second_ack;
            new_segments_ = 2;
            return false;
        }
        const bool spurious = step_ == Step::second_ack && original;
        end();
        return spurious;
    }
    // Returns true if a new segment may be sent, which then counts as sent.
    bool takes_new_segment() {
        if (new_segments_ == 0) return false;
        new_segments_--;
        return true;
    }

  private:
    enum class Step : std::uint8_t { off, first_ack, second_ack };
    Step step_ = Step::off;
    std::uint8_t new_segments_ = 0;
};

}  // namespace ww::sim
