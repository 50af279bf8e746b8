use std::net::{TcpListener, UdpSocket};
use std::process;
use std::sync::atomic::{AtomicU16, Ordering};

/// Where the search begins and ends: nothing well known listens here, and Linux gives none of these ports to a
/// listener that takes any (`net.ipv4.ip_local_port_range` begins at 32768), nor to who connects.
const RANGE: std::ops::Range<u16> = 16_384..32_768;

/// A port of this machine for a test that has to name one before anybody listens at it, or twice in turn. It is
/// the test's own until this is dropped: a port that was free a moment ago may be somebody else's by now, one
/// that nobody is given by chance stays free, and other tests see that it is taken.
#[derive(Debug)]
pub struct ReservedPort {
    number: u16,
    /// TCP and UDP have ports of their own: this one tells other tests, and is in no listener's way.
    _mark: UdpSocket,
}

impl ReservedPort {
    /// Takes a port that nobody listens at.
    ///
    /// # Panics
    ///
    /// When there is none.
    #[must_use]
    pub fn take() -> Self {
        static TRIED: AtomicU16 = AtomicU16::new(0);
        // Programs of tests that run at once begin at different places.
        let begin = u16::try_from(process::id() % u32::from(RANGE.end - RANGE.start)).unwrap_or(0);
        (0..RANGE.end - RANGE.start)
            .find_map(|_| {
                let next = begin.wrapping_add(TRIED.fetch_add(1, Ordering::Relaxed));
                let number = RANGE.start + next % (RANGE.end - RANGE.start);
                let mark = UdpSocket::bind(("127.0.0.1", number)).ok()?;
                TcpListener::bind(("0.0.0.0", number)).ok()?;
                Some(Self { number, _mark: mark })
            })
            .expect("a port is free")
    }

    /// Its number.
    #[must_use]
    pub fn number(&self) -> u16 {
        self.number
    }
}
