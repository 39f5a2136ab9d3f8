// SPDX-License-Identifier: BSD-3-Clause
//
// What a learner can know of a step, declared once. A row generates the number that the agent computes, what
// westwood.gym offers as an observation, and the table in docs/gym.md.
//
//   X(name, least, most, "what it is")
//
// An observation is cut to these bounds, which the observation space has.
#pragma once

#define WW_STEP_COLUMNS(X)                                                           \
    X(duration_s, 0, 1e6, "length of the step")                                      \
    X(sent, 0, 1e9, "segments sent, retransmissions included")                       \
    X(delivered, 0, 1e9, "segments reported as arrived, by SACK too")                \
    X(lost, 0, 1e9, "segments found lost")                                           \
    X(marks, 0, 1e9, "responses that a congestion mark asks for")                    \
    X(acks, 0, 1e9, "ACKs")                                                          \
    X(sent_bps, 0, 1e12, "payload sent")                                             \
    X(delivered_bps, 0, 1e12, "payload reported as arrived")                         \
    X(lost_bps, 0, 1e12, "payload found lost")                                       \
    X(best_bps, 0, 1e12, "largest delivered_bps of the episode so far")              \
    X(pacing_bps, 0, 1e12, "pacing rate at the end; without pacing, cwnd in srtt_s") \
    X(cwnd, 0, 1e9, "cwnd at the end, segments")                                     \
    X(ssthresh, 0, 1e9, "ssthresh at the end, segments")                             \
    X(in_flight, 0, 1e9, "segments in flight at the last ACK")                       \
    X(rtt_s, 0, 1e4, "mean of the RTT samples; without one, as in the step before")  \
    X(rtt_increase_s, -1e4, 1e4,                                                     \
      "mean of the later half of the RTT samples less the earlier half")             \
    X(min_rtt_s, 0, 1e4, "smallest RTT sample of the episode")                       \
    X(srtt_s, 0, 1e4, "smoothed RTT at the last ACK")                                \
    X(loss, 0, 1, "lost / (lost + delivered)")                                       \
    X(latency_inflation, -1, 10, "rtt_increase_s / duration_s")                      \
    X(latency_ratio, 1, 1e4, "rtt_s / min_rtt_s")                                    \
    X(send_ratio, 0, 1000, "sent / delivered; 1 if nothing is delivered")            \
    X(delivery_ratio, 0, 1, "delivered_bps / best_bps")                              \
    X(pacing_ratio, 0, 10, "pacing_bps / best_bps")                                  \
    X(loss_cost, 0, 1000, "5 lost_bps / best_bps")                                   \
    X(acks_ratio, 0, 1000, "acks / cwnd")                                            \
    X(delay_ratio, 0, 1, "min_rtt_s / srtt_s")                                       \
    X(delay_metric, 0, 1, "1.25 min_rtt_s / srtt_s, at most 1")

namespace ww::sim {

struct StepRow {
#define WW_ROW(name, ...) double name = 0;
    WW_STEP_COLUMNS(WW_ROW)
#undef WW_ROW
};

}  // namespace ww::sim
