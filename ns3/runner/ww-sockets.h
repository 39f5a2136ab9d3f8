/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * Translates a plan's flow into the attributes of its sockets.
 */
#ifndef WW_SOCKETS_H
#define WW_SOCKETS_H

#include "core/westwood.h"
#include "ww-plan.h"

#include "ns3/core-module.h"
#include "ns3/internet-module.h"

#include <algorithm>
#include <string>

namespace ns3
{

/// Sets the attributes of the next sockets: ns-3 has no other way to give each connection its own.
inline void
SetSocketDefaults(const ww::sim::Flow& f)
{
    const uint64_t ssthresh = f.initial_ssthresh == WW_SSTHRESH_INFINITE
                                  ? UINT32_MAX
                                  : uint64_t{f.initial_ssthresh} * f.mss();
    const auto set = [](const std::string& name, const AttributeValue& value) {
        Config::SetDefault("ns3::" + name, value);
    };
    set("TcpSocket::SegmentSize", UintegerValue(f.mss()));
    set("TcpSocket::InitialCwnd", UintegerValue(f.initial_cwnd));
    set("TcpSocket::InitialSlowStartThreshold",
        UintegerValue(std::min<uint64_t>(ssthresh, UINT32_MAX)));
    set("TcpSocket::SndBufSize", UintegerValue(f.receive_window_bytes));
    set("TcpSocket::RcvBufSize", UintegerValue(f.receive_window_bytes));
    set("TcpSocket::ConnTimeout", TimeValue(TimeOf(f.initial_rto)));
    set("TcpSocket::DelAckCount", UintegerValue(f.delayed_ack));
    set("TcpSocket::DelAckTimeout", TimeValue(TimeOf(f.delayed_ack_timeout)));
    set("TcpSocket::DataRetries", UintegerValue(1000000));
    set("TcpSocketBase::MinRto", TimeValue(TimeOf(f.min_rto)));
    set("TcpSocketBase::ReTxThreshold", UintegerValue(f.dupack_threshold));
    set("TcpSocketBase::LimitedTransmit", BooleanValue(f.limited_transmit));
    set("TcpSocketBase::Timestamp", BooleanValue(f.timestamps));
    set("TcpSocketBase::UseEcn", EnumValue(f.ecn ? TcpSocketState::On : TcpSocketState::Off));
}

/// Returns the parameters of a user's control as the attribute has them; other controls have none.
inline std::string
ParametersOf(const ww_config& cc)
{
    std::string text;
    const uint32_t count = cc.algorithm == WW_ALG_LOADED ? cc.control->parameter_count : 0;
    for (uint32_t i = 0; i < count; i++)
    {
        text += (i == 0 ? "" : " ") + std::to_string(cc.own[i]);
    }
    return text;
}

} // namespace ns3

#endif /* WW_SOCKETS_H */
