/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * Translates the states of ns-3's sockets into the core's phases. Users of the module don't need
 * this header.
 */
#ifndef WW_PHASE_H
#define WW_PHASE_H

#include "core/contract.h"

#include "ns3/tcp-socket-state.h"

namespace ns3
{

/**
 * \brief Translate a state of ns-3's sockets into the core's phase
 * \param state the socket's state
 * \return the phase
 */
inline ww_phase
WwPhaseOf(TcpSocketState::TcpCongState_t state)
{
    switch (state)
    {
    case TcpSocketState::CA_DISORDER:
        return WW_DISORDER;
    case TcpSocketState::CA_CWR:
    case TcpSocketState::CA_RECOVERY:
        return WW_RECOVERY;
    case TcpSocketState::CA_LOSS:
        return WW_LOSS;
    case TcpSocketState::CA_OPEN:
    case TcpSocketState::CA_LAST_STATE:
        break;
    }
    return WW_OPEN;
}

} // namespace ns3

#endif /* WW_PHASE_H */
