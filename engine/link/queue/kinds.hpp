// SPDX-License-Identifier: BSD-3-Clause
//
// The kinds of queues. A row makes a discipline known to scenarios, plans, bindings, the laboratory and the
// tests over all kinds:
//
//   X(name, settings, class, PREFIX, "title", "class in ns-2", "class in ns-3", "discipline in Linux")
//
// `name` is the kind's word everywhere, and the member of a direction with its settings. An empty class
// means that this simulator refuses the kind. --engine linux uses the kernel's discipline (linux/path/queues.hpp),
// and the engine's own where the column is empty and the kind decides on arrival. The discipline's file declares
//
//   WW_PREFIX_SETTINGS(X)  its settings, as in engine/settings.hpp
//   WW_PREFIX_RISING(X)    X(kind, lesser, greater): the second of two settings must exceed the first
//   WW_PREFIX_POSITIVE(X)  X(kind, name): a setting that must be more than 0
//   WW_PREFIX_COLUMNS(X)   X(name, "unit", "what it is"): a column of its trace, which name() of the class returns
//   WW_PREFIX_KERNEL(X)    X(kind, name, ATTRIBUTE): a setting of Linux's discipline and its attribute in
//                          linux/pkt_sched.h; kAlways: Linux has the switch on, whatever a scenario says. Linux has
//                          the default of the others, and takes max_packet from the device's MTU
#pragma once

#include <variant>

#include "cake.hpp"
#include "codel.hpp"
#include "dualpi2.hpp"
#include "fq_codel.hpp"
#include "fq_pie.hpp"
#include "pie.hpp"
#include "red.hpp"

#define WW_QUEUE_KINDS(X)                                                                        \
    X(red, Red, RedQueue, RED, "RED", "RED", "RedQueueDisc", "")                                 \
    X(codel, CoDel, CoDelQueue, CODEL, "CoDel", "", "CoDelQueueDisc", "codel")                   \
    X(fq_codel, FqCoDel, FqCoDelQueue, FQ_CODEL, "FQ-CoDel", "", "FqCoDelQueueDisc", "fq_codel") \
    X(pie, Pie, PieQueue, PIE, "PIE", "", "PieQueueDisc", "pie")                                 \
    X(fq_pie, FqPie, FqPieQueue, FQ_PIE, "FQ-PIE", "", "FqPieQueueDisc", "fq_pie")               \
    X(cake, Cake, CakeQueue, CAKE, "CAKE", "", "", "cake")                                       \
    X(dualpi2, DualPi2, DualPi2Queue, DUALPI2, "DualPI2", "", "", "")

namespace ww::sim {

enum class QueueKind {
    droptail,
#define WW_QUEUE(name, ...) name,
    WW_QUEUE_KINDS(WW_QUEUE)
#undef WW_QUEUE
};

// Returns whether a kind's packets wait in a list until the discipline lets them go.
constexpr bool holds(QueueKind kind) {
    switch (kind) {
#define WW_QUEUE(name, Settings, Queue, ...) \
    case QueueKind::name:                    \
        return Queue::kHolds;
        WW_QUEUE_KINDS(WW_QUEUE)
#undef WW_QUEUE
    case QueueKind::droptail:
        break;
    }
    return false;
}

#define WW_QUEUE(name, Settings, Queue, ...) , Queue
using AnyDiscipline = std::variant<Discipline WW_QUEUE_KINDS(WW_QUEUE)>;  // by kind
#undef WW_QUEUE

// Calls take(value) for each column of a discipline, in the order of their declarations.
template <class Take>
void each_column(const Discipline&, Take) {}
#define WW_STATE(name, ...) take(static_cast<double>(queue.name()));
#define WW_QUEUE(name, Settings, Queue, PREFIX, ...)                                    \
    template <class Take>                                                               \
    void each_column([[maybe_unused]] const Queue& queue, [[maybe_unused]] Take take) { \
        WW_##PREFIX##_COLUMNS(WW_STATE)                                                 \
    }
WW_QUEUE_KINDS(WW_QUEUE)
#undef WW_QUEUE
#undef WW_STATE

}  // namespace ww::sim
