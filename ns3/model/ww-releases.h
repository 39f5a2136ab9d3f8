/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * What differs between ns-3's releases, and matters here. No header of the module's users.
 */
#ifndef WW_RELEASES_H
#define WW_RELEASES_H

#include "ns3/enum.h"

#include <type_traits>

namespace ns3
{

// MakeEnumAccessor takes the enumeration as a template argument in newer releases, and must not in
// older ones: whichever of the two is there.
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

// Where the socket's state has m_srtt, m_lastRtt is the last sample; before, it was the smoothed RTT.
template <class State, class = void>
struct KeepsRttSamples : std::false_type
{
};

template <class State>
struct KeepsRttSamples<State, std::void_t<decltype(State::m_srtt)>> : std::true_type
{
};

} // namespace ns3

#endif /* WW_RELEASES_H */
