/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * Drives a congestion control of any origin ACK by ACK, and records its estimates and windows.
 */
#ifndef WW_SUBJECT_H
#define WW_SUBJECT_H

#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ns3
{

/** \brief A congestion control and its sockets' recovery. */
struct WwSubject
{
    std::string name;         //!< name in reports
    ObjectFactory congestion; //!< factory of the congestion control
    ObjectFactory recovery;   //!< factory of the recovery
    std::string newReno;      //!< factory of the matching sockets without SACK

    /**
     * \brief Get this module's
     * \param protocol value of WwTcpWestwood's attribute Protocol
     * \return the subject
     */
    static WwSubject Ours(const std::string& protocol = "westwood+");
    /**
     * \brief Get the factory of this module's congestion control
     * \param protocol value of the attribute Protocol
     * \param more other attributes and their values
     * \return the factory
     */
    static ObjectFactory Factory(const std::string& protocol,
                                 const std::vector<std::pair<std::string, std::string>>& more = {});
    /**
     * \brief Get a protocol's own value of a setting
     * \param protocol value of the attribute Protocol
     * \param name of the attribute
     * \return the value as text
     */
    static std::string Setting(const std::string& protocol, const std::string& name);
    /**
     * \brief Get the members of the family that set their windows by the estimate on a loss: those
     * without CongControl
     * \return their names
     */
    static std::vector<std::string> Classics();
    /**
     * \brief Get this ns-3's Westwood+, under any of its names
     * \return the subject, if there is one
     */
    static std::optional<WwSubject> Mainline();
};

/** \brief Records a congestion control's EstimatedBW, whether it traces numbers or DataRates.
 */
class WwEstimates
{
  public:
    /**
     * \brief Start listening
     * \param ops the congestion control
     */
    void Connect(Ptr<TcpCongestionOps> ops);
    /**
     * \brief Get the mean over time, from `begin` to now
     * \param begin the start
     * \return bit/s
     */
    double Mean(Time begin) const;

    std::vector<std::pair<Time, double>> all; //!< when, and the new estimate in bit/s

  private:
    void Number(double, double bw);
    void Rate(DataRate, DataRate bw);
};

/** \brief A congestion control without a socket: the test plays the socket. */
class WwDriven
{
  public:
    /**
     * \brief Start with cwnd 100, ssthresh 50, and RTTs of 100 ms
     * \param congestion factory of the congestion control
     */
    explicit WwDriven(const ObjectFactory& congestion);

    /**
     * \brief Deliver an ACK for new data
     * \param after time since the previous ACK
     * \param segments number of segments that it covers
     */
    void Ack(Time after, uint32_t segments = 1);
    /**
     * \brief Deliver an ACK for new data with another RTT
     * \param after time since the previous ACK
     * \param segments number of segments that it covers
     * \param rtt its sample
     * \param smoothed the smoothed RTT after it
     */
    void Ack(Time after, uint32_t segments, Time rtt, Time smoothed);
    /**
     * \brief Acknowledge a segment every 10 ms at an RTTmin of 100 ms: the pipe is ten segments
     * \param acks number of ACKs
     */
    void Settle(int acks = 2000);

    static constexpr uint32_t MSS = 1000; //!< bytes
    Ptr<TcpSocketState> tcb;              //!< the socket's state
    Ptr<TcpCongestionOps> ops;            //!< the congestion control
    WwEstimates estimates;                //!< its estimates
};

} // namespace ns3

#endif /* WW_SUBJECT_H */
