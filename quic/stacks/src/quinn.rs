// SPDX-License-Identifier: BSD-3-Clause
//! quinn-proto: what differs from noq-proto.

use crate::null::{self, Handshake, Keys as Change, Secret};
use crate::{Options, Pair};
use bytes::{Bytes, BytesMut};
use quinn_proto as proto;
use quinn_proto::congestion::{BbrConfig, ControllerFactory, CubicConfig, NewRenoConfig};
use quinn_proto::crypto::{
    self, AeadKey, CryptoError, ExportKeyingMaterialError, HandshakeTokenKey, HeaderKey, HmacKey, KeyPair, Keys,
    PacketKey, Session, UnsupportedVersion,
};
use quinn_proto::transport_parameters::TransportParameters;
use quinn_proto::{ConnectError, Connection, ConnectionId, DatagramEvent, EcnCodepoint, Endpoint, TransportError};
use std::any::Any;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;

#[path = "pair.rs"]
mod pair;

pub(crate) fn open(options: &Options) -> Result<Box<dyn Pair>, String> {
    let window = options.initial_window();
    let control: Arc<dyn ControllerFactory + Send + Sync> = match (options.own_control, options.control.as_str()) {
        (true, "cubic") => Arc::new(CubicConfig::default().initial_window(window).clone()),
        (true, "newreno") => Arc::new(NewRenoConfig::default().initial_window(window).clone()),
        (true, "bbr") => Arc::new(BbrConfig::default()),
        (true, other) => return Err(format!("quinn has no control {other:?}, expected newreno, cubic or bbr")),
        (false, name) => Arc::new(westwood::Config::named(name).map_err(|error| error.to_string())?),
    };
    Ok(Box::new(pair::Ends::new(options, control)?))
}

// ---- Calls that noq-proto has with other arguments

fn handle(
    endpoint: &mut Endpoint,
    now: Instant,
    from: SocketAddr,
    ecn: Option<EcnCodepoint>,
    packet: BytesMut,
    response: &mut Vec<u8>,
) -> Option<DatagramEvent> {
    endpoint.handle(now, from, None, ecn, packet, response)
}

fn endpoint(config: Arc<proto::EndpointConfig>, server: Option<Arc<proto::ServerConfig>>) -> Endpoint {
    Endpoint::new(config, server, false, None)
}

fn poll_transmit(connection: &mut Connection, now: Instant, buffer: &mut Vec<u8>) -> Option<proto::Transmit> {
    connection.poll_transmit(now, 1, buffer)
}

/// Returns how many of the bytes the stream has taken.
fn write(stream: &mut proto::SendStream<'_>, data: Bytes) -> Result<usize, proto::WriteError> {
    Ok(stream.write_chunks(&mut [data])?.bytes)
}

fn set_ids(config: &mut proto::EndpointConfig, side: crate::Side) {
    config.cid_generator(move || Box::new(pair::Ids::new(side)));
}

fn keep_to_one_path(_: &mut proto::TransportConfig) {}

/// Returns the window and the threshold, in bytes, and the smoothed round trip.
fn congestion(connection: &mut Connection) -> (u64, Option<u64>, std::time::Duration) {
    let metrics = connection.congestion_state().metrics();
    (metrics.congestion_window, metrics.ssthresh, connection.rtt())
}

fn lost_packets(connection: &mut Connection) -> u64 {
    connection.stats().path.lost_packets
}

// ---- Null protection

struct Null;

fn null_keys() -> Keys {
    Keys { header: KeyPair { local: Box::new(Null), remote: Box::new(Null) }, packet: null_packet_keys(Secret(0)) }
}

fn null_packet_keys(secret: Secret) -> KeyPair<Box<dyn PacketKey>> {
    KeyPair { local: Box::new(secret), remote: Box::new(secret) }
}

impl HeaderKey for Null {
    fn decrypt(&self, _: usize, _: &mut [u8]) {}
    fn encrypt(&self, _: usize, _: &mut [u8]) {}
    fn sample_size(&self) -> usize {
        null::TAG
    }
}

impl PacketKey for Secret {
    fn encrypt(&self, packet: u64, buffer: &mut [u8], _: usize) {
        self.seal(packet, buffer);
    }
    fn decrypt(&self, packet: u64, _: &[u8], payload: &mut BytesMut) -> Result<(), CryptoError> {
        payload.truncate(self.open(packet, payload).ok_or(CryptoError)?);
        Ok(())
    }
    fn tag_len(&self) -> usize {
        null::TAG
    }
    fn confidentiality_limit(&self) -> u64 {
        u64::MAX
    }
    fn integrity_limit(&self) -> u64 {
        u64::MAX
    }
}

impl HmacKey for Null {
    fn sign(&self, _: &[u8], signature: &mut [u8]) {
        signature.fill(null::RESET); // a tag of zeros must not look like a stateless reset
    }
    fn signature_len(&self) -> usize {
        32
    }
    fn verify(&self, _: &[u8], _: &[u8]) -> Result<(), CryptoError> {
        Ok(())
    }
}

impl HandshakeTokenKey for Null {
    fn aead_from_hkdf(&self, _: &[u8]) -> Box<dyn AeadKey> {
        Box::new(Null)
    }
}

impl AeadKey for Null {
    fn seal(&self, _: &mut Vec<u8>, _: &[u8]) -> Result<(), CryptoError> {
        Ok(())
    }
    fn open<'a>(&self, data: &'a mut [u8], _: &[u8]) -> Result<&'a mut [u8], CryptoError> {
        Ok(data)
    }
}

impl Session for Handshake {
    fn initial_keys(&self, _: &ConnectionId, _: proto::Side) -> Keys {
        null_keys()
    }
    fn handshake_data(&self) -> Option<Box<dyn Any>> {
        None
    }
    fn peer_identity(&self) -> Option<Box<dyn Any>> {
        None
    }
    fn early_crypto(&self) -> Option<(Box<dyn HeaderKey>, Box<dyn PacketKey>)> {
        None
    }
    fn early_data_accepted(&self) -> Option<bool> {
        None
    }
    fn is_handshaking(&self) -> bool {
        Handshake::is_handshaking(self)
    }
    fn read_handshake(&mut self, data: &[u8]) -> Result<bool, TransportError> {
        self.read(data);
        Ok(false)
    }
    fn transport_parameters(&self) -> Result<Option<TransportParameters>, TransportError> {
        pair::parameters_of(self)
    }
    fn write_handshake(&mut self, to: &mut Vec<u8>) -> Option<Keys> {
        (self.write(to) == Change::Next).then(null_keys)
    }
    fn next_1rtt_keys(&mut self) -> Option<KeyPair<Box<dyn PacketKey>>> {
        Some(null_packet_keys(self.next_secret()))
    }
    fn is_valid_retry(&self, _: &ConnectionId, _: &[u8], _: &[u8]) -> bool {
        true
    }
    fn export_keying_material(&self, _: &mut [u8], _: &[u8], _: &[u8]) -> Result<(), ExportKeyingMaterialError> {
        Err(ExportKeyingMaterialError)
    }
}

impl crypto::ClientConfig for Null {
    fn start_session(
        self: Arc<Self>,
        _: u32,
        _: &str,
        parameters: &TransportParameters,
    ) -> Result<Box<dyn Session>, ConnectError> {
        Ok(Box::new(pair::handshake(crate::Side::Client, parameters)))
    }
}

impl crypto::ServerConfig for Null {
    fn initial_keys(&self, _: u32, _: &ConnectionId) -> Result<Keys, UnsupportedVersion> {
        Ok(null_keys())
    }
    fn retry_tag(&self, _: u32, _: &ConnectionId, _: &[u8]) -> [u8; 16] {
        [0; 16]
    }
    fn start_session(self: Arc<Self>, _: u32, parameters: &TransportParameters) -> Box<dyn Session> {
        Box::new(pair::handshake(crate::Side::Server, parameters))
    }
}
