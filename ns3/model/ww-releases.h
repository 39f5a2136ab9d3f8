/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * Hides where ns-3's releases differ. Users of the module don't need this header.
 */
#ifndef WW_RELEASES_H
#define WW_RELEASES_H

#include "ns3/enum.h"

#include <type_traits>

namespace ns3
{

// Newer releases give MakeEnumAccessor the enumeration as a template argument, and older ones must
// not. EnumAccessor calls the one that is there.
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

// A test case's duration is an enumeration of TestCase, which is scoped since 3.42.
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
