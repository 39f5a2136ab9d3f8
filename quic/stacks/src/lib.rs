// SPDX-License-Identifier: BSD-3-Clause
//! The protocol state machines of quinn and noq in simulated time, for the runner in C++ (`quic/runner`).
//!
//! A pair is a client and a server of one connection. The runner carries their packets over its links and calls them
//! when packets arrive or timers expire. `pair.rs` is compiled once for each stack, whose crates differ in the few
//! functions of `quinn.rs` and `noq.rs`.

#![deny(unsafe_code)]
#![allow(clippy::duplicate_mod)] // pair.rs

#[allow(unsafe_code)] // the interface to C
mod abi;
mod forks;
mod frames;
mod null;
mod packets;

#[allow(unsafe_code)] // getrandom calls it by its symbol
mod random;

mod noq;
mod quinn;

use bytes::BytesMut;

/// Nanoseconds since the start of the run.
type Nanos = u64;

/// The two ends of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Client,
    Server,
}

/// What a connection is made of.
#[derive(Clone, Debug)]
struct Options {
    /// The stack's own control, or `None` for that of the crate `westwood`.
    own_control: bool,
    control: String,
    /// The largest UDP payload.
    datagram_bytes: u16,
    /// Of the receiver, in bytes.
    receive_window: u64,
    seed: [u8; 32],
}

impl Options {
    /// Returns the initial window of a stack's own control, in bytes: the stacks' 12 kB, and room for the two packets
    /// of RFC 9002, 7.2. quinn keeps less than the window in flight.
    fn initial_window(&self) -> u64 {
        12_000.max(2 * u64::from(self.datagram_bytes) + 1)
    }
}

/// The ECN field of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ecn {
    NotCapable,
    Capable,
    Marked,
}

/// What is known of the sending end, in bytes and nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
struct State {
    window: u64,
    ssthresh: u64, // u64::MAX: none
    srtt: Nanos,   // 0: no sample yet
    lost_packets: u64,
    datagrams_sent: u64,
    sent: u64,         // of streams, each byte once
    delivered: u64,    // to the receiving application, in order
    acknowledged: u64, // of streams whose end has been acknowledged
    is_established: bool,
}

/// A connection of one of the stacks. Errors are the stack's, in its words.
trait Pair {
    fn next(&mut self, side: Side) -> Option<Nanos>;
    fn wake(&mut self, side: Side, now: Nanos) -> Result<(), String>;
    fn take(&mut self, side: Side, now: Nanos, packet: BytesMut, ecn: Ecn) -> Result<(), String>;
    /// Writes a packet into the buffer; None if nothing may leave now.
    fn send(&mut self, side: Side, now: Nanos, buffer: &mut Vec<u8>) -> Option<Ecn>;
    /// Lets the application write up to `total` bytes since the start; `ends`: the last of them end a stream.
    fn write(&mut self, total: u64, ends: bool) -> Result<(), String>;
    /// The application stops: if some of what it has written has not been sent, its stream ends here.
    fn stop(&mut self);
    /// Returns what is known of the sending end; the number of lost packets only with counts, which takes longer.
    fn state(&mut self, with_counts: bool) -> State;
}

/// Opens a connection of a stack, or says what is wrong with the options.
fn open(stack: &str, options: &Options) -> Result<Box<dyn Pair>, String> {
    match stack {
        "quinn" => quinn::open(options),
        "noq" => noq::open(options),
        _ => forks::open(stack, options).unwrap_or_else(|| Err(format!("this ww-quic has no stack {stack:?}"))),
    }
}
