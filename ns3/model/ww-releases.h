/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * Hides the differences between ns-3's releases. Detects them by features, not by version numbers.
 * Users of the module don't need this header.
 */
#ifndef WW_RELEASES_H
#define WW_RELEASES_H

#include "ns3/enum.h"
#include "ns3/ptr.h"
#include "ns3/tcp-socket-state.h"
#include "ns3/type-id.h"

#include <cstdint>
#include <type_traits>

namespace ns3
{

// Newer releases require the enumeration as a template argument of MakeEnumAccessor, older ones
// reject it. EnumAccessor calls the form that exists.
template <class E, class Field>
auto
ChooseEnumAccessor(Field field, int) -> decltype(MakeEnumAccessor<E>(field))
{
    return MakeEnumAccessor<E>(field);
}

template <class E, class Field>
auto
ChooseEnumAccessor(Field field, long) -> decltype(MakeEnumAccessor(field))
{
    return MakeEnumAccessor(field);
}

template <class E, class Field>
auto
EnumAccessor(Field field)
{
    return ChooseEnumAccessor<E>(field, 0);
}

// Up to 3.44 a class names the TypeId of its instances by overriding GetInstanceTypeId, and so must
// every class derived from it. From 3.45 on Object does this, and overriding is an error.
template <class Self, class Base, class = TypeId (Base::*)() const>
class WwNamed : public Base
{
};

template <class Self, class Base>
class WwNamed<Self, Base, decltype(&Base::GetInstanceTypeId)> : public Base
{
  public:
    TypeId GetInstanceTypeId() const override
    {
        return Self::GetTypeId();
    }
};

// After 3.48 EnterRecovery has one more argument, which Base receives unchanged. A subclass
// overrides Entered to act afterwards.
template <class Base, class = decltype(&Base::EnterRecovery)>
class WwEntering;

template <class Base, class... More>
class WwEntering<Base, void (Base::*)(Ptr<TcpSocketState>, uint32_t, uint32_t, uint32_t, More...)>
    : public Base
{
  public:
    void EnterRecovery(Ptr<TcpSocketState> tcb,
                       uint32_t dupAckCount,
                       uint32_t unAckDataCount,
                       uint32_t deliveredBytes,
                       More... more) override
    {
        const uint32_t before = tcb->m_cWnd.Get();
        Base::EnterRecovery(tcb, dupAckCount, unAckDataCount, deliveredBytes, more...);
        Entered(tcb, before);
    }

  protected:
    virtual void Entered(Ptr<TcpSocketState> tcb, uint32_t cwndBefore) = 0;
};

// Calls EnterRecovery with zeros for the arguments that only some releases have.
template <class Recovery, class Tcb, class... More>
void
EnterRecoveryOf(Recovery& recovery,
                void (Recovery::*enter)(Tcb, uint32_t, uint32_t, uint32_t, More...),
                Tcb tcb,
                uint32_t dupAckCount,
                uint32_t unAckDataCount)
{
    (recovery.*enter)(tcb, dupAckCount, unAckDataCount, 0, More{}...);
}

// If the socket's state has m_srtt, its m_lastRtt is the last RTT sample. In older releases it is
// the smoothed RTT.
template <class State, class = void>
struct KeepsRttSamples : std::false_type
{
};

template <class State>
struct KeepsRttSamples<State, std::void_t<decltype(State::m_srtt)>> : std::true_type
{
};

// Returns the smoothed RTT in microseconds.
template <class State>
uint32_t
SmoothedRttUs(const State& state)
{
    if constexpr (KeepsRttSamples<State>::value)
    {
        return static_cast<uint32_t>(state.m_srtt.Get().GetMicroSeconds());
    }
    else
    {
        return static_cast<uint32_t>(state.m_lastRtt.Get().GetMicroSeconds());
    }
}

// The duration of a test case is an enumeration of TestCase, which is scoped since 3.42.
template <class Case>
constexpr auto
TakesForever(int) -> decltype(Case::Duration::TAKES_FOREVER)
{
    return Case::Duration::TAKES_FOREVER;
}

template <class Case>
constexpr auto
TakesForever(long) -> decltype(Case::TAKES_FOREVER)
{
    return Case::TAKES_FOREVER;
}

} // namespace ns3

#endif /* WW_RELEASES_H */
