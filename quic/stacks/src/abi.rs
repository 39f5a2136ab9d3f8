// SPDX-License-Identifier: BSD-3-Clause
//! The interface to the runner, `quic/runner/stacks.h`. A function that fails, or panics, notes why.

use crate::packets::Packets;
use crate::{Ecn, Options, Pair, Side, State, forks, open, random};
use std::ffi::{CStr, CString, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A connection, its packets under way and its error.
pub struct Connection {
    pair: Box<dyn Pair>,
    packets: Packets,
    buffer: Vec<u8>, // of the next packet
    error: CString,
}

/// `struct ww_options`.
#[repr(C)]
pub struct OptionsOfC {
    stack: *const c_char,
    control: *const c_char,
    own_control: bool,
    datagram_bytes: u16,
    receive_window: u64,
    seed: u64,
    number: u64,
}

/// `struct ww_packet`.
#[repr(C)]
pub struct PacketOfC {
    number: u32,
    bytes: u16,
    ecn_capable: bool,
}

/// `struct ww_connection_state`.
#[repr(C)]
pub struct StateOfC {
    window: u64,
    ssthresh: u64,
    srtt_ns: u64,
    lost_packets: u64,
    datagrams_sent: u64,
    sent: u64,
    delivered: u64,
    acknowledged: u64,
    is_established: bool,
}

fn side_of(is_server: bool) -> Side {
    if is_server { Side::Server } else { Side::Client }
}

impl Connection {
    /// Runs a call of the stack; notes its error or its panic and returns the fallback then.
    fn run<T>(&mut self, fallback: T, call: impl FnOnce(&mut Self) -> Result<T, String>) -> T {
        let done = catch_unwind(AssertUnwindSafe(|| call(self)));
        let problem = match done {
            Ok(Ok(value)) => return value,
            Ok(Err(problem)) => problem,
            Err(panic) => format!("panic: {}", words_of(&*panic)),
        };
        self.error = in_c(&problem);
        fallback
    }
}

fn words_of(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "without a message".into())
}

fn in_c(text: &str) -> CString {
    CString::new(text.replace(['\0', '\n'], " ")).unwrap_or_default()
}

fn options_of(given: &OptionsOfC) -> Result<(String, Options), String> {
    // SAFETY: the caller's promise: both are strings that end with 0.
    let (stack, control) = unsafe { (CStr::from_ptr(given.stack), CStr::from_ptr(given.control)) };
    let mut seed = [0; 32];
    seed[..8].copy_from_slice(&given.seed.to_le_bytes());
    seed[8..16].copy_from_slice(&given.number.to_le_bytes());
    let options = Options {
        own_control: given.own_control,
        control: control.to_string_lossy().into_owned(),
        datagram_bytes: given.datagram_bytes,
        receive_window: given.receive_window,
        seed,
    };
    Ok((stack.to_string_lossy().into_owned(), options))
}

/// Starts the random numbers of a run, and keeps panics from the standard error.
#[unsafe(no_mangle)]
pub extern "C" fn ww_quic_begin(seed: u64) {
    random::seed(seed);
    std::panic::set_hook(Box::new(|_| ()));
}

/// Returns a line for each fork: its name, package, version and controls.
#[unsafe(no_mangle)]
pub extern "C" fn ww_quic_forks() -> *const c_char {
    forks::LINES.as_ptr()
}

/// Opens a connection. If that fails, the connection only has an error.
///
/// # Safety
/// `options` must point to valid options, whose strings end with 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ww_quic_open(options: *const OptionsOfC) -> *mut Connection {
    // SAFETY: the caller's promise.
    let given = unsafe { &*options };
    let buffer = Vec::with_capacity(given.datagram_bytes.into());
    let mut connection =
        Connection { pair: Box::new(Nothing), packets: Packets::default(), buffer, error: CString::default() };
    connection.run((), |it| {
        let (stack, options) = options_of(given)?;
        it.pair = open(&stack, &options)?;
        Ok(())
    });
    Box::into_raw(Box::new(connection))
}

/// Ends a connection.
///
/// # Safety
/// `c` must come from `ww_quic_open` and is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ww_quic_close(c: *mut Connection) {
    // SAFETY: the caller's promise.
    drop(unsafe { Box::from_raw(c) });
}

/// Returns why the last call failed; empty: none did.
///
/// # Safety
/// As for all functions below: `c` must come from `ww_quic_open`, and no other call of it may run.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ww_quic_error(c: *const Connection) -> *const c_char {
    // SAFETY: the caller's promise.
    unsafe { (*c).error.as_ptr() }
}

/// Returns when an end has something to do, in ns; `INT64_MAX`: never.
///
/// # Safety
/// See `ww_quic_error`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ww_quic_next(c: *mut Connection, is_server: bool) -> i64 {
    // SAFETY: the caller's promise.
    let c = unsafe { &mut *c };
    c.run(i64::MAX, |it| Ok(it.pair.next(side_of(is_server)).map_or(i64::MAX, |due| due.min(i64::MAX as u64) as i64)))
}

/// Tells an end that its time has come.
///
/// # Safety
/// See `ww_quic_error`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ww_quic_wake(c: *mut Connection, is_server: bool, now_ns: i64) {
    // SAFETY: the caller's promise.
    let c = unsafe { &mut *c };
    c.run((), |it| it.pair.wake(side_of(is_server), now_ns as u64));
}

/// Hands a packet under way to an end.
///
/// # Safety
/// See `ww_quic_error`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ww_quic_take(c: *mut Connection, is_server: bool, now_ns: i64, number: u32, ecn: u8) {
    // SAFETY: the caller's promise.
    let c = unsafe { &mut *c };
    c.run((), |it| {
        let packet = it.packets.take(number).ok_or("the runner delivered an unknown packet")?;
        let ecn = [Ecn::NotCapable, Ecn::Capable, Ecn::Marked][usize::from(ecn.min(2))];
        it.pair.take(side_of(is_server), now_ns as u64, packet, ecn)
    });
}

/// Forgets a packet that the network dropped.
///
/// # Safety
/// See `ww_quic_error`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ww_quic_drop(c: *mut Connection, number: u32) {
    // SAFETY: the caller's promise.
    let c = unsafe { &mut *c };
    c.packets.take(number);
}

/// Returns whether an end sends a packet now, which it fills in.
///
/// # Safety
/// See `ww_quic_error`; `packet` must be valid, too.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ww_quic_send(
    c: *mut Connection,
    is_server: bool,
    now_ns: i64,
    packet: *mut PacketOfC,
) -> bool {
    // SAFETY: the caller's promise.
    let (c, packet) = unsafe { (&mut *c, &mut *packet) };
    c.run(false, |it| {
        it.buffer.clear();
        let Some(ecn) = it.pair.send(side_of(is_server), now_ns as u64, &mut it.buffer) else { return Ok(false) };
        packet.bytes = it.buffer.len() as u16;
        packet.ecn_capable = ecn != Ecn::NotCapable;
        packet.number = it.packets.keep(&mut it.buffer);
        Ok(true)
    })
}

/// Lets the client's application write up to `total` bytes since the start; `ends`: the last one ends a stream.
///
/// # Safety
/// See `ww_quic_error`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ww_quic_write(c: *mut Connection, total: u64, ends: bool) {
    // SAFETY: the caller's promise.
    let c = unsafe { &mut *c };
    c.run((), |it| it.pair.write(total, ends));
}

/// Stops the client's application.
///
/// # Safety
/// See `ww_quic_error`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ww_quic_stop(c: *mut Connection) {
    // SAFETY: the caller's promise.
    let c = unsafe { &mut *c };
    c.run((), |it| {
        it.pair.stop();
        Ok(())
    });
}

/// Fills in what is known of the client; the number of lost packets only with counts, which takes longer.
///
/// # Safety
/// See `ww_quic_error`; `state` must be valid, too.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ww_quic_state(c: *mut Connection, with_counts: bool, state: *mut StateOfC) {
    // SAFETY: the caller's promise.
    let (c, state) = unsafe { (&mut *c, &mut *state) };
    let seen = c.run(State::default(), |it| Ok(it.pair.state(with_counts)));
    *state = StateOfC {
        window: seen.window,
        ssthresh: seen.ssthresh,
        srtt_ns: seen.srtt,
        lost_packets: seen.lost_packets,
        datagrams_sent: seen.datagrams_sent,
        sent: seen.sent,
        delivered: seen.delivered,
        acknowledged: seen.acknowledged,
        is_established: seen.is_established,
    };
}

/// A connection that could not be opened.
struct Nothing;

impl Pair for Nothing {
    fn next(&mut self, _: Side) -> Option<u64> {
        None
    }
    fn wake(&mut self, _: Side, _: u64) -> Result<(), String> {
        Ok(())
    }
    fn take(&mut self, _: Side, _: u64, _: bytes::BytesMut, _: Ecn) -> Result<(), String> {
        Ok(())
    }
    fn send(&mut self, _: Side, _: u64, _: &mut Vec<u8>) -> Option<Ecn> {
        None
    }
    fn write(&mut self, _: u64, _: bool) -> Result<(), String> {
        Ok(())
    }
    fn stop(&mut self) {}
    fn state(&mut self, _: bool) -> State {
        State::default()
    }
}
