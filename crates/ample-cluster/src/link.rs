//! The connections that carry the data: what the dataflow engine reads from and writes to.
//!
//! The engine takes every error of a connection for a reason to panic. A `Wire` keeps errors from it: it tells the
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

/// What was sent has to be acknowledged within that time.
const ACKNOWLEDGED: Duration = Duration::from_secs(8);

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
    messages: Messages,
}

/// Where in the messages of the engine a connection is: each is a header, which tells its length, and so many bytes. One of
/// length 0 is the last.
#[derive(Clone, Copy, Debug)]
struct Messages {
    header: [u8; HEADER],
    /// So many bytes of the header are there.
    known: usize,
    /// So many bytes after it are missing.
    left: u64,
    is_last: bool,
}

/// Six numbers of eight bytes each; the fifth is the length.
const HEADER: usize = 48;
const LENGTH: std::ops::Range<usize> = 32..40;

impl Messages {
    /// Before the first message.
    const NONE: Messages = Messages { header: [0; HEADER], known: 0, left: 0, is_last: false };

    fn read(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            if self.left > 0 {
                let part = self.left.min(bytes.len() as u64);
                self.left -= part;
                bytes = &bytes[part as usize..];
                continue;
            }
            let part = bytes.len().min(HEADER - self.known);
            self.header[self.known..self.known + part].copy_from_slice(&bytes[..part]);
            self.known += part;
            bytes = &bytes[part..];
            if self.known == HEADER {
                self.known = 0;
                self.left = self.header[LENGTH].iter().fold(0, |length, byte| length << 8 | u64::from(*byte));
                self.is_last = self.left == 0;
            }
        }
    }
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
        Wire { stream, link: Arc::new(link), messages: Messages::NONE }
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
                Ok(0) if self.messages.is_last => return Ok(0),
                Ok(0) => break "the connection for its data was closed".to_owned(),
                Ok(read) => {
                    self.messages.read(&buffer[..read]);
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
        Ok(Wire { stream: self.stream.try_clone()?, link: Arc::clone(&self.link), messages: self.messages })
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

#[cfg(test)]
mod tests {
    use timely::communication::networking::MessageHeader;

    use super::*;

    /// Messages of these lengths, all bytes of them 0.
    fn messages(lengths: &[usize]) -> Vec<u8> {
        let mut bytes = Vec::new();
        for length in lengths {
            let header =
                MessageHeader { channel: 1, source: 2, target_lower: 3, target_upper: 4, length: *length, seqno: 5 };
            header.write_to(&mut bytes).unwrap();
            bytes.resize(bytes.len() + length, 0);
        }
        bytes
    }

    #[test]
    fn the_last_message_is_known_wherever_the_bytes_are_cut() {
        for (lengths, is_last) in
            [(vec![], false), (vec![100, 1, 300], false), (vec![100, 1, 300, 0], true), (vec![0], true)]
        {
            let bytes = messages(&lengths);
            for size in 1..120 {
                let mut at = Messages::NONE;
                bytes.chunks(size).for_each(|chunk| at.read(chunk));
                assert_eq!((at.is_last, at.known, at.left), (is_last, 0, 0), "{lengths:?} {size}");
            }
        }
        let mut at = Messages::NONE;
        at.read(&messages(&[1000])[..900]);
        assert!(!at.is_last && at.left == 148);
    }
}
