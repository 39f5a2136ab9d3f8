// SPDX-License-Identifier: BSD-3-Clause
//
// The scoreboard of a SACK sender: what it knows of the segments in flight (RFC 6675, sections 3 and 4).
//
//   IsLost(S)   DupThresh or more SACKed segments above S
//   pipe        segments not SACKed and not lost, plus those retransmitted and not SACKed
//   NextSeg     1 the lowest lost one not retransmitted yet, 2 new data, 3 the lowest un-SACKed one
//               below the highest SACKed, 4 one "rescue" retransmission per recovery
//
// After a timeout every segment that is not SACKed is lost (section 5.1). Where RACK (rack.hpp) detects the
// losses, a retransmission may be lost too, and only lost segments are sent again: NextSeg has rules 1 and 2.
// Reneging is not modelled, because the receiver never does it. All segments but a transfer's last are full,
// so counting segments agrees with counting bytes as section 4 does.
#pragma once

#include <functional>
#include <memory>
#include <queue>
#include <vector>

#include "reassembly.hpp"

namespace ww::sim {

class Scoreboard {
  public:
    // by_time: RACK detects the losses. keeps_repaired: a SACKed retransmission stays in the pipe
    // until it is acknowledged. lists_lost: take_lost() gives each loss.
    explicit Scoreboard(bool by_time = false, bool keeps_repaired = false, bool lists_lost = false)
        : keeps_repaired_(keeps_repaired),
          lists_lost_(lists_lost),
          again_(by_time ? std::make_unique<LostAgain>() : nullptr) {}

    bool idle() const { return sacked_ == 0 && lost_ == 0 && retransmitted_ == 0; }
    std::int64_t sacked() const { return sacked_; }
    std::uint32_t found_lost() const { return found_lost_; }  // since the start; it wraps
    bool is_lost(std::int64_t segment) const { return (flags_at(segment) & kLost) != 0; }
    bool is_sacked(std::int64_t segment) const { return (flags_at(segment) & kSacked) != 0; }
    // Retransmitted, and since then neither SACKed nor found lost.
    bool is_out_again(std::int64_t segment) const {
        return (flags_at(segment) & (kRetransmitted | kSacked)) == kRetransmitted;
    }
    // Sent once, and neither SACKed nor found lost.
    bool is_out_once(std::int64_t segment) const { return flags_at(segment) == 0; }
    // Found lost, and not retransmitted since then.
    bool awaits_repair(std::int64_t segment) const {
        return (flags_at(segment) & (kLost | kRetransmitted)) == kLost;
    }
    bool has_lost() const { return lost_ != 0; }

    std::int64_t pipe(std::int64_t una, std::int64_t next) const {
        return next - una - sacked() - lost_ + retransmitted_;
    }

    // Makes the ring of flags hold this many segments from SND.UNA on.
    void reserve(std::size_t segments, std::int64_t una) {
        if (segments <= mask_ + 1) return;
        auto larger = std::make_unique<std::uint8_t[]>(segments);
        for (std::int64_t s = una; s <= una + mask_; s++)
            larger[static_cast<std::size_t>(s) & (segments - 1)] = flags_at(s);
        flags_ = std::move(larger);
        mask_ = static_cast<std::uint32_t>(segments - 1);
    }

    // SACK reports that [start, end), all in flight, has arrived. Calls fresh(a, b) for each new
    // part. Returns true if there is one.
    template <class Fresh>
    bool add(std::int64_t start, std::int64_t end, Fresh&& fresh) {
        bool news = false;
        ranges_.add(start, end, [&](std::int64_t a, std::int64_t b) {
            news = true;
            for (std::int64_t s = a; s < b; s++) {
                if (keeps_repaired_) {
                    if (flags_at(s) & kLost) lost_--;
                    flags_ref(s) &= kRetransmitted;
                } else {
                    drop_marks(s);
                }
                flags_ref(s) |= kSacked;
            }
            sacked_ += static_cast<std::uint32_t>(b - a);
            fresh(a, b);
        });
        high_sacked_ = std::max(high_sacked_, end);
        return news;
    }

    // Marks as lost all segments with `threshold` SACKed ones above them.
    void detect(std::int64_t una, std::uint32_t threshold) {
        if (sacked_ < threshold) return;
        std::int64_t edge = high_sacked_;
        for (std::uint32_t seen = 0; seen < threshold;)
            if (flags_at(--edge) & kSacked) seen++;
        for (std::int64_t s = std::max(una, lost_below_); s < edge; s++) mark_lost(s);
        lost_below_ = std::max(lost_below_, edge);
    }

    void mark_lost(std::int64_t segment) {
        std::uint8_t& flags = flags_ref(segment);
        if (flags & (kSacked | kLost)) return;
        flags |= kLost;
        lost_++;
        found_lost_++;
        if (lists_lost_) lost_now_.push_back(segment);
        lost_end_ = std::max(lost_end_, segment + 1);
    }

    // Calls visit(segment, found_lost, continues) for each segment found lost since the last call.
    // found_lost: segments found lost since the start, up to this one; continues: it directly
    // follows the one before it.
    template <class Visit>
    void take_lost(Visit&& visit) {
        std::uint32_t count = found_lost_ - static_cast<std::uint32_t>(lost_now_.size());
        for (const std::int64_t segment : lost_now_) {
            visit(segment, ++count, segment == last_taken_ + 1);
            last_taken_ = segment;
        }
        lost_now_.clear();
    }

    // RACK found that a segment, or its retransmission, has not arrived in time.
    void mark_lost_by_time(std::int64_t segment) {
        drop_marks(segment);
        mark_lost(segment);
        if (segment < next_lost_) again_->push(segment);  // next_lost() will reach the others
    }

    // The losses were spurious: whatever is not SACKed is in flight.
    void forget_losses(std::int64_t una, std::int64_t next) {
        for (std::int64_t s = una; s < next; s++) {
            std::uint8_t& flags = flags_ref(s);
            if (flags & kLost) lost_--;
            flags &= static_cast<std::uint8_t>(~kLost);
        }
        lost_end_ = una;
    }

    void mark_all_lost(std::int64_t una, std::int64_t next) {
        for (std::int64_t s = una; s < next; s++) {
            drop_marks(s);
            mark_lost(s);
        }
        lost_below_ = next;
        enter_recovery(una);
    }

    void advance(std::int64_t una, std::int64_t new_una) {
        if (idle()) return;
        for (std::int64_t s = una; s < new_una; s++) {
            if (flags_at(s) & kSacked) sacked_--;
            drop_marks(s);
            flags_ref(s) = 0;
        }
        ranges_.remove_below(new_una);
    }

    void enter_recovery(std::int64_t una) {
        next_retransmission_ = next_lost_ = una;
        if (again_ != nullptr) again_->clear();
        rescued_below_ = -1;
    }

    void retransmitted(std::int64_t segment) {
        std::uint8_t& flags = flags_ref(segment);
        if (!(flags & kRetransmitted)) retransmitted_++;
        flags |= kRetransmitted;
        next_retransmission_ = std::max(next_retransmission_, segment + 1);
    }

    // NextSeg, rule 1. Returns a segment or -1; nothing from lost_end_ on is lost. Each segment is
    // examined once, because those lost again below the position are kept in again_.
    std::int64_t next_lost(std::int64_t una) {
        for (; again_ != nullptr && !again_->empty(); again_->pop())
            if (again_->top() >= una && awaits_repair(again_->top())) return again_->top();
        next_lost_ = std::max(una, next_lost_);
        if (again_ == nullptr) next_lost_ = std::max(next_lost_, next_retransmission_);
        for (; next_lost_ < lost_end_; next_lost_++)
            if (awaits_repair(next_lost_)) return next_lost_;
        return -1;
    }

    // NextSeg, rule 3, used when rule 1 finds nothing.
    std::int64_t next_unsacked(std::int64_t una) const {
        const std::int64_t start = std::max({una, lost_below_, next_retransmission_});
        for (std::int64_t s = start; s < high_sacked_; s++)
            if (!(flags_at(s) & (kSacked | kRetransmitted))) return s;
        return -1;
    }

    // NextSeg, rule 4. It leaves HighRxt and the pipe unchanged.
    std::int64_t rescue(std::int64_t una, std::int64_t next, std::int64_t recovery_point) {
        if (una <= rescued_below_) return -1;
        for (std::int64_t s = next - 1; s >= una; s--) {
            if (flags_at(s) & kSacked) continue;
            rescued_below_ = recovery_point;
            return s;
        }
        return -1;
    }

  private:
    static constexpr std::uint8_t kSacked = 1, kLost = 2, kRetransmitted = 4;

    std::uint8_t flags_at(std::int64_t s) const {
        return flags_[static_cast<std::size_t>(s) & mask_];
    }
    std::uint8_t& flags_ref(std::int64_t s) { return flags_[static_cast<std::size_t>(s) & mask_]; }
    void drop_marks(std::int64_t s) {
        std::uint8_t& flags = flags_ref(s);
        if (flags & kLost) lost_--;
        if (flags & kRetransmitted) retransmitted_--;
        flags &= kSacked;
    }

    // Segments below next_lost_ that were lost again, lowest first.
    struct LostAgain
        : std::priority_queue<std::int64_t, std::vector<std::int64_t>, std::greater<>> {
        void clear() { c.clear(); }
    };

    std::unique_ptr<std::uint8_t[]> flags_ = std::make_unique<std::uint8_t[]>(1);
    std::uint32_t mask_ = 0;
    std::uint32_t sacked_ = 0, lost_ = 0, retransmitted_ = 0;  // all in flight: fewer than 2^30
    std::uint32_t found_lost_ = 0;
    bool keeps_repaired_, lists_lost_;
    Ranges ranges_;
    std::int64_t high_sacked_ = 0;          // one past the highest SACKed segment
    std::int64_t lost_below_ = 0;           // the search for losses has passed everything below it
    std::int64_t lost_end_ = 0;             // one past the highest segment found lost
    std::int64_t next_retransmission_ = 0;  // one past HighRxt
    std::int64_t next_lost_ = 0;            // below it only segments in again_ await retransmission
    std::int64_t rescued_below_ = -1;       // RescueRxt
    std::unique_ptr<LostAgain> again_;      // only with RACK
    std::vector<std::int64_t> lost_now_;    // in the order in which they were found
    std::int64_t last_taken_ = -2;          // the last segment that take_lost() gave
};

}  // namespace ww::sim
