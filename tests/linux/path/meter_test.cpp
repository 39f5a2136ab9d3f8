// SPDX-License-Identifier: GPL-2.0-only
//
// linux/path/meter.hpp reports each second what the path carried in it, and at the end the totals.
#include "linux/path/meter.hpp"

#include <fcntl.h>
#include <unistd.h>

#include "packets.hpp"

namespace ww::path::test {
namespace {

// 1 Mb/s and 10 ms, with a queue of nine packets; 1000 bytes take 8 ms. The meter writes to a pipe.
class Metered : public Emulation {
  protected:
    Metered()
        : Emulation(sim::test::one_link(1'000'000, 10 * kMs, 10 * kSecond,
                                        {sim::test::datagrams(1'000'000)})) {
        network_.links[0].forward.queue_packets = 9;
        EXPECT_EQ(::pipe2(pipe_, O_NONBLOCK), 0);
        meter_.emplace(model(), pipe_[1]);
    }
    ~Metered() override {
        for (const int end : pipe_) ::close(end);
    }

    void send(Time at, int datagrams) {
        for (int i = 0; i < datagrams; i++) enter(at, 0, udp(0x64400002, 0xc0000201, 972));
    }

    std::string tick(Time now) {
        model().run(now, [](auto, auto, auto) {});
        meter_->tick(now);
        return written();
    }

    std::string written() {
        char text[1 << 16];
        const ssize_t size = ::read(pipe_[0], text, sizeof text);
        return {text, size > 0 ? static_cast<std::size_t>(size) : 0};
    }

    std::optional<Meter> meter_;
    int pipe_[2];
};

TEST_F(Metered, EachSecondHasItsOwnFigures) {
    send(0, 30);  // one is sent and nine wait
    EXPECT_EQ(tick(kSecond),
              "up 0.08 Mb/s, 54.0 ms, 0.0 queued, 20 dropped, 0 lost  "
              "down 0.00 Mb/s, 0.0 ms, 0.0 queued, 0 dropped, 0 lost\n");
    send(2 * kSecond - 4 * kMs, 2);
    EXPECT_EQ(tick(2 * kSecond),
              "up 0.00 Mb/s, 0.0 ms, 12.0 queued, 0 dropped, 0 lost  "
              "down 0.00 Mb/s, 0.0 ms, 0.0 queued, 0 dropped, 0 lost\n");
}

TEST_F(Metered, TheTotalsAreOfAllSeconds) {
    send(0, 30);
    tick(kSecond);
    send(kSecond, 1);
    tick(2 * kSecond);
    meter_->sum_up(2 * kSecond, {});
    EXPECT_EQ(written(),
              "westwood: 2.0 s: up 0.01 MB, 0.04 Mb/s, 50.7 ms (longest 90.0), 20 dropped, 0 lost; "
              "down 0.00 MB, 0.00 Mb/s, 0.0 ms (longest 0.0), 0 dropped, 0 lost; "
              "late 0.00 ms (99 %)\n");
}

TEST_F(Metered, ALineThatNobodyReadsIsDropped) {
    const int flags = ::fcntl(pipe_[1], F_GETFL);
    const std::string page(4096, '.');
    while (::write(pipe_[1], page.data(), page.size()) > 0) continue;
    ASSERT_EQ(::fcntl(pipe_[1], F_SETFL, flags & ~O_NONBLOCK), 0);
    EXPECT_EQ(tick(kSecond).find("up"), std::string::npos);
}

}  // namespace
}  // namespace ww::path::test
