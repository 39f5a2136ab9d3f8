// SPDX-License-Identifier: BSD-3-Clause
#include "guarded_state.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <bit>
#include <cstring>

namespace ww::bindings {
namespace {

constexpr std::size_t kPlaces = 64;
constexpr std::size_t kGuard = std::size_t{1} << 18;  // bytes, more than a stray index leads to

// A page for each state, between guards. Other threads and a forked child use them at once, so there is no lock.
class Places {
  public:
    Places() {
        void* const mapped =
            mmap(nullptr, kBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (mapped == MAP_FAILED) return;
        first_ = static_cast<char*>(mapped);
        for (std::size_t i = 0; i < kPlaces; i++)
            if (mprotect(page(i), kPage, PROT_READ | PROT_WRITE) != 0) return;
        free_ = ~std::uint64_t{0};
    }

    void* take(std::size_t bytes) {
        std::uint64_t free = free_;
        do {
            if (free == 0) return nullptr;
        } while (!free_.compare_exchange_weak(free, free & (free - 1)));
        const auto place = static_cast<std::size_t>(std::countr_zero(free));
        return page(place) + kPage - (bytes + 7) / 8 * 8;
    }

    bool give_back(char* state, std::size_t bytes) {
        const std::size_t number = place(state);
        char* const first = page(number);
        std::memset(state, 0, bytes);
        const bool is_clean = *first == 0 && std::memcmp(first, first + 1, kPage - 1) == 0;
        if (!is_clean) std::memset(first, 0, kPage);
        free_ |= std::uint64_t{1} << number;
        return is_clean;
    }

    void give_back(std::uint64_t which) {
        for (std::size_t i = 0; i < kPlaces; i++)
            if ((which >> i & 1) != 0) std::memset(page(i), 0, kPage);
        free_ |= which;
    }

    std::size_t place(const void* state) const {
        return static_cast<std::size_t>(static_cast<const char*>(state) - first_ - kGuard) / kStep;
    }

    bool holds(const void* address) const {
        return address >= first_ && address < first_ + kBytes && first_ != nullptr;
    }

  private:
    const std::size_t kPage = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    const std::size_t kStep = kGuard + kPage, kBytes = kPlaces * kStep + kGuard;
    char* page(std::size_t place) const { return first_ + kGuard + place * kStep; }

    char* first_ = nullptr;
    std::atomic<std::uint64_t> free_ = 0;  // a bit for each
};

Places& places() {
    static Places all;
    return all;
}

}  // namespace

void* take_guarded(std::size_t bytes) { return places().take(bytes); }

bool give_back_guarded(void* state, std::size_t bytes) {
    return places().give_back(static_cast<char*>(state), bytes);
}

void give_back_guarded(std::uint64_t which) { places().give_back(which); }

std::uint64_t bit_of_guarded(const void* state) {
    return std::uint64_t{1} << places().place(state);
}

bool is_guarded(const void* address) { return places().holds(address); }

}  // namespace ww::bindings
