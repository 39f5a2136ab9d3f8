// SPDX-License-Identifier: BSD-3-Clause
//! The core's controls behind noq-proto's traits. noq obeys a control's pacing rate.

use crate::{Config, Controller};
use noq_proto::RttEstimator;
use noq_proto::congestion::{self, ControllerMetrics};
use std::any::Any;
use std::sync::Arc;
use std::time::Instant;

/// A control and the time from which it counts microseconds.
#[derive(Clone, Debug)]
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
    fn on_packet_sent(&mut self, now: Instant, bytes: u16, pn: u64) {
        self.controller.sent(self.us(now), bytes.into(), pn);
    }

    fn on_ack(&mut self, now: Instant, sent: Instant, bytes: u64, _: u64, app_limited: bool, _: &RttEstimator) {
        self.controller.acked(self.us(now), self.us(sent), bytes, app_limited);
    }

    fn on_end_acks(&mut self, now: Instant, in_flight: u64, _: bool, _: Option<u64>) {
        self.controller.end_acks(self.us(now), in_flight);
    }

    fn on_packet_lost(&mut self, lost_bytes: u16, pn: u64, now: Instant) {
        self.controller.packet_lost_by_number(self.us(now), lost_bytes.into(), pn);
    }

    fn on_congestion_event(
        &mut self,
        now: Instant,
        sent: Instant,
        is_persistent: bool,
        is_ecn: bool,
        lost_bytes: u64,
        _: u64,
    ) {
        let (now_us, sent_us) = (self.us(now), self.us(sent));
        if is_ecn {
            self.controller.marked(now_us, sent_us);
        } else {
            self.controller.congestion(now_us, sent_us, is_persistent, lost_bytes, true);
        }
    }

    fn on_spurious_congestion_event(&mut self) {
        self.controller.spurious();
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
        metrics.pacing_rate = self.controller.pacing_rate();
        metrics.send_quantum = metrics.pacing_rate.map(|_| self.controller.quantum_bytes());
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
