// SPDX-License-Identifier: BSD-3-Clause
#![doc = include_str!("../README.md")]
#![deny(unsafe_code)]

mod deliveries;
#[allow(unsafe_code)] // the calls into C
mod ffi;
mod host;
#[cfg(feature = "noq")]
mod noq;
#[cfg(feature = "quinn")]
mod quinn;

pub use host::Controller;

use std::fmt;

/// Makes a congestion control of the core, by name, for each connection.
///
/// With the feature `quinn` it is a `quinn_proto::congestion::ControllerFactory`, with `noq` that of noq-proto. So
/// it goes where `CubicConfig` would:
///
/// ```
/// # #[cfg(feature = "quinn")] {
/// let mut transport = quinn_proto::TransportConfig::default();
/// let control = westwood::Config::named("westwood-cubic")?;
/// transport.congestion_controller_factory(std::sync::Arc::new(control));
/// # }
/// # Ok::<(), westwood::UnknownControl>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    protocol: u32,
    initial_window: Option<u64>,
}

impl Config {
    /// Returns the control of this name, one of [`names`].
    ///
    /// # Errors
    /// [`UnknownControl`] for any other name; its message lists the known ones.
    pub fn named(name: &str) -> Result<Self, UnknownControl> {
        let place = (0..).zip(ffi::names()).find(|(_, known)| *known == name);
        match place {
            Some((protocol, _)) => Ok(Self { protocol, initial_window: None }),
            None => Err(UnknownControl(name.into())),
        }
    }

    /// Sets the initial congestion window, in bytes, instead of that of RFC 9002, 7.2. It is rounded down to whole
    /// packets, at least two.
    pub fn initial_window(&mut self, bytes: u64) -> &mut Self {
        self.initial_window = Some(bytes);
        self
    }

    fn initial_window_for(&self, mtu: u64) -> u64 {
        self.initial_window.unwrap_or((10 * mtu).min(14_720.max(2 * mtu)))
    }
}

/// Returns the names of all congestion controls, such as `"westwood+"`, `"cubic"` and `"bbr3"`.
pub fn names() -> impl Iterator<Item = &'static str> {
    ffi::names()
}

/// The error of [`Config::named`]: there is no control of this name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownControl(String);

impl fmt::Display for UnknownControl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known = names().collect::<Vec<_>>().join(", ");
        write!(f, "no congestion control {:?}, expected one of {known}", self.0)
    }
}

impl std::error::Error for UnknownControl {}
