// SPDX-License-Identifier: BSD-3-Clause
//! Packets on their way: the runner knows them by number.

use bytes::{Bytes, BytesMut};

#[derive(Default)]
pub(crate) struct Packets {
    under_way: Vec<Option<BytesMut>>,
    free: Vec<u32>,
}

impl Packets {
    /// Keeps the packet in a buffer, which is empty then, and returns its number.
    pub fn keep(&mut self, buffer: &mut Vec<u8>) -> u32 {
        let packet = Some(moved_out_of(buffer));
        if let Some(number) = self.free.pop() {
            self.under_way[number as usize] = packet;
            return number;
        }
        self.under_way.push(packet);
        (self.under_way.len() - 1) as u32
    }

    /// Returns the packet, which the network has delivered or dropped.
    pub fn take(&mut self, number: u32) -> Option<BytesMut> {
        let packet = self.under_way.get_mut(number as usize)?.take()?;
        self.free.push(number);
        Some(packet)
    }
}

/// Takes the buffer of a full packet, and copies a small one.
fn moved_out_of(buffer: &mut Vec<u8>) -> BytesMut {
    let capacity = buffer.capacity();
    if buffer.len() == capacity {
        return BytesMut::from(Bytes::from(std::mem::replace(buffer, Vec::with_capacity(capacity))));
    }
    let copied = BytesMut::from(buffer.as_slice());
    buffer.clear();
    copied
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_free_once_its_packet_is_taken() {
        let mut packets = Packets::default();
        let (first, second) = (packets.keep(&mut vec![1]), packets.keep(&mut vec![2]));
        assert_eq!(packets.take(first).unwrap()[..], [1]);
        assert!(packets.take(first).is_none());
        assert_eq!(packets.keep(&mut vec![3]), first);
        assert_eq!(packets.take(second).unwrap()[..], [2]);
    }
}
