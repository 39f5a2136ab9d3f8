/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * Drives a congestion control under test, whosever it is, ACK by ACK, and records what it says and
 * does.
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

/** \brief A congestion control, and what its socket recovers by. */
struct WwSubject
{
    std::string name;         //!< in reports
    ObjectFactory congestion; //!< makes the congestion control
    ObjectFactory recovery;   //!< makes the recovery
    std::string newReno;      //!< the factory of sockets without SACK that go with it

    /**
     * \brief This module's
     * \param protocol value of WwTcpWestwood's attribute Protocol
     * \return the subject
     */
    static WwSubject Ours(const std::string& protocol = "westwood+");
    /**
     * \brief What makes this module's congestion control
     * \param protocol value of the attribute Protocol
     * \param more other attributes and their values
     * \return it
     */
    static ObjectFactory Factory(const std::string& protocol,
                                 const std::vector<std::pair<std::string, std::string>>& more = {});
    /**
     * \brief A setting that a protocol has of its own
     * \param protocol value of the attribute Protocol
     * \param name of the attribute
     * \return its value as text
     */
    static std::string Setting(const std::string& protocol, const std::string& name);
    /**
     * \brief The members of the family that set their windows by the estimate when there is a
     * loss: those without CongControl
     * \return their names
     */
    static std::vector<std::string> Classics();
    /**
     * \brief This ns-3's Westwood+, under whichever name it has
     * \return the subject, if there is one
     */
    static std::optional<WwSubject> Mainline();
};

/** \brief What a congestion control's EstimatedBW says, whether it speaks of numbers or DataRates.
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
     * \brief The mean over time, from `begin` to now
     * \param begin when to begin
     * \return bit/s
     */
    double Mean(Time begin) const;

    std::vector<std::pair<Time, double>> all; //!< when, and the new estimate in bit/s

  private:
    void Number(double, double bw);
    void Rate(DataRate, DataRate bw);
};

/** \brief A congestion control without a socket: the test says what the socket would. */
class WwDriven
{
  public:
    /**
     * \brief Start with cwnd 100, ssthresh 50, and round trips of 100 ms
     * \param congestion makes the congestion control
     */
    explicit WwDriven(const ObjectFactory& congestion);

    /**
     * \brief An ACK for new data
     * \param after the ACK before
     * \param segments that it covers
     */
    void Ack(Time after, uint32_t segments = 1);
    /**
     * \brief An ACK for new data that brings another round trip
     * \param after the ACK before
     * \param segments that it covers
     * \param rtt its sample
     * \param smoothed the mean after it
     */
    void Ack(Time after, uint32_t segments, Time rtt, Time smoothed);
    /**
     * \brief A duplicate ACK, as the socket's ProcessAck reports it
     * \param after the ACK before
     * \param third it starts recovery, which the socket does before it reports it
     */
    void DupAck(Time after, bool third = false);
    /**
     * \brief Acknowledge a segment every 10 ms at an RTTmin of 100 ms: the pipe is ten segments
     * \param acks how many
     */
    void Settle(int acks = 2000);
    /** \brief Duplicate ACKs until recovery starts */
    void ThreeDupAcks();
    /** \brief The retransmission timer expires. */
    void Timeout();
    /**
     * \brief An attribute of the congestion control
     * \param name its name
     * \param value its value
     */
    void SetAttribute(const std::string& name, const AttributeValue& value);

    static constexpr uint32_t MSS = 1000; //!< bytes
    static constexpr double RATE = 8e5;   //!< what Settle's ACKs acknowledge, bit/s
    Ptr<TcpSocketState> tcb;              //!< what a socket would have
    Ptr<TcpCongestionOps> ops;            //!< the congestion control
    WwEstimates estimates;                //!< its estimates
    std::vector<double> samples;          //!< the module's samples, bit/s

  private:
    void Sample(double, double bw);
};

} // namespace ns3

#endif /* WW_SUBJECT_H */
