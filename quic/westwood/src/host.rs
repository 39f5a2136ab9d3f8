// SPDX-License-Identifier: BSD-3-Clause
//! Translates what a QUIC stack reports into the core's contract (`core/contract.h`).
//!
//! The core counts windows in segments: here, in packets of the path's MTU. RFC 9002 differs from TCP where a clause
//! is named.

use crate::Config;
use crate::deliveries::{Deliveries, Rate};
use crate::ffi::{BW_FRACTION, CWND_MAX, Control, Lost, Phase, Record, SSTHRESH_INFINITE, Sample, Sent};

/// RFC 9002, 7.2: the smallest window, in packets.
const LEAST_WINDOW: u32 = 2;

/// The state of one connection's congestion control.
///
/// It implements no trait of the stacks. A [`Config`] makes their `Box<dyn Controller>`, whose `into_any` returns this
/// type:
///
/// ```
/// # #[cfg(feature = "quinn")] {
/// use quinn_proto::congestion::ControllerFactory;
/// use std::{sync::Arc, time::Instant};
///
/// let control = Arc::new(westwood::Config::named("cubic")?).build(Instant::now(), 1200);
/// assert_eq!(control.initial_window(), 12_000);
/// assert!(control.into_any().is::<westwood::Controller>());
/// # }
/// # Ok::<(), westwood::UnknownControl>(())
/// ```
#[derive(Clone, Debug)]
pub struct Controller {
    control: Control,
    traits: crate::ffi::Traits,
    mtu: u32,
    counted: Counted, // when the MTU last changed
    initial_window: u64,
    srtt_us: u32,
    in_flight: u64, // bytes
    phase: Phase,
    reduced_at_us: Option<u64>, // packets sent until then belong to the last reduction
    may_undo: bool,             // the last reduction was for losses, and stands
    settled_us: u64,            // packets sent before then have arrived or are lost
    deliveries: Deliveries,
    acked: Acked,
    uncounted: u64,     // acknowledged bytes that make no whole segment yet
    reported_lost: u64, // bytes
    has_sent: bool,
}

/// Data delivered since the start, in both units.
#[derive(Clone, Copy, Debug, Default)]
struct Counted {
    bytes: u64,
    segments: u32, // wraps
}

/// What the packets of an ACK have told so far.
#[derive(Clone, Copy, Debug, Default)]
struct Acked {
    bytes: u64,
    newest_sent_us: Option<u64>,
    is_app_limited: bool,
}

impl Controller {
    pub(crate) fn new(config: Config, mtu: u16) -> Self {
        let mtu = u32::from(mtu.max(1));
        let segments = config.initial_window_for(mtu.into()) / u64::from(mtu);
        let cwnd = u32::try_from(segments).unwrap_or(CWND_MAX).clamp(LEAST_WINDOW, CWND_MAX);
        let control = Control::new(config.protocol, cwnd);
        Self {
            traits: control.traits(),
            control,
            mtu,
            counted: Counted::default(),
            initial_window: u64::from(cwnd) * u64::from(mtu),
            srtt_us: 0,
            in_flight: 0,
            phase: Phase::Open,
            reduced_at_us: None,
            may_undo: false,
            settled_us: 0,
            deliveries: Deliveries::default(),
            acked: Acked::default(),
            uncounted: 0,
            reported_lost: 0,
            has_sent: false,
        }
    }

    /// Returns the congestion window, in bytes.
    pub(crate) fn window_bytes(&self) -> u64 {
        u64::from(self.control.window().cwnd.max(LEAST_WINDOW)) * u64::from(self.mtu)
    }

    pub(crate) fn initial_window_bytes(&self) -> u64 {
        self.initial_window
    }

    /// Returns the slow start threshold, in bytes; None: no loss so far.
    pub(crate) fn ssthresh_bytes(&self) -> Option<u64> {
        let ssthresh = self.control.window().ssthresh;
        (ssthresh < SSTHRESH_INFINITE).then(|| u64::from(ssthresh) * u64::from(self.mtu))
    }

    /// Returns the control's pacing rate, in bytes/s; None: it sets none.
    pub(crate) fn pacing_rate(&self) -> Option<u64> {
        let pacing = self.control.window().pacing;
        (pacing > 0).then_some(pacing >> BW_FRACTION)
    }

    /// Returns the most bytes that may leave at once.
    #[cfg_attr(not(feature = "noq"), allow(dead_code))] // quinn does not ask
    pub(crate) fn quantum_bytes(&self) -> u64 {
        u64::from(self.control.quantum(self.mtu)) * u64::from(self.mtu)
    }

    pub(crate) fn set_mtu(&mut self, mtu: u16) {
        let bytes = self.deliveries.flow.delivered;
        self.counted = Counted { bytes, segments: self.delivered_segments(bytes) };
        self.mtu = u32::from(mtu.max(1));
    }

    /// Takes packets that leave; `packet` is the number of the last.
    pub(crate) fn sent(&mut self, now_us: u64, bytes: u64, packet: u64) {
        let was_idle = self.in_flight == 0;
        if was_idle && self.has_sent {
            self.control.on_restart(now_us);
        }
        self.has_sent = true;
        if self.traits.follows_packets {
            self.follow_sent(now_us, bytes);
        }
        self.in_flight += bytes;
        self.deliveries.on_sent(now_us, packet, self.in_flight, was_idle);
    }

    fn follow_sent(&mut self, now_us: u64, bytes: u64) {
        for place in 0..bytes.div_ceil(u64::from(self.mtu)) {
            let sent = Sent {
                now_us,
                mss: self.mtu,
                srtt_us: self.srtt_us,
                pipe: self.segments(self.in_flight + place * u64::from(self.mtu)),
                delivered: self.delivered_segments(self.deliveries.flow.delivered),
                is_app_limited: self.deliveries.flow.is_app_limited(),
            };
            self.control.on_packet_sent(&sent);
        }
    }

    /// Takes one acknowledged packet of an ACK.
    pub(crate) fn acked(&mut self, now_us: u64, sent_us: u64, bytes: u64, is_app_limited: bool) {
        self.deliveries.on_delivered(now_us, sent_us, bytes);
        self.acked.bytes += bytes;
        self.acked.newest_sent_us = self.acked.newest_sent_us.max(Some(sent_us));
        self.acked.is_app_limited = is_app_limited;
    }

    /// Takes the end of an ACK; `in_flight` has the bytes in flight after it, lost ones included.
    pub(crate) fn end_acks(&mut self, now_us: u64, in_flight: u64) {
        self.in_flight = in_flight;
        self.deliveries.forget_before(self.settled_us);
        let acked = std::mem::take(&mut self.acked);
        let Some(newest_sent_us) = acked.newest_sent_us else { return };
        if acked.is_app_limited {
            self.deliveries.flow.on_app_limited(in_flight);
        }
        let rtt_us = u32::try_from(now_us.saturating_sub(newest_sent_us)).unwrap_or(u32::MAX).max(1);
        self.update_srtt(rtt_us);
        // After this ACK the stack looks for losses. RFC 9002, 6.1.2, finds them after 9/8 of a round trip.
        self.settled_us = newest_sent_us.min(now_us.saturating_sub(4 * u64::from(self.srtt_us.max(rtt_us))));
        let mut sample = self.sample(now_us, rtt_us, acked);
        if let Some(rate) = self.deliveries.take_sample(now_us).filter(|_| self.traits.needs_rate) {
            self.fill_rate(&mut sample, rate, rtt_us);
        }
        self.control.on_ack(&sample);
        if self.phase != Phase::Open && self.reduced_at_us.is_none_or(|reduced_us| newest_sent_us > reduced_us) {
            if self.phase == Phase::Recovery {
                self.control.on_recovery_exit(now_us, self.mtu);
            }
            self.phase = Phase::Open;
        }
    }

    fn sample(&mut self, now_us: u64, rtt_us: u32, acked: Acked) -> Sample {
        self.uncounted += acked.bytes;
        let segments = self.segments(self.uncounted);
        self.uncounted -= u64::from(segments) * u64::from(self.mtu);
        let lost = self.deliveries.flow.lost - self.reported_lost;
        self.reported_lost = self.deliveries.flow.lost;
        let in_flight = self.segments_up(self.in_flight);
        Sample {
            now_us,
            mss: self.mtu,
            acked_segments: segments,
            in_flight,
            rtt_us,
            srtt_us: self.srtt_us,
            phase: self.phase as u8,
            is_cwnd_limited: !acked.is_app_limited,
            newly_delivered: segments,
            newly_lost: self.segments_up(lost),
            pipe: in_flight,
            delivered: self.delivered_segments(self.deliveries.flow.delivered),
            ..Sample::default()
        }
    }

    fn fill_rate(&self, sample: &mut Sample, rate: Rate, rtt_us: u32) {
        let newest = rate.newest;
        sample.is_app_limited = newest.is_app_limited;
        sample.rate_rtt_us = rtt_us;
        sample.rate_segments = self.segments_up(rate.bytes);
        sample.rate_interval_us = u32::try_from(rate.interval_us).unwrap_or(u32::MAX);
        sample.prior_delivered = self.delivered_segments(newest.delivered);
        sample.prior_pipe = self.segments_up(newest.pipe);
        sample.lost_since = self.segments_up(self.deliveries.flow.lost - newest.lost);
    }

    /// RFC 6298, (2.2) and (2.3).
    fn update_srtt(&mut self, rtt_us: u32) {
        self.srtt_us = match self.srtt_us {
            0 => rtt_us,
            srtt_us => srtt_us - srtt_us / 8 + rtt_us / 8,
        };
    }

    /// Takes packets that were found lost, the last of them sent at `sent_us`. `is_told`: each of them has gone
    /// through `packet_lost`.
    pub(crate) fn congestion(&mut self, now_us: u64, sent_us: u64, is_persistent: bool, bytes: u64, is_told: bool) {
        if !is_told {
            let mtu = u64::from(self.mtu);
            for place in 0..bytes.div_ceil(mtu) {
                self.packet_lost(now_us, mtu.min(bytes - place * mtu), self.deliveries.sent_at(sent_us));
            }
        }
        let is_new = self.reduced_at_us.is_none_or(|reduced_us| sent_us > reduced_us);
        if is_new {
            self.reduced_at_us = Some(now_us);
            self.may_undo = true;
        }
        // RFC 9002, 7.6.2: persistent congestion collapses the window. The threshold falls once for each round trip
        // with losses.
        if is_persistent {
            self.phase = Phase::Loss;
            self.control.on_rto(now_us, self.flight_for_ssthresh(), self.mtu, !is_new);
        } else if is_new {
            self.phase = Phase::Recovery;
            self.control.on_loss(now_us, self.flight_for_ssthresh(), self.mtu);
        }
    }

    /// Takes a mark of the packet sent at `sent_us`. RFC 9002, 7.1: an increase of the ECN-CE count counts as a loss.
    pub(crate) fn marked(&mut self, now_us: u64, sent_us: u64) {
        if self.traits.ignores_marks || self.reduced_at_us.is_some_and(|reduced_us| sent_us <= reduced_us) {
            return;
        }
        self.reduced_at_us = Some(now_us);
        self.may_undo = false;
        self.control.on_mark(now_us, self.flight_for_ssthresh(), self.mtu);
        self.control.on_recovery_exit(now_us, self.mtu);
    }

    /// Takes one lost packet, for controls that follow packets.
    fn packet_lost(&mut self, now_us: u64, bytes: u64, sent: Option<Record>) {
        self.deliveries.flow.lost += bytes;
        self.in_flight = self.in_flight.saturating_sub(bytes);
        let Some(record) = sent.filter(|_| self.traits.follows_packets) else { return };
        let lost = Lost {
            now_us,
            mss: self.mtu,
            pipe: self.segments_up(self.in_flight),
            delivered: self.delivered_segments(self.deliveries.flow.delivered),
            prior_delivered: self.delivered_segments(record.delivered),
            prior_pipe: self.segments_up(record.pipe),
            lost_since: self.segments_up(self.deliveries.flow.lost - record.lost),
            is_app_limited: record.is_app_limited,
            continues: false,
        };
        self.control.on_packet_lost(&lost);
    }

    /// Takes a lost packet by its number.
    #[cfg_attr(not(feature = "noq"), allow(dead_code))] // quinn does not report it
    pub(crate) fn packet_lost_by_number(&mut self, now_us: u64, bytes: u64, packet: u64) {
        self.packet_lost(now_us, bytes, self.deliveries.with_packet(packet));
    }

    /// Takes the news that the last reduction was needless.
    #[cfg_attr(not(feature = "noq"), allow(dead_code))] // quinn does not report it
    pub(crate) fn spurious(&mut self) {
        if !std::mem::take(&mut self.may_undo) {
            return;
        }
        self.control.on_undo();
        self.phase = Phase::Open;
    }

    /// RFC 9002, 7.3.2: the threshold follows from the window, not from the bytes in flight.
    fn flight_for_ssthresh(&self) -> u32 {
        self.control.window().cwnd
    }

    fn segments(&self, bytes: u64) -> u32 {
        u32::try_from(bytes / u64::from(self.mtu)).unwrap_or(CWND_MAX)
    }

    fn segments_up(&self, bytes: u64) -> u32 {
        u32::try_from(bytes.div_ceil(u64::from(self.mtu))).unwrap_or(CWND_MAX)
    }

    /// Returns a count of delivered bytes since the start in segments, which wraps.
    fn delivered_segments(&self, bytes: u64) -> u32 {
        let later = bytes as i64 - self.counted.bytes as i64; // negative for packets of another MTU
        self.counted.segments.wrapping_add(later.div_euclid(self.mtu.into()) as u32)
    }
}

#[cfg(test)]
impl Controller {
    pub(crate) fn in_flight_bytes(&self) -> u64 {
        self.in_flight
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MTU: u16 = 1_200;

    fn controller(name: &str) -> Controller {
        let mut config = Config::named(name).unwrap();
        Controller::new(*config.initial_window(10 * u64::from(MTU)), MTU)
    }

    /// A flight of full packets that leaves at a time, and its ACKs one round trip later.
    fn round(controller: &mut Controller, number: &mut u64, at_us: u64, packets: u64) {
        let bytes = u64::from(MTU);
        for _ in 0..packets {
            controller.sent(at_us, bytes, *number);
            *number += 1;
        }
        for left in (0..packets).rev() {
            controller.acked(at_us + 50_000, at_us, bytes, false);
            controller.end_acks(at_us + 50_000, left * bytes);
        }
    }

    #[test]
    fn slow_start_doubles_the_window_per_round_trip() {
        let (mut cubic, mut number) = (controller("newreno"), 0);
        round(&mut cubic, &mut number, 1_000, 10);
        assert_eq!(cubic.window_bytes(), 20 * u64::from(MTU));
        round(&mut cubic, &mut number, 60_000, 20);
        assert_eq!(cubic.window_bytes(), 40 * u64::from(MTU));
    }

    #[test]
    fn an_ack_of_many_packets_counts_them_all() {
        let mut reno = controller("newreno");
        for number in 0..10 {
            reno.sent(1_000, MTU.into(), number);
        }
        for _ in 0..10 {
            reno.acked(51_000, 1_000, MTU.into(), false);
        }
        reno.end_acks(51_000, 0);
        assert_eq!(reno.window_bytes(), 20 * u64::from(MTU));
    }

    #[test]
    fn losses_of_one_round_trip_reduce_the_window_once() {
        let (mut reno, mut number) = (controller("newreno"), 0);
        round(&mut reno, &mut number, 1_000, 10);
        reno.sent(60_000, 3 * u64::from(MTU), 13);
        reno.congestion(110_000, 60_000, false, MTU.into(), false);
        let once = reno.window_bytes();
        assert_eq!(once, 10 * u64::from(MTU)); // RFC 9002, 7.3.2: half of the window
        reno.congestion(111_000, 60_000, false, MTU.into(), false);
        assert_eq!(reno.window_bytes(), once);
    }

    #[test]
    fn an_ack_of_later_data_ends_recovery() {
        let (mut reno, mut number) = (controller("newreno"), 0);
        round(&mut reno, &mut number, 1_000, 10);
        reno.congestion(60_000, 55_000, false, MTU.into(), false);
        let reduced = reno.window_bytes();
        reno.sent(61_000, MTU.into(), 10);
        reno.acked(111_000, 58_000, MTU.into(), false);
        reno.end_acks(111_000, 0);
        assert_eq!(reno.phase, Phase::Recovery); // sent before the reduction
        assert_eq!(reno.window_bytes(), reduced);
        reno.acked(112_000, 61_000, MTU.into(), false);
        reno.end_acks(112_000, 0);
        assert_eq!(reno.phase, Phase::Open);
    }

    #[test]
    fn persistent_congestion_leaves_two_packets() {
        let (mut cubic, mut number) = (controller("cubic"), 0);
        round(&mut cubic, &mut number, 1_000, 10);
        cubic.sent(60_000, MTU.into(), 10);
        cubic.congestion(2_000_000, 60_000, true, MTU.into(), false);
        assert_eq!(cubic.window_bytes(), 2 * u64::from(MTU)); // RFC 9002, 7.2 and 7.6.2
    }

    #[test]
    fn persistent_congestion_reduces_the_threshold_once() {
        let (mut reno, mut number) = (controller("newreno"), 0);
        round(&mut reno, &mut number, 1_000, 10);
        reno.sent(60_000, MTU.into(), 10);
        reno.congestion(2_000_000, 60_000, true, MTU.into(), false);
        assert_eq!(reno.ssthresh_bytes(), Some(10 * u64::from(MTU))); // half of 20
        reno.congestion(2_001_000, 60_000, true, MTU.into(), false);
        assert_eq!(reno.ssthresh_bytes(), Some(10 * u64::from(MTU)));
    }

    #[test]
    fn an_undo_restores_what_losses_took_and_not_what_marks_took() {
        let (mut reno, mut number) = (controller("newreno"), 0);
        round(&mut reno, &mut number, 1_000, 10);
        reno.congestion(60_000, 55_000, false, MTU.into(), false);
        reno.spurious();
        assert_eq!(reno.window_bytes(), 20 * u64::from(MTU));
        reno.marked(70_000, 65_000);
        reno.spurious();
        assert_eq!(reno.window_bytes(), 10 * u64::from(MTU));
    }

    #[test]
    fn delivered_segments_go_on_when_the_mtu_changes() {
        let (mut bbr, mut number) = (controller("bbr3"), 0);
        round(&mut bbr, &mut number, 1_000, 100);
        let before = bbr.delivered_segments(bbr.deliveries.flow.delivered);
        bbr.set_mtu(1_500);
        let bytes = bbr.deliveries.flow.delivered;
        assert_eq!((before, bbr.delivered_segments(bytes)), (100, 100));
        assert_eq!(bbr.delivered_segments(bytes + 1_500), 101);
        assert_eq!(bbr.delivered_segments(bytes - 1_500), 99);
    }

    #[test]
    fn packets_are_forgotten_some_round_trips_after_they_arrived() {
        let (mut bbr, mut number) = (controller("bbr3"), 0);
        for turn in 0..100 {
            round(&mut bbr, &mut number, 1_000 + turn * 50_000, 10);
        }
        assert!(bbr.deliveries.records() < 10);
    }

    #[test]
    fn the_initial_window_is_that_of_rfc_9002() {
        for (mtu, bytes) in [(1_200, 12_000), (1_472, 14_720), (4_000, 12_000), (9_000, 18_000)] {
            let control = Controller::new(Config::named("cubic").unwrap(), mtu);
            assert_eq!(control.initial_window_bytes(), bytes, "{mtu}"); // 14 720 in whole packets
        }
    }

    #[test]
    fn an_application_that_is_idle_does_not_grow_the_window() {
        let mut reno = controller("newreno");
        reno.sent(1_000, MTU.into(), 0);
        reno.acked(51_000, 1_000, MTU.into(), true);
        reno.end_acks(51_000, 0);
        assert_eq!(reno.window_bytes(), 10 * u64::from(MTU));
    }

    #[test]
    fn bbr_paces_by_the_rate_that_it_measures() {
        for name in ["bbr", "bbr3"] {
            let (mut bbr, mut number) = (controller(name), 0);
            for turn in 0..40 {
                round(&mut bbr, &mut number, 1_000 + turn * 50_000, 10);
            }
            let measured = 10 * u64::from(MTU) * 20; // ten packets in each 50 ms
            let rate = bbr.pacing_rate().unwrap();
            assert!((measured * 7 / 10..measured * 3).contains(&rate), "{name} {rate}");
        }
    }

    #[test]
    fn a_mark_reduces_the_window_unless_the_control_ignores_marks() {
        for (name, reduces) in [("cubic", true), ("bbr", false)] {
            let (mut control, mut number) = (controller(name), 0);
            round(&mut control, &mut number, 1_000, 10);
            let before = control.window_bytes();
            control.marked(60_000, 55_000);
            assert_eq!(control.window_bytes() < before, reduces, "{name}");
        }
    }
}
