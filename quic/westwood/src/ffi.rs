// SPDX-License-Identifier: BSD-3-Clause
//! The core in C: the only module with unsafe code. `core/contract.h` describes the structures.

use std::ffi::{CStr, c_char};

/// What an ACK brought: `struct ww_sample`. Counts are in segments, times in microseconds.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sample {
    pub now_us: u64,
    pub mss: u32,
    pub acked_segments: u32,
    pub in_flight: u32,
    pub rtt_us: u32,
    pub srtt_us: u32,
    pub phase: u8,
    pub is_dupack: bool,
    pub is_cwnd_limited: bool,
    pub newly_delivered: u32,
    pub newly_marked: u32,
    pub is_app_limited: bool,
    pub newly_lost: u32,
    pub pipe: u32,
    pub rate_segments: u32,
    pub rate_interval_us: u32,
    pub rate_rtt_us: u32,
    pub delivered: u32,
    pub prior_delivered: u32,
    pub prior_pipe: u32,
    pub lost_since: u32,
}

/// A segment that is about to be sent: `struct ww_sent`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sent {
    pub now_us: u64,
    pub mss: u32,
    pub srtt_us: u32,
    pub pipe: u32,
    pub delivered: u32,
    pub is_app_limited: bool,
}

/// A segment that was found lost: `struct ww_lost`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Lost {
    pub now_us: u64,
    pub mss: u32,
    pub pipe: u32,
    pub delivered: u32,
    pub prior_delivered: u32,
    pub prior_pipe: u32,
    pub lost_since: u32,
    pub is_app_limited: bool,
    pub continues: bool,
}

/// The connection when a packet was sent: `struct ww_delivery_record`, in microseconds and bytes.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Record {
    pub sent_us: u64,
    first_sent_us: u64,
    delivered_at_us: u64,
    pub delivered: u64,
    pub pipe: u64,
    pub lost: u64,
    pub is_app_limited: bool,
    is_retransmission: bool,
    is_delivered: bool,
}

impl Record {
    /// Returns the interval of its packet's rate, if that is the newest packet acknowledged at `now_us`.
    pub fn interval_us(&self, now_us: u64) -> u64 {
        c::ww_rust_interval(self, now_us)
    }
}

/// What samples of the delivery rate need of a connection: `struct ww_delivery`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Delivery {
    first_sent_us: u64,
    pub delivered_at_us: u64,
    pub delivered: u64,
    pub lost: u64,
    limited_until: u64,
    sampled_delivered: u64,
    sampled_lost: u64,
    newest_number: u32,
    pub has_newest: bool,
    pub newest: Record,
}

impl Delivery {
    pub fn on_sent(&mut self, now_us: u64, pipe: u64, is_idle: bool) -> Record {
        let mut record = Record::default();
        c::ww_rust_on_sent(self, &mut record, now_us, pipe, is_idle);
        record
    }

    pub fn on_delivered(&mut self, record: &Record, now_us: u64, bytes: u64) {
        c::ww_rust_on_delivered(self, record, now_us, bytes);
    }

    pub fn is_app_limited(&self) -> bool {
        c::ww_rust_is_limited(self)
    }

    pub fn on_app_limited(&mut self, pipe: u64) {
        c::ww_rust_on_limited(self, pipe);
    }
}

/// What the control decides: `struct ww_window`, in segments; pacing in bytes/s with 8 fractional bits.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Window {
    pub cwnd: u32,
    pub ssthresh: u32,
    pub pacing: u64,
}

/// `WW_SSTHRESH_INFINITE`.
pub(crate) const SSTHRESH_INFINITE: u32 = 0x7fff_ffff;
/// `WW_CWND_MAX`.
pub(crate) const CWND_MAX: u32 = 1 << 28;
/// `WW_BW_FRACTION`.
pub(crate) const BW_FRACTION: u32 = 8;

/// `enum ww_phase`; QUIC has no disorder: it finds losses by packet numbers and time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    Open = 0,
    Recovery = 2,
    Loss = 3,
}

/// The traits of `core/contract.h` that matter here.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Traits {
    pub needs_rate: bool,
    pub ignores_marks: bool,
    pub follows_packets: bool,
}

mod c {
    use super::{Delivery, Lost, Record, Sample, Sent, Window};
    use std::ffi::c_char;

    /// The memory of a control, `struct ww_rust`.
    pub(super) type Block = u64;

    unsafe extern "C" {
        pub(super) safe fn ww_rust_bytes() -> usize;
        pub(super) safe fn ww_rust_name(protocol: u32) -> *const c_char;
        pub(super) fn ww_rust_init(c: *mut Block, protocol: u32, initial_cwnd: u32);
        pub(super) fn ww_rust_traits(c: *const Block) -> u32;
        pub(super) fn ww_rust_window(c: *const Block) -> Window;
        pub(super) fn ww_rust_quantum(c: *const Block, mss: u32) -> u32;
        pub(super) fn ww_rust_on_ack(c: *mut Block, sample: *const Sample);
        pub(super) fn ww_rust_on_packet_sent(c: *mut Block, sent: *const Sent);
        pub(super) fn ww_rust_on_packet_lost(c: *mut Block, lost: *const Lost);
        pub(super) fn ww_rust_on_loss(c: *mut Block, now_us: u64, in_flight: u32, mss: u32);
        pub(super) fn ww_rust_on_mark(c: *mut Block, now_us: u64, in_flight: u32, mss: u32);
        pub(super) fn ww_rust_on_recovery_exit(c: *mut Block, now_us: u64, mss: u32);
        pub(super) fn ww_rust_on_rto(c: *mut Block, now_us: u64, in_flight: u32, mss: u32, repeated: bool);
        pub(super) fn ww_rust_on_undo(c: *mut Block);
        pub(super) fn ww_rust_on_restart(c: *mut Block, now_us: u64);
        pub(super) safe fn ww_rust_on_sent(
            flow: &mut Delivery,
            record: &mut Record,
            now_us: u64,
            pipe: u64,
            is_idle: bool,
        );
        pub(super) safe fn ww_rust_on_delivered(flow: &mut Delivery, record: &Record, now_us: u64, bytes: u64);
        pub(super) safe fn ww_rust_interval(newest: &Record, now_us: u64) -> u64;
        pub(super) safe fn ww_rust_is_limited(flow: &Delivery) -> bool;
        pub(super) safe fn ww_rust_on_limited(flow: &mut Delivery, pipe: u64);
        #[cfg(test)]
        pub(super) fn ww_rust_offset(structure: u32, field: u32) -> usize;
    }
}

/// Returns the names of all protocols of the core, in the order of `core/catalogue.h`.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    (0..).map_while(name_of)
}

fn name_of(protocol: u32) -> Option<&'static str> {
    let name: *const c_char = c::ww_rust_name(protocol);
    // SAFETY: the core returns NULL or a string literal, which ends with 0 and lives as long as the program.
    let text = unsafe { (!name.is_null()).then(|| CStr::from_ptr(name)) };
    text.and_then(|text| text.to_str().ok())
}

/// A control of the core and its windows.
#[derive(Clone, Debug)]
pub(crate) struct Control(Box<[c::Block]>);

// SAFETY of all calls below: the block has the size and the alignment of `struct ww_rust`, `new` has initialised it,
// and the core reads and writes nothing else. Structures passed by pointer outlive the call.
impl Control {
    /// Returns a control that has just begun; `protocol` is an index into `names()`.
    pub fn new(protocol: u32, initial_cwnd: u32) -> Self {
        let blocks = c::ww_rust_bytes().div_ceil(size_of::<c::Block>());
        let mut control = Self(vec![0; blocks].into());
        // SAFETY: see above.
        unsafe { c::ww_rust_init(control.0.as_mut_ptr(), protocol, initial_cwnd) };
        control
    }

    pub fn traits(&self) -> Traits {
        // SAFETY: see above.
        let bits = unsafe { c::ww_rust_traits(self.0.as_ptr()) };
        Traits { needs_rate: bits & 1 != 0, ignores_marks: bits & 8 != 0, follows_packets: bits & 16 != 0 }
    }

    pub fn window(&self) -> Window {
        // SAFETY: see above.
        unsafe { c::ww_rust_window(self.0.as_ptr()) }
    }

    /// Returns how many segments may leave at once.
    pub fn quantum(&self, mss: u32) -> u32 {
        // SAFETY: see above.
        unsafe { c::ww_rust_quantum(self.0.as_ptr(), mss) }
    }

    pub fn on_ack(&mut self, sample: &Sample) {
        // SAFETY: see above.
        unsafe { c::ww_rust_on_ack(self.0.as_mut_ptr(), sample) }
    }

    pub fn on_packet_sent(&mut self, sent: &Sent) {
        // SAFETY: see above.
        unsafe { c::ww_rust_on_packet_sent(self.0.as_mut_ptr(), sent) }
    }

    pub fn on_packet_lost(&mut self, lost: &Lost) {
        // SAFETY: see above.
        unsafe { c::ww_rust_on_packet_lost(self.0.as_mut_ptr(), lost) }
    }

    pub fn on_loss(&mut self, now_us: u64, in_flight: u32, mss: u32) {
        // SAFETY: see above.
        unsafe { c::ww_rust_on_loss(self.0.as_mut_ptr(), now_us, in_flight, mss) }
    }

    pub fn on_mark(&mut self, now_us: u64, in_flight: u32, mss: u32) {
        // SAFETY: see above.
        unsafe { c::ww_rust_on_mark(self.0.as_mut_ptr(), now_us, in_flight, mss) }
    }

    pub fn on_recovery_exit(&mut self, now_us: u64, mss: u32) {
        // SAFETY: see above.
        unsafe { c::ww_rust_on_recovery_exit(self.0.as_mut_ptr(), now_us, mss) }
    }

    pub fn on_rto(&mut self, now_us: u64, in_flight: u32, mss: u32, repeated: bool) {
        // SAFETY: see above.
        unsafe { c::ww_rust_on_rto(self.0.as_mut_ptr(), now_us, in_flight, mss, repeated) }
    }

    #[cfg_attr(not(feature = "noq"), allow(dead_code))] // quinn does not report it
    pub fn on_undo(&mut self) {
        // SAFETY: see above.
        unsafe { c::ww_rust_on_undo(self.0.as_mut_ptr()) }
    }

    pub fn on_restart(&mut self, now_us: u64) {
        // SAFETY: see above.
        unsafe { c::ww_rust_on_restart(self.0.as_mut_ptr(), now_us) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::mem::offset_of;

    /// Returns the offsets of a structure's fields in C, and its size.
    fn in_c(structure: u32) -> Vec<usize> {
        // SAFETY: the list ends with usize::MAX, and nothing is read beyond it.
        let offset = |field| unsafe { c::ww_rust_offset(structure, field) };
        (0..).map(offset).take_while(|&offset| offset != usize::MAX).collect()
    }

    macro_rules! offsets {
        ($structure:ident: $($field:ident)*) => {
            vec![$(offset_of!($structure, $field)),*, size_of::<$structure>()]
        };
    }

    #[test]
    fn structures_have_the_layout_of_c() {
        let sample = offsets!(Sample: now_us mss acked_segments in_flight rtt_us srtt_us phase is_dupack
            is_cwnd_limited newly_delivered newly_marked is_app_limited newly_lost pipe rate_segments
            rate_interval_us rate_rtt_us delivered prior_delivered prior_pipe lost_since);
        assert_eq!(in_c(0), sample);
        assert_eq!(in_c(1), offsets!(Sent: now_us mss srtt_us pipe delivered is_app_limited));
        let lost = offsets!(Lost: now_us mss pipe delivered prior_delivered prior_pipe lost_since
            is_app_limited continues);
        assert_eq!(in_c(2), lost);
        let record = offsets!(Record: sent_us first_sent_us delivered_at_us delivered pipe lost is_app_limited
            is_retransmission is_delivered);
        assert_eq!(in_c(3), record);
        let flow = offsets!(Delivery: first_sent_us delivered_at_us delivered lost limited_until sampled_delivered
            sampled_lost newest_number has_newest newest);
        assert_eq!(in_c(4), flow);
    }

    /// The words of a recorded call.
    struct Words<'a>(std::str::SplitAsciiWhitespace<'a>);

    impl Words<'_> {
        fn next<T: TryFrom<u64, Error: std::fmt::Debug>>(&mut self) -> T {
            self.0.next().unwrap().parse::<u64>().unwrap().try_into().unwrap()
        }
        fn flag(&mut self) -> bool {
            self.next::<u8>() == 1
        }
    }

    /// Makes a call of tests/golden/calls, whose arguments come in the order of the structures' fields.
    fn call(control: &mut Control, text: &str) {
        let mut words = Words(text.split_ascii_whitespace());
        match words.0.next().unwrap() {
            "ack" => control.on_ack(&Sample {
                now_us: words.next(),
                mss: words.next(),
                acked_segments: words.next(),
                in_flight: words.next(),
                rtt_us: words.next(),
                srtt_us: words.next(),
                phase: words.next(),
                is_dupack: words.flag(),
                is_cwnd_limited: words.flag(),
                newly_delivered: words.next(),
                newly_marked: words.next(),
                is_app_limited: words.flag(),
                newly_lost: words.next(),
                pipe: words.next(),
                rate_segments: words.next(),
                rate_interval_us: words.next(),
                rate_rtt_us: words.next(),
                delivered: words.next(),
                prior_delivered: words.next(),
                prior_pipe: words.next(),
                lost_since: words.next(),
            }),
            "sent" => control.on_packet_sent(&Sent {
                now_us: words.next(),
                mss: words.next(),
                srtt_us: words.next(),
                pipe: words.next(),
                delivered: words.next(),
                is_app_limited: words.flag(),
            }),
            "lost" => control.on_packet_lost(&Lost {
                now_us: words.next(),
                mss: words.next(),
                pipe: words.next(),
                delivered: words.next(),
                prior_delivered: words.next(),
                prior_pipe: words.next(),
                lost_since: words.next(),
                is_app_limited: words.flag(),
                continues: words.flag(),
            }),
            "loss" => control.on_loss(words.next(), words.next(), words.next()),
            "exit" => control.on_recovery_exit(words.next(), words.next()),
            "rto" => control.on_rto(words.next(), words.next(), words.next(), words.flag()),
            other => panic!("no call {other}"),
        }
        assert!(words.0.next().is_none(), "{text}");
    }

    #[test]
    fn the_simulators_calls_give_the_simulators_windows() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden/calls");
        for name in ["westwood+", "westwood-cubic", "cubic", "bbr3"] {
            let calls = std::fs::read_to_string(folder.join(name).with_extension("txt")).unwrap();
            let protocol = names().position(|known| known == name).unwrap() as u32;
            let mut control = Control::new(protocol, 10);
            for (number, line) in (1..).zip(calls.lines()) {
                let (asked, decided) = line.split_once('|').unwrap();
                if number > 1 {
                    call(&mut control, asked); // the first is `begin`
                }
                let Window { cwnd, ssthresh, pacing } = control.window();
                assert_eq!(format!("{cwnd} {ssthresh} {pacing}"), decided, "{name}, call {number}");
            }
        }
    }

    #[test]
    fn a_control_begins_with_the_initial_window() {
        for (protocol, _) in (0..).zip(names()) {
            let begun = Control::new(protocol, 10).window();
            assert_eq!((begun.cwnd, begun.ssthresh), (10, SSTHRESH_INFINITE));
        }
    }
}
