// SPDX-License-Identifier: BSD-3-Clause
//
// Prints the windows that ns-3's own congestion controls set for the ACKs and losses of script.py, one line
// `ACK CWND VALUE` for each 500th ACK. The recorded output is ns3_windows.txt; README.md has the commands.
#include <cstdint>
#include <iostream>
#include <string>

#include "ns3/core-module.h"
#include "ns3/internet-module.h"

using namespace ns3;

namespace {

constexpr std::uint32_t kMss = 1000, kFlight = 200, kAcks = 20000;

// The queueing time in round trip r, ms.
std::uint32_t queue_ms(std::uint32_t r) {
    constexpr std::uint32_t times[] = {0, 2, 5, 10, 20, 35, 50, 20, 5, 1};
    return times[r % 10];
}

struct Script {
    std::string control;
    std::uint32_t cwnd, ssthresh, rtt_ms;
};

void run(const Script& script) {
    ObjectFactory factory("ns3::" + script.control);
    if (script.control == "TcpHybla") factory.Set("RRTT", TimeValue(MilliSeconds(25)));
    const auto control = factory.Create<TcpCongestionOps>();
    const auto tcb = CreateObject<TcpSocketState>();
    tcb->m_segmentSize = kMss;
    tcb->m_cWnd = script.cwnd * kMss;
    tcb->m_ssThresh = script.ssthresh * kMss;
    tcb->m_minRtt = MilliSeconds(script.rtt_ms);
    tcb->m_congState = TcpSocketState::CA_OPEN;
    tcb->m_isCwndLimited = true;
    double value = 0;
    if (script.control == "TcpDctcp") {
        control->Init(tcb);
        control->TraceConnectWithoutContext(
            "CongestionEstimate",
            Callback<void, std::uint32_t, std::uint32_t, double>(
                [&value](std::uint32_t, std::uint32_t, double alpha) { value = alpha; }));
    }
    std::cout << script.control << "\n";
    for (std::uint32_t i = 1; i <= kAcks; i++) {
        tcb->m_lastAckedSeq = SequenceNumber32(i * kMss);
        tcb->m_nextTxSequence = SequenceNumber32((i + kFlight) * kMss);
        const std::uint32_t round = (i - 1) / kFlight;
        const bool is_marked = round % 4 == 1 && i % 2 == 0;
        tcb->m_ecnState = is_marked ? TcpSocketState::ECN_ECE_RCVD : TcpSocketState::ECN_IDLE;
        const Time rtt = MilliSeconds(script.rtt_ms + queue_ms(round));
        tcb->m_lastRtt = rtt;
        control->PktsAcked(tcb, 1, rtt);
        control->IncreaseWindow(tcb, 1);
        if (i == 4000 || i == 9000 || i == 15000) {
            tcb->m_ssThresh = control->GetSsThresh(tcb, tcb->m_cWnd);
            tcb->m_cWnd = tcb->m_ssThresh;
        }
        if (i % 500 == 0) std::cout << i << " " << tcb->m_cWnd / kMss << " " << value << "\n";
    }
}

}  // namespace

int main() {
    for (const Script& script : {Script{"TcpHybla", 2, 300, 90}, Script{"TcpScalable", 60, 2, 90},
                                 Script{"TcpHighSpeed", 30, 2, 90},
                                 Script{"TcpIllinois", 20, 2, 90}, Script{"TcpDctcp", 20, 2, 90}})
        run(script);
    return 0;
}
