// SPDX-License-Identifier: BSD-3-Clause
//! The core's controls behind quinn-proto's traits.
//!
//! quinn reports no packet number of an acknowledged or lost packet and asks for no pacing rate: it sends 1.25 windows
//! per round trip, whatever the control says.

use crate::{Config, Controller};
use quinn_proto::RttEstimator;
use quinn_proto::congestion::{self, ControllerMetrics};
use std::any::Any;
use std::sync::Arc;
use std::time::Instant;

/// A control and the time from which it counts microseconds.
#[derive(Clone)]
struct Timed {
    start: Instant,
    controller: Controller,
}

impl Timed {
    fn us(&self, at: Instant) -> u64 {
        at.saturating_duration_since(self.start).as_micros() as u64
    }
}

impl congestion::ControllerFactory for Config {
    fn build(self: Arc<Self>, now: Instant, current_mtu: u16) -> Box<dyn congestion::Controller> {
        Box::new(Timed { start: now, controller: Controller::new(*self, current_mtu) })
    }
}

impl congestion::Controller for Timed {
    fn on_sent(&mut self, now: Instant, bytes: u64, last_packet_number: u64) {
        self.controller.sent(self.us(now), bytes, last_packet_number);
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
        self.controller.window_bytes()
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
