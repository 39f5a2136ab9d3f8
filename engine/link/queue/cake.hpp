// SPDX-License-Identifier: BSD-3-Clause
//
// Common Applications Kept Enhanced (CAKE; the sources are those of cobalt.hpp): COBALT for each flow, a round robin
// (flow_queues.hpp) that is fair between hosts, and a shaper. What differs from flow_queues.hpp:
//
//   hash     1024 queues in sets of 8: a flow has the queue with its tag, else an unused one of its set, else, if all
//            are used, the one that its hash names
//   lists    A new queue that is found empty leaves at once. An empty queue whose COBALT is not at rest decays: one of
//            these is visited before each packet. So an empty flow that comes back is new, with a quantum of credit
//   hosts    A queue becomes bulk when it runs out of credit while packets wait in it, and stays so until it is empty.
//            Its quantum is divided by the number of bulk queues of the flow's source or sink, whichever is larger
//            (triple isolation), and is rounded up at random
//   quantum  1514 bytes; with the shaper what it sends in 1/4096 s, within 300 to 1514
//   shaper   (deficit mode) A packet may leave at time_next, to which the time that it takes at `bandwidth` is then
//            added. A packet that finds the queue empty moves a past time_next to now, so idle time gives no burst. A
//            packet's size, here and as credit, is its IP bytes and `overhead`, at least `mpu`
//   COBALT   With the shaper target is at least 1.5 largest packets, interval grows by what target does, and is at
//            least 2 target
//   limit    A full buffer drops the head of the queue with the most bytes
//
// It marks all flows that are ECN-capable; there is no switch. Left out: the tins of Diffserv (all packets are best
// effort), the filter of ACKs (the link's ack_filter does the same), framing of ATM and PTM, autorate, ingress mode,
// the other modes of isolation, washing, splitting of GSO packets, and a limit in bytes of memory.
#pragma once

#include <algorithm>
#include <utility>

#include "cobalt.hpp"
#include "flow_queues.hpp"

#define WW_CAKE_SETTINGS(X)                                                                   \
    X(TIME, target, 5'000 * kMicrosecond, 1, kHour, "Acceptable delay of a standing queue",   \
      "sch_cake.c: a twentieth of interval.")                                                 \
    X(TIME, interval, 100'000 * kMicrosecond, 1, kHour, "A large RTT of the flows: tc's rtt", \
      "sch_cake.c.")                                                                          \
    X(BYTES, max_packet, 1500, 1, 65535, "Largest packet of the shaper's target",             \
      "The IP packet of an Ethernet path (RFC 894); Linux takes the device's MTU.")           \
    X(RATE, bandwidth, 0, 0, kFastest, "Rate of the shaper; 0bps: none, the link decides",    \
      "sch_cake.c.")                                                                          \
    X(BYTES, overhead, 0, 0, 256, "Framing that the shaper adds to each packet",              \
      "sch_cake.c; tc has a keyword for each kind of link.")                                  \
    X(BYTES, mpu, 0, 0, 256, "Least size of a packet for the shaper", "sch_cake.c.")          \
    X(SWITCH, hosts, true, 0, 1, "Shares between hosts before it shares between their flows", \
      "sch_cake.c: triple-isolate.")
#define WW_CAKE_RISING(X)
#define WW_CAKE_POSITIVE(X)
#define WW_CAKE_COLUMNS(X) \
    WW_FQ_CODEL_COLUMNS(X) X(decaying_queues, "", "empty queues whose COBALT is not at rest")
#define WW_CAKE_KERNEL(X)                    \
    X(TIME, target, TCA_CAKE_TARGET)         \
    X(TIME, interval, TCA_CAKE_RTT)          \
    X(RATE, bandwidth, TCA_CAKE_BASE_RATE64) \
    X(BYTES, overhead, TCA_CAKE_OVERHEAD)    \
    X(BYTES, mpu, TCA_CAKE_MPU)

namespace ww::sim {

struct Cake {
    WW_CAKE_SETTINGS(WW_SETTING_MEMBER)
};

class CakeQueue : public FlowQueues<Cobalt, CakeQueue> {
  public:
    static constexpr bool kSheds = true;

    CakeQueue(const Cake& settings, const Place& place)
        : FlowQueues(kQueues, quantum_of(settings), place.random,
                     [&](const Random& random) { return cobalt_of(settings, random); }),
          settings_(settings),
          random_(place.random),
          flows_(kQueues) {}

    Verdict enqueue(Time now, const Backlog& backlog, bool) {
        if (backlog.packets == 0) time_next_ = std::max(time_next_, now);
        return Verdict::pass;
    }

    std::uint32_t line_of(const Joining& packet) {
        const std::uint32_t line = FlowQueues::line_of(packet), first = line - line % kWays;
        const auto way = [&](std::uint32_t i) { return first + (line + i) % kWays; };
        std::uint32_t i = 0;
        while (i < kWays && flows_[way(i)].tag != packet.flow + 1) i++;
        if (i == kWays) {
            i = 0;
            while (i < kWays && flows_[way(i)].set != Set::none) i++;
        }
        const std::uint32_t chosen = i == kWays ? line : way(i);
        Flow& flow = flows_[chosen];
        if (flow.set == Set::bulk) count_hosts(flow, -1);
        flow.tag = packet.flow + 1;
        flow.source = packet.source;
        flow.sink = packet.sink;
        if (flow.set == Set::bulk) count_hosts(flow, 1);
        return chosen;
    }

    void join(std::uint32_t line) {
        Set& set = flows_[line].set;
        if (set == Set::decaying) remove_decaying(line);
        if (set == Set::waiting)
            become_bulk(line);
        else if (set != Set::bulk)
            set = Set::sparse;
        FlowQueues::join(line);
    }

    Verdict dequeue(Time now, const Head& head) {
        const Verdict verdict = FlowQueues::dequeue(now, head);
        is_next_packet_ = verdict != Verdict::drop;
        if (is_next_packet_ && settings_.bandwidth_bps > 0)
            time_next_ += cost(head) * 8 * kSecond / settings_.bandwidth_bps;
        return verdict;
    }

    std::uint32_t drop_batch() const { return 1; }
    void shed(Time now, std::uint32_t line) { queues_[line].aqm.shed(now); }
    Time opens() const { return settings_.bandwidth_bps > 0 ? time_next_ : 0; }
    std::size_t decaying_queues() const { return decaying_.size(); }

    // ---- replaces what FlowQueues has
    Ring<std::uint32_t>& served_list() {
        if (std::exchange(is_next_packet_, false) && !decaying_.empty()) return decaying_;
        return !new_.empty() ? new_ : !old_.empty() ? old_ : decaying_;
    }
    std::int64_t quantum(std::uint32_t line) {
        const Flow& flow = flows_[line];
        const std::uint32_t load = std::max({1u, bulk_from_[flow.source], bulk_to_[flow.sink]});
        if (load == 1) return quantum_bytes_;
        return static_cast<std::int64_t>(static_cast<double>(quantum_bytes_) / load +
                                         random_.open_unit());
    }
    std::int64_t cost(const Head& head) const {
        return std::max(head.ip_bytes + settings_.overhead_bytes, settings_.mpu_bytes);
    }
    void wait(std::uint32_t line, bool is_empty) {
        if (flows_[line].set != Set::sparse) return;
        if (is_empty)
            flows_[line].set = Set::waiting;
        else
            become_bulk(line);
    }
    void leave(Time now, std::uint32_t line, bool) {
        Flow& flow = flows_[line];
        if (flow.set == Set::bulk) count_hosts(flow, -1);
        const bool rests = queues_[line].aqm.rests(now);
        flow.set = rests ? Set::none : Set::decaying;
        queues_[line].is_listed = false;
        if (!rests) decaying_.push(line);
    }

  private:
    static constexpr std::uint32_t kQueues = 1024, kWays = 8;

    // A waiting queue was sparse when it became empty, and stands among the old ones.
    enum class Set : std::uint8_t { none, sparse, waiting, bulk, decaying };
    struct Flow {
        std::uint64_t tag = 0;
        std::uint32_t source = 0, sink = 0;
        Set set = Set::none;
    };
    // Bulk queues by host; hosts are numbered as nodes.
    struct Hosts {
        std::uint32_t& operator[](std::uint32_t host) {
            if (host >= count.size()) count.resize(host + 1);
            return count[host];
        }
        std::vector<std::uint32_t> count;
    };

    static std::uint32_t quantum_of(const Cake& settings) {
        const std::int64_t sent = settings.bandwidth_bps / 8 / 4096;
        if (settings.bandwidth_bps == 0) return 1514;
        return static_cast<std::uint32_t>(std::clamp<std::int64_t>(sent, 300, 1514));
    }
    static Cobalt cobalt_of(const Cake& settings, const Random& random) {
        const Time packet_time = settings.bandwidth_bps == 0
                                     ? 0
                                     : static_cast<Time>(settings.max_packet_bytes) * 8 * kSecond /
                                           settings.bandwidth_bps;
        const Time target = std::max(settings.target, packet_time * 3 / 2);
        const Time interval = settings.interval + target - settings.target;
        return Cobalt(target, std::max(interval, 2 * target), packet_time, random);
    }

    void become_bulk(std::uint32_t line) {
        flows_[line].set = Set::bulk;
        count_hosts(flows_[line], 1);
    }
    void count_hosts(const Flow& flow, int by) {
        if (!settings_.hosts) return;
        bulk_from_[flow.source] += static_cast<std::uint32_t>(by);
        bulk_to_[flow.sink] += static_cast<std::uint32_t>(by);
    }
    void remove_decaying(std::uint32_t line) {
        for (std::size_t left = decaying_.size(); left > 0; left--) {
            const std::uint32_t other = decaying_.front();
            decaying_.pop();
            if (other != line) decaying_.push(other);
        }
    }

    Cake settings_;
    Random random_;
    std::vector<Flow> flows_;  // by line
    Hosts bulk_from_, bulk_to_;
    Ring<std::uint32_t> decaying_;
    Time time_next_ = 0;
    bool is_next_packet_ = true;  // the last one was sent, and no queue was visited since
};

}  // namespace ww::sim
