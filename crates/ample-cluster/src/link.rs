//! The connections that carry the data: what the dataflow engine reads from and writes to.
//!
//! The engine takes every error of a connection for a reason to panic. A [`Wire`] keeps errors from it: it tells the
//! [control](crate::control) of them, lets the workers end, and then ends the thread that reads without a word; what is
//! written after an error goes nowhere.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use socket2::{SockRef, TcpKeepalive};
use timely::communication::allocator::zero_copy::stream::Stream;

use crate::control::{Control, Tallies};

/// The variable of the environment that makes reading from other processes slower, by so many milliseconds each time. It
/// is for tests.
pub const DELAY: &str = "AMPLE_CLUSTER_DELAY";

/// The end of the data: a header of six numbers, all 0.
const LAST_HEADER: usize = 48;
/// What was sent has to be acknowledged within that time.
const ACKNOWLEDGED: Duration = Duration::from_secs(15);

/// Messages are sent at once, and a peer that does not answer is noticed.
pub(crate) fn tune(stream: &TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let keepalive = TcpKeepalive::new().with_time(Duration::from_secs(2)).with_interval(Duration::from_secs(2));
    let socket = SockRef::from(stream);
    socket.set_tcp_keepalive(&keepalive)?;
    #[cfg(target_os = "linux")]
    socket.set_tcp_user_timeout(Some(ACKNOWLEDGED))?;
    Ok(())
}

/// One end of a connection to another process.
pub(crate) struct Wire {
    stream: TcpStream,
    link: Arc<Link>,
    /// So many bytes 0 were read last.
    zeros: usize,
}

/// What the clones of a [`Wire`] share.
struct Link {
    peer: usize,
    control: Arc<Control>,
    tallies: Tallies,
    is_broken: AtomicBool,
    /// Somebody waits for the threads of the engine to end by themselves.
    is_joined: Arc<AtomicBool>,
    delay: Option<Duration>,
}

impl Wire {
    pub(crate) fn new(
        peer: usize,
        stream: TcpStream,
        control: &Arc<Control>,
        tallies: &Tallies,
        is_joined: &Arc<AtomicBool>,
    ) -> Wire {
        let delay = std::env::var(DELAY).ok().and_then(|delay| delay.parse().ok()).map(Duration::from_millis);
        let link = Link {
            peer,
            control: Arc::clone(control),
            tallies: tallies.clone(),
            is_broken: AtomicBool::new(false),
            is_joined: Arc::clone(is_joined),
            delay,
        };
        Wire { stream, link: Arc::new(link), zeros: 0 }
    }
}

impl Link {
    /// The connection has failed; returns when the group ends.
    fn fail(&self, why: &str) {
        self.is_broken.store(true, Ordering::Relaxed);
        self.control.suspect(self.peer, why);
    }

    /// Ends the thread that reads.
    fn leave(&self) -> ! {
        // The engine hands on to the workers that the thread has ended, and they would panic.
        self.control.wait_for_workers();
        if self.is_joined.load(Ordering::SeqCst) {
            loop {
                std::thread::park();
            }
        }
        std::panic::resume_unwind(Box::new("a connection has failed"))
    }
}

impl Read for Wire {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let why = loop {
            match self.stream.read(buffer) {
                Ok(0) if self.zeros >= LAST_HEADER => return Ok(0),
                Ok(0) => break "the connection for its data was closed".to_owned(),
                Ok(read) => {
                    let zeros = buffer[..read].iter().rev().take_while(|byte| **byte == 0).count();
                    self.zeros = if zeros == read { self.zeros.saturating_add(zeros) } else { zeros };
                    self.link.tallies.count_received(read);
                    self.link.delay.inspect(|delay| std::thread::sleep(*delay));
                    return Ok(read);
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => break format!("the connection for its data has failed: {error}"),
            }
        };
        self.link.fail(&why);
        self.link.leave()
    }
}

impl Write for Wire {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        while !self.link.is_broken.load(Ordering::Relaxed) {
            match self.stream.write(bytes) {
                Ok(written) if written > 0 || bytes.is_empty() => {
                    self.link.tallies.count_sent(written);
                    return Ok(written);
                }
                Ok(_) => self.link.fail("the connection for its data takes nothing"),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => self.link.fail(&format!("the connection for its data has failed: {error}")),
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Stream for Wire {
    fn try_clone(&self) -> io::Result<Wire> {
        Ok(Wire { stream: self.stream.try_clone()?, link: Arc::clone(&self.link), zeros: 0 })
    }

    fn set_nonblocking(&self, nonblocking: bool) -> io::Result<()> {
        self.stream.set_nonblocking(nonblocking)
    }

    fn shutdown(&self, how: Shutdown) -> io::Result<()> {
        // The other end may be gone, which the thread that reads finds out.
        let _ = self.stream.shutdown(how);
        Ok(())
    }
}
