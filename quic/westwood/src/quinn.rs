// SPDX-License-Identifier: BSD-3-Clause
//! The core's controls behind quinn-proto's traits.
//!
//! quinn reports no packet number of an acknowledged or lost packet and asks for no pacing rate: it sends 1.25 windows
//! per round trip, whatever the control says. It sends only while the bytes in flight stay below the window, and it
//! reports packets with nothing but an ACK as sent.

use crate::{Config, Controller};
use quinn_proto::RttEstimator;
use quinn_proto::congestion::{self, ControllerMetrics};
use std::any::Any;
use std::sync::Arc;
use std::time::Instant;

/// The largest packet that is taken for an ACK, which is not in flight.
const LARGEST_ACK: u64 = 64;

/// A control and the time from which it counts microseconds.
#[derive(Clone)]
struct Timed {
    start: Instant,
    controller: Controller,
}

impl Timed {
    fn us(&self, instant: Instant) -> u64 {
        instant.saturating_duration_since(self.start).as_micros() as u64
    }
}

impl congestion::ControllerFactory for Config {
    fn build(self: Arc<Self>, now: Instant, current_mtu: u16) -> Box<dyn congestion::Controller> {
        Box::new(Timed { start: now, controller: Controller::new(*self, current_mtu) })
    }
}

impl congestion::Controller for Timed {
    fn on_sent(&mut self, now: Instant, bytes: u64, last_packet_number: u64) {
        if bytes > LARGEST_ACK {
            self.controller.sent(self.us(now), bytes, last_packet_number);
        }
    }

    fn on_ack(&mut self, now: Instant, sent: Instant, bytes: u64, app_limited: bool, _: &RttEstimator) {
        self.controller.acked(self.us(now), self.us(sent), bytes, app_limited);
    }

    fn on_end_acks(&mut self, now: Instant, in_flight: u64, _: bool, _: Option<u64>) {
        self.controller.end_acks(self.us(now), in_flight);
    }

    fn on_congestion_event(&mut self, now: Instant, sent: Instant, is_persistent: bool, lost_bytes: u64) {
        let (now_us, sent_us) = (self.us(now), self.us(sent));
        match lost_bytes {
            0 => self.controller.marked(now_us, sent_us),
            _ => self.controller.congestion(now_us, sent_us, is_persistent, lost_bytes, false),
        }
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        self.controller.set_mtu(new_mtu);
    }

    fn window(&self) -> u64 {
        self.controller.window_bytes() + 1 // so that the last packet fits
    }

    fn metrics(&self) -> ControllerMetrics {
        let mut metrics = ControllerMetrics::default();
        metrics.congestion_window = self.controller.window_bytes();
        metrics.ssthresh = self.controller.ssthresh_bytes();
        metrics.pacing_rate = self.controller.pacing_rate().map(|rate| 8 * rate); // bit/s
        metrics
    }

    fn clone_box(&self) -> Box<dyn congestion::Controller> {
        Box::new(self.clone())
    }

    fn initial_window(&self) -> u64 {
        self.controller.initial_window_bytes()
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        Box::new(self.controller)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use congestion::{Controller as _, ControllerFactory as _};
    use std::time::Duration;

    #[test]
    fn a_clone_for_another_path_goes_its_own_way() {
        let start = Instant::now();
        let config = Arc::new(Config::named("newreno").unwrap());
        let first = config.build(start, 1_200);
        let mut other = first.clone_box();
        other.on_congestion_event(start + Duration::from_millis(50), start, false, 1_200);
        assert_eq!((first.window(), other.window()), (12_001, 6_001));
    }

    #[test]
    fn packets_with_only_an_ack_do_not_end_a_silence_or_count_as_sent() {
        let start = Instant::now();
        let mut timed = Timed { start, controller: Controller::new(Config::named("bbr3").unwrap(), 1_200) };
        timed.on_sent(start, 45, 0);
        assert_eq!(timed.controller.in_flight_bytes(), 0);
        timed.on_sent(start, 1_200, 1);
        assert_eq!(timed.controller.in_flight_bytes(), 1_200);
    }
}
