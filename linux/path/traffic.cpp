// SPDX-License-Identifier: GPL-2.0-only
#include "traffic.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <system_error>

#include "../../engine/base/seconds.hpp"

namespace ww::path {
namespace {

constexpr std::size_t kChunk =
    128 * 1024;                // bytes per write, and the limit of unsent data in a socket
constexpr int kRtoMaxMs = 44;  // TCP_RTO_MAX_MS, since Linux 6.15
constexpr sim::Time kLinuxRtoMax = 120 * sim::kSecond;

void check(int result, const char* what) {
    if (result < 0) throw std::system_error(errno, std::generic_category(), what);
}

void set_option(int fd, int level, int name, int value, const char* what) {
    check(::setsockopt(fd, level, name, &value, sizeof value), what);
}

void close_with_reset(int fd) {
    const linger none{1, 0};
    check(::setsockopt(fd, SOL_SOCKET, SO_LINGER, &none, sizeof none), "setting SO_LINGER");
}

sockaddr_in address(std::uint32_t host, std::uint16_t port) {
    sockaddr_in made{};
    made.sin_family = AF_INET;
    made.sin_addr.s_addr = htonl(host);
    made.sin_port = htons(port);
    return made;
}

void choose_control(int fd, const std::string& control) {
    if (::setsockopt(fd, SOL_TCP, TCP_CONGESTION, control.data(),
                     static_cast<socklen_t>(control.size())) < 0)
        throw Unavailable("congestion control " + control + ": " + std::strerror(errno));
}

void bind_to(int fd, std::uint32_t host, std::uint16_t port) {
    const sockaddr_in local = address(host, port);
    check(::bind(fd, reinterpret_cast<const sockaddr*>(&local), sizeof local), "binding a socket");
}

}  // namespace

Traffic::Traffic(const Plan& plan, const sim::Connections& connections, std::span<const Host> hosts,
                 wire::Trace& trace)
    : plan_(plan),
      hosts_(hosts),
      trace_(trace),
      epoll_(::epoll_create1(EPOLL_CLOEXEC)),
      zeros_(kChunk) {
    check(epoll_.get(), "making an epoll");
    for (std::uint32_t i = 0; i < plan.network.flows.size(); i++) open_sink(i);
    for (std::uint32_t i = 0; i < connections.source.size(); i++) {
        Connection& c = connections_.emplace_back();
        c.flow = &flows_.emplace_back(connections.flow(plan.network, i));
        c.source = connections.source[i];
        c.unwritten = c.flow->size_bytes;
        timers_.push({c.flow->start, Event::start, i});
        if (c.flow->datagrams.on)
            c.datagrams.emplace(*c.flow, plan.seed, i, plan.network.duration);
        else if (c.flow->stop < sim::kNever)
            timers_.push({c.flow->stop, Event::stop, i});
    }
    unfinished_ = connections_.size();
    timers_.push({plan.sample, Event::sample, 0});
    timers_.push({plan.network.duration, Event::end, 0});
}

const Host& Traffic::host(std::uint32_t node) const {
    return *std::find_if(hosts_.begin(), hosts_.end(),
                         [node](const Host& host) { return host.node() == node; });
}

void Traffic::watch(int fd, std::uint32_t events, Role role, std::uint32_t index) {
    epoll_event event{};
    event.events = events;
    event.data.u64 = std::uint64_t{index} << 8 | static_cast<std::uint8_t>(role);
    check(::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event), "watching a socket");
}

void Traffic::open_sink(std::uint32_t flow) {
    const sim::Flow& f = plan_.network.flows[flow];
    Descriptor fd = host(f.to).socket(f.datagrams.on ? SOCK_DGRAM : SOCK_STREAM);
    bind_to(fd.get(), sink_address(flow), kPort);
    if (f.datagrams.on) {
        // Nobody reads these datagrams: the model counts them in transit. Without a socket ICMP would answer.
        set_option(fd.get(), SOL_SOCKET, SO_RCVBUF, 0, "setting SO_RCVBUF");
    } else {
        close_with_reset(fd.get());
        // DCTCP also decides how a receiver reports marks (RFC 8257, 3.2).
        for (const wire::Stack& stack : plan_.stacks)
            if (stack.flow == flow) choose_control(fd.get(), stack.control);
        check(::listen(fd.get(), 65535), "listening");
        watch(fd.get(), EPOLLIN, Role::listener, flow);
    }
    listeners_.push_back(std::move(fd));
}

void Traffic::start(std::uint32_t index, sim::Time now) {
    Connection& c = connections_[index];
    c.sender = host(c.flow->from).socket(c.datagrams ? SOCK_DGRAM : SOCK_STREAM);
    bind_to(c.sender.get(), source_address(c.source), 0);
    if (!c.datagrams) {
        connect(index);
        return;
    }
    const sockaddr_in there = address(sink_address(c.source), kPort);
    check(::connect(c.sender.get(), reinterpret_cast<const sockaddr*>(&there), sizeof there),
          "connecting");
    timers_.push({c.datagrams->next(now), Event::datagram, index});
}

void Traffic::connect(std::uint32_t index) {
    Connection& c = connections_[index];
    const int fd = c.sender.get();
    set_options(c, fd);
    sockaddr_in local{};
    socklen_t size = sizeof local;
    check(::getsockname(fd, reinterpret_cast<sockaddr*>(&local), &size), "asking for a port");
    c.port_key = std::uint64_t{c.source} << 16 | ntohs(local.sin_port);
    by_port_[c.port_key] = index;
    const sockaddr_in there = address(sink_address(c.source), kPort);
    if (::connect(fd, reinterpret_cast<const sockaddr*>(&there), sizeof there) < 0 &&
        errno != EINPROGRESS)
        check(-1, "connecting");
    c.open = true;
    watch(fd, EPOLLOUT | EPOLLIN | EPOLLRDHUP | EPOLLET, Role::sender, index);
}

void Traffic::set_options(const Connection& c, int fd) const {
    close_with_reset(fd);
    choose_control(fd, control_of(plan_, c.source));
    set_option(fd, SOL_TCP, TCP_NOTSENT_LOWAT, static_cast<int>(kChunk),
               "setting TCP_NOTSENT_LOWAT");
    // Sends a last short segment at once.
    set_option(fd, SOL_TCP, TCP_NODELAY, 1, "setting TCP_NODELAY");
    if (c.flow->max_rto == kLinuxRtoMax) return;
    const auto milliseconds = static_cast<int>(c.flow->max_rto / (1000 * sim::kMicrosecond));
    if (::setsockopt(fd, SOL_TCP, kRtoMaxMs, &milliseconds, sizeof milliseconds) < 0)
        throw Unavailable("a largest RTO other than 120 s needs Linux 6.15");
}

void Traffic::write(Connection& c) {
    while (!c.written) {
        const auto size = static_cast<std::size_t>(
            std::min<std::int64_t>(c.unwritten, static_cast<std::int64_t>(kChunk)));
        if (size == 0) return finish_writing(c);
        const ssize_t sent = ::send(c.sender.get(), zeros_.data(), size, MSG_NOSIGNAL);
        if (sent < 0) return;  // the buffer is full; or an event will report the error
        if (c.unwritten != sim::kUnlimited) c.unwritten -= sent;
    }
}

void Traffic::finish_writing(Connection& c) {
    c.written = true;
    ::shutdown(c.sender.get(), SHUT_WR);
}

void Traffic::send_datagram(Connection& c) {
    constexpr std::uint32_t kHeaders = 28;  // IP and UDP
    const std::size_t size = std::max(c.datagrams->ip_bytes, kHeaders) - kHeaders;
    if (::send(c.sender.get(), zeros_.data(), size, MSG_NOSIGNAL) >= 0) c.datagrams_sent++;
}

void Traffic::accept(std::uint32_t flow) {
    for (;;) {
        sockaddr_in peer{};
        socklen_t size = sizeof peer;
        Descriptor fd(::accept4(listeners_[flow].get(), reinterpret_cast<sockaddr*>(&peer), &size,
                                SOCK_NONBLOCK | SOCK_CLOEXEC));
        if (!fd) {
            if (errno == EMFILE) throw Unavailable("too many open files: raise ulimit -n");
            return;
        }
        const auto found = by_port_.find(std::uint64_t{flow} << 16 | ntohs(peer.sin_port));
        if (found == by_port_.end()) continue;
        close_with_reset(fd.get());
        Connection& c = connections_[found->second];
        c.receiver = std::move(fd);
        watch(c.receiver.get(), EPOLLIN | EPOLLRDHUP, Role::receiver, found->second);
    }
}

void Traffic::read(Connection& c) {
    for (;;) {
        const ssize_t size =
            ::recv(c.receiver.get(), nullptr, 1 << 24, MSG_TRUNC);  // discards the data
        if (size < 0) return;
        if (size == 0) {
            ::shutdown(c.receiver.get(), SHUT_WR);  // answers the sender's FIN
            ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, c.receiver.get(), nullptr);
            return;
        }
        // On the first segment the kernel learns how much of the buffer is data, and forgets the route's
        // window.
        if (c.delivered == 0)
            set_option(c.receiver.get(), SOL_TCP, TCP_WINDOW_CLAMP,
                       static_cast<int>(c.flow->receive_window_bytes), "setting TCP_WINDOW_CLAMP");
        c.delivered += static_cast<std::uint64_t>(size);
    }
}

void Traffic::sender_ready(std::uint32_t index, std::uint32_t events, sim::Time now) {
    Connection& c = connections_[index];
    if (!c.open) return;
    if ((events & EPOLLERR) != 0) {
        int error = 0;
        socklen_t size = sizeof error;
        ::getsockopt(c.sender.get(), SOL_SOCKET, SO_ERROR, &error, &size);
        ended_.error = std::string("a connection broke: ") + std::strerror(error);
        running_ = false;
        return;
    }
    if ((events & EPOLLOUT) != 0) write(c);
    if ((events & EPOLLRDHUP) == 0 || !c.written) return;
    c.observer.sample(c.sender.get(), now, index, trace_);
    c.open = false;
    // A stalled machine may tell us after the end of the run.
    const bool is_late = now > plan_.network.duration;
    if (c.flow->size_bytes != sim::kUnlimited && !is_late) c.completed = now;
    by_port_.erase(c.port_key);
    c.sender = Descriptor();
    c.receiver = Descriptor();
    unfinished_--;
}

void Traffic::sample(sim::Time now) {
    for (std::uint32_t i = 0; i < connections_.size(); i++)
        if (connections_[i].open)
            connections_[i].observer.sample(connections_[i].sender.get(), now, i, trace_);
}

void Traffic::fire(const Timer& timer, sim::Time now) {
    Connection* c = timer.index < connections_.size() ? &connections_[timer.index] : nullptr;
    switch (timer.event) {
    case Event::start:
        start(timer.index, timer.at);
        break;
    case Event::stop:
        c->unwritten = 0;
        if (c->open && !c->written) finish_writing(*c);
        break;
    case Event::datagram:
        if (timer.at >= sim::kNever) {
            unfinished_--;
            break;
        }
        send_datagram(*c);
        timers_.push({c->datagrams->next(timer.at), Event::datagram, timer.index});
        break;
    case Event::sample:
        sample(now);
        // Leaves at least a quarter of the interval between two samples to other work.
        timers_.push({std::max(timer.at + plan_.sample, now + plan_.sample / 4), Event::sample, 0});
        break;
    case Event::end:
        running_ = false;
        break;
    }
}

void Traffic::handle(std::uint64_t tag, std::uint32_t events, sim::Time now) {
    const auto index = static_cast<std::uint32_t>(tag >> 8);
    switch (static_cast<Role>(tag & 0xff)) {
    case Role::sender:
        sender_ready(index, events, now);
        break;
    case Role::receiver:
        if (connections_[index].receiver) read(connections_[index]);
        break;
    case Role::listener:
        accept(index);
        break;
    case Role::input: {
        char nothing[256];
        if (::read(STDIN_FILENO, nothing, sizeof nothing) > 0) break;
        ended_.cancelled = true;
        running_ = false;
        break;
    }
    case Role::stop:
        running_ = false;
        break;
    }
}

Ended Traffic::run(const Clock& clock, int stop) {
    ::prctl(PR_SET_TIMERSLACK, 1);
    watch(stop, EPOLLIN, Role::stop, 0);
    // A file or /dev/null can't be watched and never closes: a failure does not matter.
    epoll_event input{};
    input.events = EPOLLIN;
    input.data.u64 = static_cast<std::uint8_t>(Role::input);
    ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, STDIN_FILENO, &input);

    std::vector<epoll_event> events(256);
    while (running_ && (unfinished_ > 0 || plan_.hold)) {
        sim::Time now = clock.now();
        while (running_ && timers_.top().at <= now) {
            const Timer timer = timers_.top();
            timers_.pop();
            fire(timer, now);
        }
        if (!running_) break;
        const sim::Time left = std::max<sim::Time>(0, timers_.top().at - clock.now()) / 1000;
        const timespec timeout{left / 1'000'000'000, left % 1'000'000'000};
        const int count = ::epoll_pwait2(epoll_.get(), events.data(),
                                         static_cast<int>(events.size()), &timeout, nullptr);
        if (count < 0 && errno != EINTR) check(count, "waiting");
        now = clock.now();
        for (const epoll_event& event :
             std::span(events.data(), static_cast<std::size_t>(std::max(count, 0))))
            if (running_) handle(event.data.u64, event.events, now);
    }
    for (Connection& c : connections_)
        if (c.receiver) read(c);
    sample(clock.now());
    return ended_;
}

std::vector<sim::FlowResult> Traffic::results() const {
    std::vector<sim::FlowResult> results;
    for (const Connection& c : connections_) {
        sim::FlowResult& result = results.emplace_back();
        result.source = c.source;
        result.delivered_bytes = c.delivered;
        result.start_s = sim::seconds(c.flow->start);
        c.observer.report(result);
        if (c.datagrams) result.sent = c.datagrams_sent;
        result.completed_s =
            c.completed < 0 ? std::numeric_limits<double>::quiet_NaN() : sim::seconds(c.completed);
    }
    return results;
}

std::vector<std::uint16_t> Traffic::ports() const {
    std::vector<std::uint16_t> ports;
    for (const Connection& c : connections_)
        ports.push_back(static_cast<std::uint16_t>(c.port_key & 0xffffu));
    return ports;
}

}  // namespace ww::path
