// SPDX-License-Identifier: GPL-2.0-only
#include "meter.hpp"

#include <poll.h>
#include <unistd.h>

#include <cinttypes>
#include <cstdio>

#include "../../engine/base/seconds.hpp"

namespace ww::path {
namespace {

template <class... Values>
std::string text(const char* format, Values... values) {
    char line[256];
    std::snprintf(line, sizeof line, format, values...);
    return line;
}

double mean_ms(double sum_s, std::uint64_t packets) {
    return packets == 0 ? 0.0 : 1e3 * sum_s / static_cast<double>(packets);
}

// Returns Mb/s.
double rate(std::uint64_t bytes, double seconds) {
    return seconds > 0 ? 8e-6 * static_cast<double>(bytes) / seconds : 0.0;
}

}  // namespace

Meter::Meter(const Model& model, int fd)
    : model_(model), fd_(fd), is_terminal_(::isatty(fd) == 1) {}

void Meter::tick(sim::Time now) {
    const std::string line = since_last(now, true) + "  " + since_last(now, false);
    last_ = now;
    write(is_terminal_ ? "\x1b]2;" + line + "\a" : line + "\n");
}

void Meter::sum_up(sim::Time now, const Lateness& lateness) {
    write((is_terminal_ ? "\x1b]2;\a" : "") + text("westwood: %.1f s:", sim::seconds(now)) +
          in_all(now, true) + ";" + in_all(now, false) +
          text("; late %.2f ms (99 %%)\n", 1e3 * sim::seconds(lateness.quantile(0.99))));
}

std::string Meter::since_last(sim::Time now, bool is_up) {
    const Carried& all = model_.carried(is_up);
    Carried& before = before_[is_up ? 0 : 1];
    const std::string line =
        text("%s %.2f Mb/s, %.1f ms, %.1f queued, %" PRIu64 " dropped, %" PRIu64 " lost",
             is_up ? "up" : "down", rate(all.bytes - before.bytes, sim::seconds(now - last_)),
             mean_ms(all.delay_s - before.delay_s, all.packets - before.packets),
             1e3 * sim::seconds(model_.backlog(now, is_up)), all.dropped - before.dropped,
             all.lost - before.lost);
    before = all;
    return line;
}

std::string Meter::in_all(sim::Time now, bool is_up) const {
    const Carried& all = model_.carried(is_up);
    return text(" %s %.2f MB, %.2f Mb/s, %.1f ms (longest %.1f), %" PRIu64 " dropped, %" PRIu64
                " lost",
                is_up ? "up" : "down", 1e-6 * static_cast<double>(all.bytes),
                rate(all.bytes, sim::seconds(now)), mean_ms(all.delay_s, all.packets),
                1e3 * all.longest_s, all.dropped, all.lost);
}

// Drops what cannot be written at once: the path must not wait for its reader.
void Meter::write(const std::string& text) const {
    pollfd ready{fd_, POLLOUT, 0};
    if (::poll(&ready, 1, 0) == 1 && (ready.revents & POLLOUT) != 0)
        (void)!::write(fd_, text.data(), text.size());
}

}  // namespace ww::path
