// SPDX-License-Identifier: BSD-3-Clause
//! A client and a server of one connection. This file is compiled for each stack: `super::proto` is its crate.

use super::proto::congestion::ControllerFactory;
use super::proto::transport_parameters::TransportParameters;
use super::proto::{
    ClientConfig, Connection, ConnectionHandle, ConnectionId, ConnectionIdGenerator, DatagramEvent, Dir, EcnCodepoint,
    Endpoint, EndpointConfig, Event, ServerConfig, Side as ProtoSide, StreamEvent, StreamId, TransportConfig,
    TransportError, ValidationTokenConfig, VarInt, WriteError,
};
use super::{Null, congestion, handle, keep_to_one_path, lost_packets, poll_transmit, set_ids, write};
use crate::frames;
use crate::null::{Handshake, connection_id};
use crate::{Ecn, Nanos, Options, Pair, Side, State};
use bytes::{Bytes, BytesMut};
use std::collections::VecDeque;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The application's data.
static ZEROS: [u8; 1 << 16] = [0; 1 << 16];

/// The stacks' estimate before the first sample (RFC 9002, 6.2.2).
const INITIAL_RTT: Duration = Duration::from_millis(333);

/// Connection IDs that count, because the stacks' own are random.
pub(super) struct Ids {
    side: Side,
    count: u64,
}

impl Ids {
    pub(super) fn new(side: Side) -> Self {
        Self { side, count: 0 }
    }
}

impl ConnectionIdGenerator for Ids {
    fn generate_cid(&mut self) -> ConnectionId {
        self.count += 1;
        ConnectionId::new(&connection_id(self.side, self.count))
    }
    fn cid_len(&self) -> usize {
        8
    }
    fn cid_lifetime(&self) -> Option<Duration> {
        None
    }
}

pub(super) fn handshake(side: Side, parameters: &TransportParameters) -> Handshake {
    let mut written = Vec::new();
    parameters.write(&mut written);
    Handshake::new(side, written)
}

/// Returns the peer's transport parameters, once they are known.
pub(super) fn parameters_of(handshake: &Handshake) -> Result<Option<TransportParameters>, TransportError> {
    let side = match handshake.side() {
        Side::Client => ProtoSide::Client,
        Side::Server => ProtoSide::Server,
    };
    let read = |bytes: &Vec<u8>| TransportParameters::read(side, &mut bytes.as_slice()).map_err(TransportError::from);
    handshake.peer_parameters.as_ref().map(read).transpose()
}

/// One end: an endpoint and, once it has begun, its connection.
struct End {
    endpoint: Endpoint,
    connection: Option<Box<(ConnectionHandle, Connection)>>,
    responses: VecDeque<Vec<u8>>, // packets that the endpoint itself sends
}

pub(crate) struct Ends {
    start: Instant,
    client: End,
    server: End,
    stream: Option<StreamId>,
    newest: Option<(StreamId, u64)>, // the newest stream, and all bytes before its first
    written: u64,
    wanted: u64,
    ends: bool,
    closed: VecDeque<(StreamId, u64)>, // streams that end, with all bytes up to their ends
    state: State,
}

fn address(side: Side) -> SocketAddr {
    let host = match side {
        Side::Client => 1,
        Side::Server => 2,
    };
    SocketAddr::from((Ipv4Addr::new(10, 0, 0, host), 4433))
}

fn transport(options: &Options, control: Arc<dyn ControllerFactory + Send + Sync>) -> Result<TransportConfig, String> {
    let window = VarInt::from_u64(options.receive_window).map_err(|error| error.to_string())?;
    let mut config = TransportConfig::default();
    config
        .congestion_controller_factory(control)
        .stream_receive_window(window)
        .receive_window(window)
        .send_window(4 * options.receive_window) // so that the receiver limits, not the sender's buffer
        .initial_mtu(options.datagram_bytes)
        .min_mtu(options.datagram_bytes)
        .mtu_discovery_config(None)
        .enable_segmentation_offload(false)
        .initial_rtt(INITIAL_RTT)
        .max_idle_timeout(None)
        .allow_spin(false);
    keep_to_one_path(&mut config);
    Ok(config)
}

fn endpoint(options: &Options, side: Side, server: Option<Arc<ServerConfig>>) -> Result<Endpoint, String> {
    let mut config = EndpointConfig::new(Arc::new(Null));
    let mut seed = options.seed;
    seed[31] ^= side as u8;
    set_ids(&mut config, side);
    config.rng_seed(Some(seed));
    config.max_udp_payload_size(options.datagram_bytes.max(1_200)).map_err(|error| error.to_string())?;
    Ok(super::endpoint(Arc::new(config), server))
}

impl Ends {
    pub(super) fn new(options: &Options, control: Arc<dyn ControllerFactory + Send + Sync>) -> Result<Self, String> {
        let transport = Arc::new(transport(options, control)?);
        let mut server_config = ServerConfig::new(Arc::new(Null), Arc::new(Null));
        let mut tokens = ValidationTokenConfig::default();
        tokens.sent(0);
        server_config.transport_config(transport.clone()).validation_token_config(tokens);
        let mut client_config = ClientConfig::new(Arc::new(Null));
        client_config
            .transport_config(transport)
            .initial_dst_cid_provider(Arc::new(|| ConnectionId::new(&connection_id(Side::Server, 0))));
        let end = |endpoint| End { endpoint, connection: None, responses: VecDeque::new() };
        let start = Instant::now(); // only differences from it matter
        let mut client = end(endpoint(options, Side::Client, None)?);
        let server = end(endpoint(options, Side::Server, Some(Arc::new(server_config)))?);
        let connection = client
            .endpoint
            .connect(start, client_config, address(Side::Server), "server")
            .map_err(|error| error.to_string())?;
        client.connection = Some(Box::new(connection));
        Ok(Self {
            start,
            client,
            server,
            stream: None,
            newest: None,
            written: 0,
            wanted: 0,
            ends: false,
            closed: VecDeque::new(),
            state: State::default(),
        })
    }

    fn instant(&self, now: Nanos) -> Instant {
        self.start + Duration::from_nanos(now)
    }

    fn end(&mut self, side: Side) -> &mut End {
        match side {
            Side::Client => &mut self.client,
            Side::Server => &mut self.server,
        }
    }

    fn connection(&mut self, side: Side) -> Option<&mut Connection> {
        self.end(side).connection.as_mut().map(|both| &mut both.1)
    }

    /// Handles what the connection tells its endpoint and its application.
    fn pump(&mut self, side: Side) -> Result<(), String> {
        loop {
            let end = self.end(side);
            let Some(both) = end.connection.as_mut() else { return Ok(()) };
            let (handle, connection) = &mut **both;
            while let Some(event) = connection.poll_endpoint_events() {
                if let Some(answer) = end.endpoint.handle_event(*handle, event) {
                    connection.handle_event(answer);
                }
            }
            let Some(event) = connection.poll() else { return Ok(()) };
            self.on_event(side, event)?;
        }
    }

    fn on_event(&mut self, side: Side, event: Event) -> Result<(), String> {
        match (side, event) {
            (_, Event::ConnectionLost { reason }) => return Err(format!("the connection was lost: {reason}")),
            (Side::Client, Event::Connected) => {
                self.state.is_established = true;
                self.write_more()?;
            }
            (Side::Client, Event::Stream(StreamEvent::Writable { .. } | StreamEvent::Available { .. })) => {
                self.write_more()?;
            }
            (Side::Client, Event::Stream(StreamEvent::Finished { id })) => self.on_finished(id),
            (Side::Server, Event::Stream(StreamEvent::Opened { .. })) => {
                while let Some(id) = self.server_connection()?.streams().accept(Dir::Uni) {
                    self.read(id)?;
                }
            }
            (Side::Server, Event::Stream(StreamEvent::Readable { id })) => self.read(id)?,
            _ => (),
        }
        Ok(())
    }

    fn server_connection(&mut self) -> Result<&mut Connection, String> {
        self.connection(Side::Server).ok_or_else(|| "the server has no connection".into())
    }

    fn on_finished(&mut self, id: StreamId) {
        if let Some(place) = self.closed.iter().position(|(stream, _)| *stream == id) {
            let end = self.closed[place].1;
            self.state.acknowledged = self.state.acknowledged.max(end);
            self.closed.remove(place);
        }
    }

    /// Hands all data of a stream that has arrived in order to the application, which drops it.
    fn read(&mut self, id: StreamId) -> Result<(), String> {
        let mut read = 0;
        let mut stream = self.server_connection()?.recv_stream(id);
        if let Ok(mut chunks) = stream.read(true) {
            while let Ok(Some(chunk)) = chunks.next(usize::MAX) {
                read += chunk.bytes.len() as u64;
            }
            let _ = chunks.finalize(); // the caller sends what may be sent
        }
        self.state.delivered += read;
        Ok(())
    }

    /// Writes what the application wants, as far as the stack takes it.
    fn write_more(&mut self) -> Result<(), String> {
        if !self.state.is_established || (self.written >= self.wanted && !(self.ends && self.stream.is_some())) {
            return Ok(());
        }
        let (wanted, ends, mut written, stream) = (self.wanted, self.ends, self.written, self.stream);
        let connection = self.connection(Side::Client).ok_or("the client has no connection")?;
        let Some(id) = stream.or_else(|| connection.streams().open(Dir::Uni)) else { return Ok(()) };
        let mut sending = connection.send_stream(id);
        let start = written;
        while written < wanted {
            let most = (wanted - written).min(ZEROS.len() as u64) as usize;
            match write(&mut sending, Bytes::from_static(&ZEROS[..most])) {
                Ok(taken) => written += taken as u64,
                Err(WriteError::Blocked) => break,
                Err(error) => return Err(error.to_string()),
            }
        }
        let is_over = ends && written == wanted;
        if is_over {
            sending.finish().map_err(|error| error.to_string())?;
            self.closed.push_back((id, wanted));
        }
        self.stream = (!is_over).then_some(id);
        if stream.is_none() {
            self.newest = Some((id, start));
        }
        self.written = written;
        Ok(())
    }

    /// Notes which data a packet of the client carries. A stream begins after the last, so the newest tells.
    fn on_sent(&mut self, packet: &[u8]) {
        let Some((id, start)) = self.newest else { return };
        frames::pieces(packet, &mut |piece| {
            if piece.stream == u64::from(id) {
                self.state.sent = self.state.sent.max(start + piece.end);
            }
        });
    }

    /// Begins the server's connection with the client's first packet.
    fn accept(&mut self, incoming: super::proto::Incoming, now: Instant) -> Result<(), String> {
        let mut response = Vec::new();
        let accepted = self.server.endpoint.accept(incoming, now, &mut response, None);
        let connection = accepted.map_err(|error| format!("the server refused: {}", error.cause))?;
        self.server.connection = Some(Box::new(connection));
        Ok(())
    }
}

impl Pair for Ends {
    fn next(&mut self, side: Side) -> Option<Nanos> {
        let start = self.start;
        let instant = self.connection(side)?.poll_timeout()?;
        Some(instant.saturating_duration_since(start).as_nanos() as Nanos)
    }

    fn wake(&mut self, side: Side, now: Nanos) -> Result<(), String> {
        let instant = self.instant(now);
        if let Some(connection) = self.connection(side) {
            connection.handle_timeout(instant);
        }
        self.pump(side)
    }

    fn take(&mut self, side: Side, now: Nanos, packet: BytesMut, ecn: Ecn) -> Result<(), String> {
        let instant = self.instant(now);
        let from = match side {
            Side::Client => address(Side::Server),
            Side::Server => address(Side::Client),
        };
        let ecn = match ecn {
            Ecn::NotCapable => None,
            Ecn::Capable => Some(EcnCodepoint::Ect0),
            Ecn::Marked => Some(EcnCodepoint::Ce),
        };
        let mut response = Vec::new();
        let end = self.end(side);
        match handle(&mut end.endpoint, instant, from, ecn, packet, &mut response) {
            Some(DatagramEvent::ConnectionEvent(_, event)) => {
                if let Some(connection) = self.connection(side) {
                    connection.handle_event(event);
                }
            }
            Some(DatagramEvent::NewConnection(incoming)) => self.accept(incoming, instant)?,
            Some(DatagramEvent::Response(sent)) => end.responses.push_back(response[..sent.size].to_vec()),
            None => (),
        }
        self.pump(side)
    }

    fn send(&mut self, side: Side, now: Nanos, buffer: &mut Vec<u8>) -> Option<Ecn> {
        let instant = self.instant(now);
        if let Some(response) = self.end(side).responses.pop_front() {
            buffer.extend(response);
            return Some(Ecn::NotCapable);
        }
        let sent = poll_transmit(self.connection(side)?, instant, buffer)?;
        if side == Side::Client {
            self.state.datagrams_sent += 1;
            self.on_sent(buffer);
        }
        Some(if sent.ecn.is_some() { Ecn::Capable } else { Ecn::NotCapable })
    }

    fn write(&mut self, total: u64, ends: bool) -> Result<(), String> {
        self.wanted = total;
        self.ends = ends;
        self.write_more()?;
        self.pump(Side::Client)
    }

    fn stop(&mut self) {
        self.wanted = self.written;
        self.ends = false;
        if self.state.sent < self.written
            && let Some((id, _)) = self.newest
            && let Some(connection) = self.connection(Side::Client)
        {
            let _ = connection.send_stream(id).reset(VarInt::from_u32(0)); // it may be over already
            self.stream = None;
            self.closed.retain(|(stream, _)| *stream != id);
        }
    }

    fn state(&mut self, with_counts: bool) -> State {
        let mut state = self.state;
        if let Some(connection) = self.connection(Side::Client) {
            let (window, ssthresh, srtt) = congestion(connection);
            state.window = window;
            state.ssthresh = ssthresh.unwrap_or(u64::MAX);
            if srtt != INITIAL_RTT {
                state.srtt = srtt.as_nanos() as Nanos;
            }
            if with_counts {
                state.lost_packets = lost_packets(connection);
            }
        }
        state
    }
}
