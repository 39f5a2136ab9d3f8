// SPDX-License-Identifier: BSD-3-Clause
//! A quinn client sends data to a quinn server over the loopback interface, under a control chosen by name.
//!
//! ```sh
//! cargo run --release --package loopback -- westwood-cubic 100
//! ```
//!
//! The second word is the amount in MB. An unknown name is an error that lists the known ones.

use quinn::rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer};
use quinn::{ClientConfig, Endpoint, ServerConfig, TransportConfig};
use std::error::Error;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Instant;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

#[tokio::main]
async fn main() -> Result<()> {
    let mut words = std::env::args().skip(1);
    let control = words.next().unwrap_or("westwood+".into());
    let amount = words.next().unwrap_or("100".into());
    let megabytes: usize = amount.parse().map_err(|_| format!("amount = {amount:?}: expected a whole number of MB"))?;

    let mut transport = TransportConfig::default();
    transport
        .congestion_controller_factory(Arc::new(westwood::Config::named(&control).map_err(|error| error.to_string())?));

    let key = rcgen::generate_simple_self_signed(["localhost".to_owned()])?;
    let certificate = CertificateDer::from(key.cert);
    let private = PrivatePkcs8KeyDer::from(key.signing_key.serialize_der());
    let server_config = ServerConfig::with_single_cert(vec![certificate.clone()], private.into())?;
    let server = Endpoint::server(server_config, SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))?;
    let address = server.local_addr()?;
    let receiving = tokio::spawn(receive(server));

    let mut roots = quinn::rustls::RootCertStore::empty();
    roots.add(certificate)?;
    let mut config = ClientConfig::with_root_certificates(Arc::new(roots))?;
    config.transport_config(Arc::new(transport));
    let mut client = Endpoint::client(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))?;
    client.set_default_client_config(config);

    let connection = client.connect(address, "localhost")?.await?;
    let (start, mut stream) = (Instant::now(), connection.open_uni().await?);
    let megabyte = vec![0; 1_000_000];
    for _ in 0..megabytes {
        stream.write_all(&megabyte).await?;
    }
    stream.finish()?;
    stream.stopped().await?; // all of it is acknowledged
    let elapsed_s = start.elapsed().as_secs_f64();
    let path = connection.stats().path;
    println!("{control}: {megabytes} MB in {elapsed_s:.2} s, {:.0} Mb/s", 8.0 * megabytes as f64 / elapsed_s);
    println!("window {} bytes, {} of {} packets lost", path.cwnd, path.lost_packets, path.sent_packets);
    connection.close(0u32.into(), b"done");
    client.wait_idle().await;
    receiving.await?.map_err(|error| error.to_string())?;
    Ok(())
}

/// Reads what one client sends.
async fn receive(server: Endpoint) -> std::result::Result<(), Box<dyn Error + Send + Sync>> {
    let Some(incoming) = server.accept().await else { return Ok(()) };
    let connection = incoming.await?;
    let mut stream = connection.accept_uni().await?;
    while stream.read_chunk(1 << 20, true).await?.is_some() {}
    connection.closed().await;
    Ok(())
}
