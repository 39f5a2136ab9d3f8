// SPDX-License-Identifier: BSD-3-Clause
//! Reads which data of streams a packet carries (RFC 9000, 16 to 19). Null protection leaves packets readable.

use crate::null::TAG;

const CONNECTION_ID: u64 = 8;

/// A part of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    pub(crate) stream: u64,
    /// Where it ends, in bytes from the stream's beginning.
    pub(crate) end: u64,
}

/// Calls `on_piece` with each piece in a datagram of the client, up to the first frame that has no place in one.
pub(crate) fn pieces(datagram: &[u8], on_piece: &mut impl FnMut(Piece)) {
    let mut rest = Bytes(datagram);
    while !rest.0.is_empty() {
        if rest.packet(on_piece).is_none() {
            return;
        }
    }
}

/// What has not been read yet. Each function returns None if that is too short.
struct Bytes<'a>(&'a [u8]);

impl Bytes<'_> {
    fn skip(&mut self, count: u64) -> Option<()> {
        self.0 = self.0.get(usize::try_from(count).ok()?..)?;
        Some(())
    }

    fn byte(&mut self) -> Option<u8> {
        let (&first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(first)
    }

    /// Reads an integer of variable length.
    fn integer(&mut self) -> Option<u64> {
        let first = self.byte()?;
        let mut value = u64::from(first & 0x3f);
        for _ in 1..1 << (first >> 6) {
            value = value << 8 | u64::from(self.byte()?);
        }
        Some(value)
    }

    fn skip_integers(&mut self, count: u64) -> Option<()> {
        (0..count).try_for_each(|_| self.integer().map(|_| ()))
    }

    /// Skips bytes that are preceded by their number.
    fn skip_counted(&mut self) -> Option<()> {
        let count = self.integer()?;
        self.skip(count)
    }

    fn packet(&mut self, on_piece: &mut impl FnMut(Piece)) -> Option<()> {
        let first = self.byte()?;
        if first & 0x80 != 0 {
            return self.long_packet(first);
        }
        self.skip(CONNECTION_ID + u64::from(first & 3) + 1)?;
        let mut frames = Bytes(self.0.get(..self.0.len().checked_sub(TAG)?)?);
        self.0 = &[];
        while !frames.0.is_empty() {
            frames.frame(on_piece)?;
        }
        Some(())
    }

    /// Skips a packet of the handshake.
    fn long_packet(&mut self, first: u8) -> Option<()> {
        self.skip(4)?; // the version
        for _ in 0..2 {
            let length = self.byte()?;
            self.skip(length.into())?;
        }
        if first & 0x30 == 0 {
            self.skip_counted()?; // an Initial packet's token
        }
        self.skip_counted()
    }

    fn frame(&mut self, on_piece: &mut impl FnMut(Piece)) -> Option<()> {
        let kind = self.integer()?;
        match kind {
            0x00 | 0x01 | 0x1e | 0x1f => Some(()),
            0x02 | 0x03 => {
                self.skip_integers(2)?;
                let ranges = self.integer()?;
                self.skip_integers(1 + 2 * ranges)?;
                self.skip_integers(if kind == 0x03 { 3 } else { 0 })
            }
            0x04 => self.skip_integers(3),
            0x06 => self.skip_integers(1).and_then(|()| self.skip_counted()),
            0x07 => self.skip_counted(),
            0x08..=0x0f => {
                on_piece(self.piece(kind)?);
                Some(())
            }
            0x05 | 0x11 | 0x15 => self.skip_integers(2),
            0x10 | 0x12..=0x14 | 0x16 | 0x17 | 0x19 => self.skip_integers(1),
            0x18 => {
                self.skip_integers(2)?;
                self.skip_counted()?;
                self.skip(16) // the token of stateless resets
            }
            0x1a | 0x1b => self.skip(8),
            _ => None,
        }
    }

    fn piece(&mut self, kind: u64) -> Option<Piece> {
        let stream = self.integer()?;
        let start = if kind & 4 != 0 { self.integer()? } else { 0 };
        let length = if kind & 2 != 0 { self.integer()? } else { self.0.len() as u64 };
        self.skip(length)?;
        Some(Piece { stream, end: start + length })
    }
}

#[cfg(test)]
mod tests {
    use super::{Piece, TAG, pieces};

    fn read(frames: &[u8]) -> Vec<Piece> {
        let mut packet = vec![0x41; 1 + 8 + 2]; // a short header with a number of two bytes
        packet.extend(frames);
        packet.extend([0; TAG]);
        let mut parts = Vec::new();
        pieces(&packet, &mut |piece| parts.push(piece));
        parts
    }

    #[test]
    fn a_stream_frame_says_where_its_data_ends() {
        assert_eq!(read(&[0x08, 2, 9, 9, 9]), [Piece { stream: 2, end: 3 }]); // to the packet's end
        assert_eq!(read(&[0x0e, 6, 0x44, 0, 2, 9, 9]), [Piece { stream: 6, end: 1026 }]);
    }

    #[test]
    fn frames_before_it_are_skipped() {
        let acknowledgement = [0x03, 9, 0, 1, 2, 3, 4, 5, 6, 7];
        let frames = [&acknowledgement[..], &[0, 1, 0x10, 0x40, 99, 0x0a, 2, 1, 9, 0x08, 6, 9]].concat();
        assert_eq!(read(&frames), [Piece { stream: 2, end: 1 }, Piece { stream: 6, end: 1 }]);
    }

    #[test]
    fn what_is_cut_short_has_no_pieces() {
        assert_eq!(read(&[0x0e, 6, 0x44]), []);
        pieces(&[0x41, 1], &mut |_| panic!("no piece"));
    }
}
