// SPDX-License-Identifier: BSD-3-Clause
//
// What a receiver holds beyond a gap, beside a set of bytes, and its reports, by RFC 2018, 4.
#include "engine/tcp/reassembly.hpp"

#include <random>
#include <set>

#include "engine/tcp/receiver.hpp"
#include "one_link.hpp"

namespace ww::sim::test {
namespace {

using Bytes = std::set<std::int64_t>;

TEST(Ranges, ReportNewPartsAsASetOfBytesWould) {
    for (std::uint64_t seed = 1; seed <= 200; seed++) {
        std::mt19937_64 random(seed);
        Ranges ranges;
        Bytes model;
        for (int i = 0; i < 200; i++) {
            const auto start = static_cast<std::int64_t>(random() % 300);
            const auto end = start + 1 + static_cast<std::int64_t>(random() % 20);
            Bytes fresh;
            const Range merged = ranges.add(start, end, [&](std::int64_t a, std::int64_t b) {
                ASSERT_LT(a, b);
                for (std::int64_t x = a; x < b; x++) ASSERT_TRUE(fresh.insert(x).second);
            });
            Bytes expected;
            for (std::int64_t x = start; x < end; x++)
                if (model.insert(x).second) expected.insert(x);
            ASSERT_EQ(fresh, expected) << "seed " << seed;
            std::int64_t low = start, high = end;
            while (model.count(low - 1) != 0) low--;
            while (model.count(high) != 0) high++;
            ASSERT_EQ(merged.start, low);
            ASSERT_EQ(merged.end, high);
            Bytes held;
            for (const Range& range : ranges.all())
                for (std::int64_t x = range.start; x < range.end; x++) held.insert(x);
            ASSERT_EQ(held, model);
            if (random() % 20 == 0) {
                const auto below = static_cast<std::int64_t>(random() % 150);
                ranges.remove_below(below);
                model.erase(model.begin(), model.lower_bound(below));
            }
            ASSERT_EQ(ranges.empty(), model.empty());
        }
    }
}

// RFC 2018, 4: first the block of the segment that arrived, then those reported most recently.
struct Model {
    Bytes held;
    std::vector<std::int64_t> arrivals;  // first bytes of out-of-order arrivals, latest first

    std::vector<std::pair<std::int64_t, std::int64_t>> blocks() const {
        std::vector<std::pair<std::int64_t, std::int64_t>> blocks;
        for (const std::int64_t byte : arrivals) {
            const auto covers = [byte](const auto& block) {
                return block.first <= byte && byte < block.second;
            };
            if (held.count(byte) == 0 || std::any_of(blocks.begin(), blocks.end(), covers))
                continue;
            std::int64_t low = byte, high = byte;
            while (held.count(low - 1) != 0) low--;
            while (held.count(high) != 0) high++;
            blocks.push_back({low, high});
        }
        return blocks;
    }
};

TEST(Receiver, DeliversAndReportsAsASetOfBytesWould) {
    for (std::uint64_t seed = 1; seed <= 80; seed++) {
        std::mt19937_64 random(seed);
        const auto isn = static_cast<std::uint32_t>(seed % 2 == 0 ? random() : UINT32_MAX - 2000);
        const auto size = static_cast<std::int64_t>(1 + random() % 40);
        Receiver receiver;
        receiver.next_number = isn;
        receiver.delayed_ack = 1000;
        Model model;
        std::int64_t next = 0;
        bool forgot =
            false;  // more blocks than fit were held at once: the order of the oldest is undefined
        for (int i = 0; i < 300; i++) {
            const std::int64_t start = std::max<std::int64_t>(0, next - 3 * size) / size * size +
                                       static_cast<std::int64_t>(random() % 24) * size;
            const bool in_order = start == next, gap = !model.held.empty();
            const bool at_once = receiver.on_data(0, isn + static_cast<std::uint32_t>(start),
                                                  static_cast<std::uint32_t>(size));
            // RFC 5681, 4.2: data that is out of order, fills a gap or is a duplicate
            EXPECT_EQ(at_once, !in_order || gap) << "at once unless plainly in order";
            for (std::int64_t x = start; x < start + size; x++)
                if (x >= next) model.held.insert(x);
            if (start > next) model.arrivals.insert(model.arrivals.begin(), start);
            while (model.held.erase(next) != 0) next++;
            ASSERT_EQ(receiver.delivered_bytes, static_cast<std::uint64_t>(next));
            ASSERT_EQ(receiver.next_number, isn + static_cast<std::uint32_t>(next));
            ASSERT_EQ(receiver.held.empty(), model.held.empty());

            const auto expected = model.blocks();
            if (expected.empty()) forgot = false;
            if (expected.size() > kMaxSackBlocks) forgot = true;
            const SackBlocks blocks = receiver.sack_blocks();
            ASSERT_EQ(blocks.count, std::min<std::size_t>(kMaxSackBlocks, expected.size()));
            std::vector<std::pair<std::int64_t, std::int64_t>> reported;
            for (std::uint32_t b = 0; b < blocks.count; b++)
                reported.push_back({static_cast<std::int32_t>(blocks.block[b].start - isn),
                                    static_cast<std::int32_t>(blocks.block[b].end - isn)});
            if (!forgot) {
                ASSERT_TRUE(std::equal(reported.begin(), reported.end(), expected.begin()));
            }
            if (start > next) {
                ASSERT_EQ(reported.front(), expected.front());
            }
            for (std::size_t b = 0; b < reported.size(); b++) {
                ASSERT_EQ(std::count(expected.begin(), expected.end(), reported[b]), 1);
                ASSERT_EQ(std::count(reported.begin(), reported.end(), reported[b]), 1);
            }
        }
    }
}

TEST(SackBlocks, TakeTheirBytesOnTheWire) {  // RFC 2018, 3
    SackBlocks blocks;
    EXPECT_EQ(blocks.option_bytes(), 0u);
    blocks.count = 1;
    EXPECT_EQ(blocks.option_bytes(), 12u);
    blocks.count = 4;
    EXPECT_EQ(blocks.option_bytes(), 36u);
}

}  // namespace
}  // namespace ww::sim::test
