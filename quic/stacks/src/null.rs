// SPDX-License-Identifier: BSD-3-Clause
//! A handshake and packet protection that protect nothing, so that a simulation computes no cryptography.
//!
//! A tag has the packet's number and the generation of its keys. So a packet whose number was truncated too far to be
//! restored, or whose keys are no longer kept, is refused as under TLS.
//!
//! The messages and packets have about the sizes of TLS 1.3: tags and samples of 16 bytes, and padded messages.
//!
//! | message | in packets of type | brings |
//! | --- | --- | --- |
//! | client hello | Initial | the client's transport parameters |
//! | server hello | Initial | keys of the handshake |
//! | server finished | Handshake | the server's transport parameters, keys of the data |
//! | client finished | Handshake | the end of the handshake |

use crate::Side;

/// The length of an AEAD tag and of a header protection sample (RFC 9001, 5.3 and 5.4.2).
pub(crate) const TAG: usize = 16;

/// The bytes of stateless reset tokens, which no packet ends with.
pub(crate) const RESET: u8 = 0xa5;

/// Sizes of the messages with a certificate of usual size.
const CLIENT_HELLO: usize = 300;
const SERVER_HELLO: usize = 90;
const SERVER_FINISHED: usize = 1_000;
const CLIENT_FINISHED: usize = 36;

/// The handshake at one end. A message is its length and that of its parameters, the parameters, and padding.
pub(crate) struct Handshake {
    side: Side,
    own_parameters: Vec<u8>,
    received: Vec<u8>,
    pub peer_parameters: Option<Vec<u8>>,
    messages_read: u32,
    messages_written: u32,
    key_updates: u64,
}

/// The keys of packets, by the number of updates before them (RFC 9001, 6).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Secret(pub u64);

impl Secret {
    fn tag(self, packet: u64) -> [u8; TAG] {
        (u128::from(self.0) << 64 | u128::from(packet)).to_le_bytes()
    }

    /// Writes the tag at the end of a packet.
    pub fn seal(self, packet: u64, buffer: &mut [u8]) {
        if let Some(tag) = buffer.last_chunk_mut() {
            *tag = self.tag(packet);
        }
    }

    /// Returns the length without the tag; None if the tag is another packet's.
    pub fn open(self, packet: u64, payload: &[u8]) -> Option<usize> {
        (*payload.last_chunk()? == self.tag(packet)).then(|| payload.len() - TAG)
    }
}

/// What the stack does after a call of `write`.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Keys {
    Unchanged,
    Next,
}

impl Handshake {
    pub fn new(side: Side, own_parameters: Vec<u8>) -> Self {
        Self {
            side,
            own_parameters,
            received: Vec::new(),
            peer_parameters: None,
            messages_read: 0,
            messages_written: 0,
            key_updates: 0,
        }
    }

    /// Returns the keys after the next update.
    pub fn next_secret(&mut self) -> Secret {
        self.key_updates += 1;
        Secret(self.key_updates)
    }

    pub fn side(&self) -> Side {
        self.side
    }

    pub fn is_handshaking(&self) -> bool {
        match self.side {
            Side::Client => self.messages_written < 2,
            Side::Server => self.messages_read < 2,
        }
    }

    /// Reads handshake data, in pieces of any size.
    pub fn read(&mut self, data: &[u8]) {
        self.received.extend_from_slice(data);
        while let Some(length) = self.first_length() {
            let message: Vec<u8> = self.received.drain(..length).collect();
            let parameters = usize::from(u16::from_be_bytes([message[2], message[3]]));
            if parameters > 0 {
                self.peer_parameters = Some(message[4..4 + parameters].to_vec());
            }
            self.messages_read += 1;
        }
    }

    fn first_length(&self) -> Option<usize> {
        let length = self.received.first_chunk().map(|&bytes| usize::from(u16::from_be_bytes(bytes)))?;
        (self.received.len() >= length).then_some(length)
    }

    /// Writes the next message, if it is this end's turn, and says whether the next keys come into force.
    pub fn write(&mut self, to: &mut Vec<u8>) -> Keys {
        let (size, has_parameters, keys) = match (self.side, self.messages_read, self.messages_written) {
            (Side::Client, _, 0) => (CLIENT_HELLO, true, Keys::Unchanged),
            (Side::Server, 1.., 0) => (SERVER_HELLO, false, Keys::Next),
            (Side::Server, 1.., 1) => (SERVER_FINISHED, true, Keys::Next),
            (Side::Client, 1.., 1) if !self.has_handshake_keys() => return self.take_handshake_keys(),
            (Side::Client, 2.., 1) => (CLIENT_FINISHED, false, Keys::Next),
            _ => return Keys::Unchanged,
        };
        self.write_message(to, size, has_parameters);
        self.messages_written += 1;
        keys
    }

    /// The client's parameters are no longer needed once its hello is written: their absence notes the keys.
    fn has_handshake_keys(&self) -> bool {
        self.own_parameters.is_empty()
    }

    fn take_handshake_keys(&mut self) -> Keys {
        self.own_parameters.clear();
        Keys::Next
    }

    fn write_message(&self, to: &mut Vec<u8>, size: usize, has_parameters: bool) {
        let parameters: &[u8] = if has_parameters { &self.own_parameters } else { &[] };
        let size = size.max(4 + parameters.len());
        let start = to.len();
        to.extend((size as u16).to_be_bytes());
        to.extend((parameters.len() as u16).to_be_bytes());
        to.extend(parameters);
        to.resize(start + size, 0);
    }
}

/// Returns what a connection ID generator gives: the side, and a count.
pub(crate) fn connection_id(side: Side, count: u64) -> [u8; 8] {
    let mut id = count.to_be_bytes();
    id[0] = match side {
        Side::Client => 0xc0,
        Side::Server => 0x50,
    };
    id
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Hands what one end writes to the other, and returns how often its keys changed.
    fn speak(from: &mut Handshake, to: &mut Handshake) -> usize {
        let mut changes = 0;
        loop {
            let mut message = Vec::new();
            let keys = from.write(&mut message);
            changes += usize::from(keys == Keys::Next);
            for piece in message.chunks(7) {
                to.read(piece);
            }
            if message.is_empty() && keys == Keys::Unchanged {
                return changes;
            }
        }
    }

    #[test]
    fn a_tag_belongs_to_one_packet_and_one_generation_of_keys() {
        let mut packet = [0; TAG + 2];
        Secret(1).seal(7, &mut packet);
        assert_eq!(Secret(1).open(7, &packet), Some(2));
        assert_eq!(Secret(1).open(8, &packet), None);
        assert_eq!(Secret(2).open(7, &packet), None);
        assert_eq!(Secret(1).open(7, &packet[..TAG - 1]), None);
    }

    #[test]
    fn three_flights_bring_the_parameters_and_both_keys() {
        let mut client = Handshake::new(Side::Client, vec![1, 2]);
        let mut server = Handshake::new(Side::Server, vec![3]);
        assert_eq!(speak(&mut client, &mut server), 0);
        assert_eq!(server.peer_parameters, Some(vec![1, 2]));
        assert_eq!(speak(&mut server, &mut client), 2);
        assert_eq!(client.peer_parameters, Some(vec![3]));
        assert!(client.is_handshaking() && server.is_handshaking());
        assert_eq!(speak(&mut client, &mut server), 2);
        assert!(!client.is_handshaking() && !server.is_handshaking());
    }
}
