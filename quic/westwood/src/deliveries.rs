// SPDX-License-Identifier: BSD-3-Clause
//! Delivery rate samples (draft-ietf-ccwg-bbr, 4.1.2), from what QUIC stacks report of packets sent and acknowledged.
//!
//! A stack reports the time at which an acknowledged packet was sent. So packets are found by that time; those sent
//! at one time share a record.

use std::collections::VecDeque;

/// What was known when packets were sent at one time.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Record {
    pub sent_us: u64,
    pub last_packet: u64, // number of the last of them
    first_sent_us: u64,
    delivered_at_us: u64,
    pub delivered: u64, // bytes
    pub lost: u64,      // bytes
    pub pipe: u64,      // bytes, with the last of them
    pub is_app_limited: bool,
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
    records: VecDeque<Record>, // by time
    pub delivered: u64,        // bytes since the start
    pub lost: u64,             // bytes since the start
    delivered_at_us: u64,
    first_sent_us: u64,
    limited_until: u64, // bytes delivered
    newest: Option<Record>,
}

impl Deliveries {
    /// Notes packets that leave at `now_us`; `pipe` has the bytes in flight with them.
    pub fn on_sent(&mut self, now_us: u64, packet: u64, pipe: u64, was_idle: bool) {
        if was_idle {
            self.first_sent_us = now_us;
            self.delivered_at_us = now_us;
        }
        if let Some(last) = self.records.back_mut().filter(|last| last.sent_us >= now_us) {
            last.last_packet = packet;
            last.pipe = pipe;
            return;
        }
        if self.records.len() == MOST_RECORDS {
            self.records.pop_front();
        }
        self.records.push_back(Record {
            sent_us: now_us,
            last_packet: packet,
            first_sent_us: self.first_sent_us,
            delivered_at_us: self.delivered_at_us,
            delivered: self.delivered,
            lost: self.lost,
            pipe,
            is_app_limited: self.is_app_limited(),
        });
    }

    /// Notes that a packet sent at `sent_us` was acknowledged.
    pub fn on_delivered(&mut self, now_us: u64, sent_us: u64, bytes: u64) {
        self.delivered += bytes;
        self.delivered_at_us = now_us;
        if self.newest.is_none_or(|newest| sent_us >= newest.sent_us)
            && let Some(record) = self.sent_at(sent_us)
        {
            self.newest = Some(record);
            self.first_sent_us = sent_us;
        }
    }

    /// Returns the sample of the packets noted since the last call; None if none was.
    pub fn take_sample(&mut self, now_us: u64) -> Option<Rate> {
        let newest = self.newest.take()?;
        let sending = newest.sent_us.saturating_sub(newest.first_sent_us);
        let arriving = now_us.saturating_sub(newest.delivered_at_us);
        Some(Rate {
            newest,
            bytes: self.delivered.saturating_sub(newest.delivered),
            interval_us: sending.max(arriving),
        })
    }

    /// The application had nothing to send, and what was in flight then has not all arrived.
    pub fn is_app_limited(&self) -> bool {
        self.limited_until > self.delivered
    }

    pub fn on_app_limited(&mut self, pipe: u64) {
        self.limited_until = self.delivered + pipe.max(1);
    }

    /// Returns the record of packets sent at that time, which may be over.
    pub fn sent_at(&self, sent_us: u64) -> Option<Record> {
        let place = self.records.partition_point(|record| record.sent_us < sent_us);
        self.records.get(place).filter(|record| record.sent_us == sent_us).copied()
    }

    /// Returns the record with the packet of this number.
    #[cfg_attr(not(feature = "noq"), allow(dead_code))] // quinn does not report numbers
    pub fn with_packet(&self, number: u64) -> Option<Record> {
        let place = self.records.partition_point(|record| record.last_packet < number);
        self.records.get(place).copied()
    }

    /// Forgets packets sent before that time: all of them have arrived or are lost.
    pub fn forget_before(&mut self, sent_us: u64) {
        while self.records.front().is_some_and(|record| record.sent_us < sent_us) {
            self.records.pop_front();
        }
    }
}

#[cfg(test)]
impl Deliveries {
    pub fn records(&self) -> usize {
        self.records.len()
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
        all.on_app_limited(1_200);
        all.on_sent(5, 1, 2_400, false);
        assert!(all.sent_at(5).unwrap().is_app_limited);
        all.on_delivered(9, 0, 1_200);
        assert!(!all.is_app_limited());
    }

    #[test]
    fn packets_are_found_by_time_and_by_number() {
        let mut all = Deliveries::default();
        for number in 0..10 {
            all.on_sent(100 * (number / 2), number, 0, false);
        }
        assert_eq!(all.sent_at(200).unwrap().last_packet, 5);
        assert_eq!(all.with_packet(4).unwrap().sent_us, 200);
        all.forget_before(200);
        assert!(all.sent_at(100).is_none());
        assert!(all.with_packet(10).is_none());
    }
}
