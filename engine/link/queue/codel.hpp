// SPDX-License-Identifier: BSD-3-Clause
//
// Controlled Delay (CoDel, RFC 8289): drops packets at the head of the queue while the least delay of an
// INTERVAL is above TARGET. The clauses, by the sections of the RFC's annotated pseudocode:
//
//   5.3  TARGET is 5 ms, INTERVAL 100 ms; MAXPACKET "SHOULD use interface MTU"
//   5.4  a packet gets a timestamp when it arrives; the full queue drops it
//   5.6  dodequeue: no packet may be dropped if it waited for less than TARGET, or if at most MAXPACKET
//        bytes are left behind it. Above both, packets may be dropped once first_above_time is over, which is
//        set INTERVAL ahead when the delay rises above
//   5.5  dequeue: the first packet that may be dropped is dropped, the next is sent, and dropping begins.
//        count resumes near the former rate (count - lastcount) if drop_next was less than 16 INTERVAL ago,
//        else at 1. While dropping, the packet at the head is dropped at drop_next, and count grows by one.
//        Dropping ends at a packet that may not be dropped
//   5.6  control_law: drop_next = t + INTERVAL / sqrt(count)
//
// dequeue() here decides about one packet, and is called again after a drop. So `was_dropped_` says that the
// RFC's inner loop goes on. More than MAXPACKET bytes are behind a dropped packet, so there is a next one.
//
// ECN: "it may be reasonable to ECN-mark packets instead" (section 1). The pseudocode has no marks. Here, as
// in Linux, a mark takes the place of the drop: count grows, and the next one follows by
// control_law(drop_next). ns-3 takes control_law(now) after a mark. Sizes are those of IP packets.
//
// CE_THRESHOLD, which the RFC lacks, is Linux's (include/net/codel_impl.h) and ns-3's: a packet of an ECN-capable flow
// that is sent after a longer delay is marked, whatever the law says. Senders like DCTCP's expect such marks.
#pragma once

#include <cmath>

#include "discipline.hpp"

#define WW_CODEL_SETTINGS(X)                                                                  \
    X(TIME, target, 5'000 * kMicrosecond, 1, kHour, "Acceptable delay of a standing queue",   \
      "RFC 8289, section 5.3.")                                                               \
    X(TIME, interval, 100'000 * kMicrosecond, 1, kHour,                                       \
      "How long the delay must stay above target; a large RTT of the flows",                  \
      "RFC 8289, section 5.3.")                                                               \
    X(BYTES, max_packet, 1500, 1, 65535, "At most this many bytes are no standing queue",     \
      "RFC 8289, section 5.3: the interface's MTU; IP packet of an Ethernet path (RFC 894).") \
    X(SWITCH, ecn, false, 0, 1,                                                               \
      "Marks packets of ECN-capable flows instead of dropping them (RFC 3168)",               \
      "A scenario asks for ECN by name.")                                                     \
    X(TIME, ce_threshold, 1'000 * kSecond, 1, 1'000 * kSecond,                                \
      "Marks every packet of an ECN-capable flow that waited longer",                         \
      "Linux's ce_threshold, off: no packet waits so long.")
#define WW_CODEL_RISING(X)
#define WW_CODEL_POSITIVE(X)
#define WW_CODEL_COLUMNS(X) X(count, "packets", "dropped or marked since dropping began")
#define WW_CODEL_KERNEL(X)                \
    X(TIME, target, TCA_CODEL_TARGET)     \
    X(TIME, interval, TCA_CODEL_INTERVAL) \
    X(SWITCH, ecn, TCA_CODEL_ECN)         \
    X(TIME, ce_threshold, TCA_CODEL_CE_THRESHOLD)

namespace ww::sim {

struct CoDel {
    WW_CODEL_SETTINGS(WW_SETTING_MEMBER)
};

class CoDelQueue : public Discipline {
  public:
    static constexpr bool kHolds = true;

    CoDelQueue(const CoDel& settings, const Place&) : settings_(settings) {}

    Verdict dequeue(Time now, const Head& head) {
        const Verdict verdict = control(now, head);
        const bool is_late = now - head.arrival > settings_.ce_threshold;
        return verdict == Verdict::pass && is_late && head.is_ecn_capable ? Verdict::mark : verdict;
    }

    std::uint32_t count() const { return count_; }

  private:
    // The RFC's dequeue.
    Verdict control(Time now, const Head& head) {
        const bool may_drop = stands(now, head);
        if (was_dropped_ && may_drop) drop_next_ = control_law(drop_next_);
        was_dropped_ = false;
        if (!may_drop) {
            is_dropping_ = false;
            return Verdict::pass;
        }
        if (!is_dropping_) {
            begin(now);
            return marks(head) ? Verdict::mark : Verdict::drop;
        }
        if (now < drop_next_) return Verdict::pass;
        count_++;
        if (marks(head)) {
            drop_next_ = control_law(drop_next_);
            return Verdict::mark;
        }
        was_dropped_ = true;
        return Verdict::drop;
    }

    // dodequeue: returns whether the queue has stood for an interval.
    bool stands(Time now, const Head& head) {
        if (now - head.arrival < settings_.target ||
            head.bytes_behind <= settings_.max_packet_bytes) {
            first_above_ = kNever;
            return false;
        }
        if (first_above_ == kNever) {
            first_above_ = now + settings_.interval;
            return false;
        }
        return now >= first_above_;
    }

    void begin(Time now) {
        is_dropping_ = true;
        const std::uint32_t drops = count_ - last_count_;
        count_ = drops > 1 && now - drop_next_ < 16 * settings_.interval ? drops : 1;
        drop_next_ = control_law(now);
        last_count_ = count_;
    }

    Time control_law(Time from) const {
        return from + static_cast<Time>(static_cast<double>(settings_.interval) /
                                        std::sqrt(static_cast<double>(count_)));
    }

    bool marks(const Head& head) const { return settings_.ecn && head.is_ecn_capable; }

    CoDel settings_;
    Time first_above_ = kNever;  // when packets may be dropped; kNever: the delay is not above
    Time drop_next_ = 0;
    std::uint32_t count_ = 0, last_count_ = 0;  // drops since dropping began; count_ when it began
    bool is_dropping_ = false, was_dropped_ = false;
};

}  // namespace ww::sim
