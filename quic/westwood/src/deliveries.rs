// SPDX-License-Identifier: BSD-3-Clause
//! Delivery rate samples, with the equations of `core/delivery.h`, from what QUIC stacks report.
//!
//! A stack reports the time at which an acknowledged packet was sent. So packets are found by that time; those sent
//! at one time share a record.

use crate::ffi::{Delivery, Record};
use std::collections::VecDeque;

/// Packets sent at one time.
#[derive(Clone, Copy, Debug)]
struct Packets {
    last: u64, // number of the last of them
    record: Record,
}

/// A sample of the delivery rate, between the sending of a packet and its acknowledgement.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Rate {
    pub newest: Record,
    pub bytes: u64,
    pub interval_us: u64,
}

/// More records than packets of one connection are ever in flight; beyond that the oldest are forgotten.
const MOST_RECORDS: usize = 1 << 17;

#[derive(Clone, Debug, Default)]
pub(crate) struct Deliveries {
    packets: VecDeque<Packets>, // by time
    pub flow: Delivery,         // its counts are bytes
}

impl Deliveries {
    /// Notes packets that leave at `now_us`; `pipe` has the bytes in flight with them.
    pub fn on_sent(&mut self, now_us: u64, packet: u64, pipe: u64, was_idle: bool) {
        let record = self.flow.on_sent(now_us, pipe, was_idle);
        if let Some(packets) = self.packets.back_mut().filter(|packets| packets.record.sent_us >= now_us) {
            packets.last = packet;
            packets.record.pipe = pipe;
            return;
        }
        if self.packets.len() == MOST_RECORDS {
            self.packets.pop_front();
        }
        self.packets.push_back(Packets { last: packet, record });
    }

    /// Notes that a packet sent at `sent_us` was acknowledged.
    pub fn on_delivered(&mut self, now_us: u64, sent_us: u64, bytes: u64) {
        if let Some(record) = self.sent_at(sent_us) {
            self.flow.on_delivered(&record, now_us, bytes);
        } else {
            self.flow.delivered += bytes;
            self.flow.delivered_at_us = now_us;
        }
    }

    /// Returns the sample of the packets noted since the last call; None if none was.
    pub fn take_sample(&mut self, now_us: u64) -> Option<Rate> {
        let newest = std::mem::take(&mut self.flow.has_newest).then_some(self.flow.newest)?;
        let bytes = self.flow.delivered.saturating_sub(newest.delivered);
        Some(Rate { newest, bytes, interval_us: newest.interval_us(now_us) })
    }

    /// Returns the record of packets sent at that time, which may be over.
    pub fn sent_at(&self, sent_us: u64) -> Option<Record> {
        let place = self.packets.partition_point(|packets| packets.record.sent_us < sent_us);
        self.packets.get(place).map(|packets| packets.record).filter(|record| record.sent_us == sent_us)
    }

    /// Returns the record with the packet of this number.
    #[cfg_attr(not(feature = "noq"), allow(dead_code))] // quinn does not report numbers
    pub fn with_packet(&self, number: u64) -> Option<Record> {
        let place = self.packets.partition_point(|packets| packets.last < number);
        self.packets.get(place).map(|packets| packets.record)
    }

    /// Forgets packets sent before that time: all of them have arrived or are lost.
    pub fn forget_before(&mut self, sent_us: u64) {
        while self.packets.front().is_some_and(|packets| packets.record.sent_us < sent_us) {
            self.packets.pop_front();
        }
    }
}

#[cfg(test)]
impl Deliveries {
    pub fn records(&self) -> usize {
        self.packets.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_counts_what_arrived_between_sending_and_acknowledgement() {
        let mut all = Deliveries::default();
        all.on_sent(1_000, 0, 1_200, true);
        all.on_sent(2_000, 1, 2_400, false);
        all.on_delivered(11_000, 1_000, 1_200);
        let first = all.take_sample(11_000).unwrap();
        assert_eq!((first.bytes, first.interval_us), (1_200, 10_000));
        all.on_delivered(12_000, 2_000, 1_200);
        let second = all.take_sample(12_000).unwrap();
        assert_eq!((second.bytes, second.interval_us), (2_400, 11_000));
        assert!(all.take_sample(12_000).is_none());
    }

    #[test]
    fn a_limited_flow_marks_the_packets_until_the_flight_has_arrived() {
        let mut all = Deliveries::default();
        all.on_sent(0, 0, 1_200, true);
        all.flow.on_app_limited(1_200);
        all.on_sent(5, 1, 2_400, false);
        assert!(all.sent_at(5).unwrap().is_app_limited);
        all.on_delivered(9, 0, 1_200);
        assert!(!all.flow.is_app_limited());
    }

    #[test]
    fn packets_are_found_by_time_and_by_number() {
        let mut all = Deliveries::default();
        for number in 0..10 {
            all.on_sent(100 * (number / 2), number, 0, false);
        }
        for number in 4..6 {
            assert_eq!(all.with_packet(number).unwrap().sent_us, 200);
        }
        assert_eq!(all.with_packet(6).unwrap().sent_us, 300);
        all.forget_before(200);
        assert!(all.sent_at(100).is_none());
        assert!(all.with_packet(10).is_none());
    }
}
