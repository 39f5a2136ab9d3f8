// SPDX-License-Identifier: BSD-3-Clause
//! The random numbers of everything that asks the operating system: the seed of the run decides them.
//!
//! Both stacks' BBRs seed a generator so. `.cargo/config.toml` makes getrandom call this function.

use std::cell::Cell;

thread_local! {
    static STATE: Cell<u64> = const { Cell::new(0) };
}

/// Starts the numbers of a run.
pub(crate) fn seed(seed: u64) {
    STATE.set(seed);
}

/// SplitMix64.
fn next() -> u64 {
    let state = STATE.get().wrapping_add(0x9e37_79b9_7f4a_7c15);
    STATE.set(state);
    let z = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Fills a buffer from the run's seed.
///
/// # Safety
/// `to` must point to `length` bytes that may be written.
// SAFETY: getrandom reserves this symbol for a custom backend, with this signature.
#[unsafe(no_mangle)]
unsafe extern "Rust" fn __getrandom_v03_custom(to: *mut u8, length: usize) -> Result<(), getrandom::Error> {
    // SAFETY: the caller's promise.
    let bytes = unsafe {
        to.write_bytes(0, length);
        std::slice::from_raw_parts_mut(to, length)
    };
    for chunk in bytes.chunks_mut(8) {
        chunk.copy_from_slice(&next().to_le_bytes()[..chunk.len()]);
    }
    Ok(())
}
