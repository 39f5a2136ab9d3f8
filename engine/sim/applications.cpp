// SPDX-License-Identifier: BSD-3-Clause
//
// Lets the applications of connections write data. Runs without them pay nothing for this.
#include "simulation.hpp"

namespace ww::sim {
namespace {

SenderState state_of(const Sender& sender) {
    return {sender.una(), sender.sent_below(), sender.transmissions(), sender.awaits_application()};
}

}  // namespace

void Simulation::next_application_timer() {
    TimerQueue& queue = application_timers_.queue;
    Connection& c = connections_[queue.next_owner()];
    const Time now = queue.next();
    Timer& timer = writer_of(c)->timer;
    if (queue.is_due(timer)) after_sender(c, now);
    queue.requeue(timer);
    timers_.set(application_timers_.slot, queue.next());
}

void Simulation::serve_application(Connection& c, Time now) {
    Writer* const writer = writer_of(c);
    Sender& sender = c.sender();
    if (writer == nullptr || !sender.established()) return;
    if (writer->serve(now, state_of(sender))) {
        sender.write(now, writer->written(), writer->silence(now));
        send_one_by_one(c, now);
    }
    writer->watch(now, state_of(sender));
    writer->timer.deadline = writer->next_at();
    if (writer->timer.deadline < writer->timer.queued)
        reschedule(application_timers_, writer->timer, c.slot);
}

}  // namespace ww::sim
