//! How the processes of a group find each other and connect: one connection for the data for each two of them, and one for
//! the [control](crate::control) from each process to the first.
//!
//! The process with the larger number connects. It says who it is in a line of JSON, and is answered by such a line. A
//! process that does not belong to the group, because its version, its model or its options are others, is refused with a
//! sentence, on both sides. What does not speak the protocol at all is not answered; nothing it sends does any harm.

use std::collections::HashSet;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, Sender, TryRecvError};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use ample_budget::Budget;
use serde::{Deserialize, Serialize};

use crate::control::{CONNECT_LIMIT, Control, End, SMALL_STACK, check_limits, lock};
use crate::group::Group;
use crate::link::tune;
use crate::mesh::Identity;

/// What begins every first line.
const MAGIC: &str = "ample-cluster";
/// The version of what the processes say to each other.
const PROTOCOL: u32 = 1;
/// What a process that was started by another one says where it listens.
const PORT: &str = "ample-cluster port ";
/// A first line is at most that long (it has the hosts of all processes), and takes at most that time.
const MAX_HELLO: usize = 1 << 17;
const HELLO_LIMIT: Duration = Duration::from_secs(5);
/// So many connections may be about to say who they are.
const MAX_STRANGERS: usize = 64;
/// The addresses of all processes are at most that long.
const MAX_INTRODUCTION: usize = 1 << 16;
/// How often a connection is tried, and how long each time.
const RETRY: Duration = Duration::from_millis(100);
const TRY_LIMIT: Duration = Duration::from_secs(2);
const LOOK_EVERY: Duration = Duration::from_millis(5);
/// A process whose first process is gone ends within that time, whatever it is doing.
const ORPHAN_LIMIT: Duration = Duration::from_secs(3);
/// Of what a process writes to standard error so much is kept.
const MAX_ERRORS: usize = 64 << 10;

/// What a connection is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
enum Channel {
    Control,
    Data,
}

/// Who a process is. What a later protocol does not say has its default.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Hello {
    magic: String,
    protocol: u32,
    version: String,
    #[serde(default)]
    token: String,
    #[serde(default)]
    digest: String,
    #[serde(default)]
    threads: usize,
    #[serde(default)]
    processes: usize,
    process: usize,
}

/// The first line of who connects.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Request {
    hello: Hello,
    channel: Channel,
}

/// The first line of who is connected to.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Reply {
    hello: Hello,
    refused: Option<String>,
}

/// What the first process tells those that it has started.
#[derive(Debug, Serialize, Deserialize)]
struct Introduction {
    token: String,
    ports: Vec<u16>,
}

impl Hello {
    fn new(group: &Group, identity: &Identity, token: String) -> Hello {
        Hello {
            magic: MAGIC.to_owned(),
            protocol: PROTOCOL,
            version: identity.version.clone(),
            token,
            digest: format!("{:032x}", identity.digest),
            threads: identity.threads.max(1),
            processes: group.processes(),
            process: group.process(),
        }
    }

    /// Why a process does not belong to the group of this one.
    fn differs(&self, other: &Hello) -> Option<String> {
        let process = other.process;
        let version = || printable(&other.version, 40);
        if self.protocol != other.protocol || self.version != other.version {
            let protocols = match self.protocol == other.protocol {
                true => String::new(),
                false => format!(" (protocol {}, this one {})", other.protocol, self.protocol),
            };
            return Some(format!("process {process} runs ample {}, this one {}{protocols}", version(), self.version));
        }
        if self.processes != other.processes {
            return Some(format!(
                "process {process} is one of {} processes, this one of {}",
                other.processes, self.processes
            ));
        }
        if self.token != other.token {
            return Some(format!("process {process} has other lines in its file of hosts than this one"));
        }
        if self.threads != other.threads {
            return Some(format!("process {process} has {} threads, this one {}", other.threads, self.threads));
        }
        (self.digest != other.digest)
            .then(|| format!("process {process} has another model or other options than this one"))
    }
}

/// What comes over the network, without what a terminal would obey.
fn printable(text: &str, length: usize) -> String {
    text.chars().filter(|letter| !letter.is_control()).take(length).collect()
}

/// The connections of a process, and the processes that it has started.
#[derive(Debug, Default)]
pub(crate) struct Connections {
    pub(crate) data: Vec<Option<TcpStream>>,
    pub(crate) children: Children,
}

/// Starts the processes of a group if that is this one's task, and connects to all.
pub(crate) fn connect(
    group: &Group,
    identity: &Identity,
    control: &Arc<Control>,
    budget: &Budget,
) -> Result<Connections, End> {
    let mut children = Children::default();
    let data = match meet(group, identity, control, budget, &mut children) {
        Ok(data) => data,
        Err(end) => {
            control.end(end);
            control.farewell();
            control.close();
            let end = control.ended().map(|end| children.explain(end));
            return Err(
                end.unwrap_or(End::Interrupted { process: group.process(), why: ample_model::Reason::Interrupted })
            );
        }
    };
    Ok(Connections { data, children })
}

fn meet(
    group: &Group,
    identity: &Identity,
    control: &Arc<Control>,
    budget: &Budget,
    children: &mut Children,
) -> Result<Vec<Option<TcpStream>>, End> {
    let (listener, place) = match group {
        Group::Local { processes, command } => {
            children.start(command, *processes)?;
            let (listener, own) = listen_locally(0)?;
            let ports: Result<Vec<u16>, End> =
                (1..*processes).map(|child| children.port(child, control, budget)).collect();
            let introduction = Introduction { token: random_token(), ports: [vec![own], ports?].concat() };
            children.introduce(&introduction);
            (listener, Place::on_this_machine(group, identity, introduction))
        }
        Group::Member { process, processes } => {
            follow_parent();
            let (listener, own) = listen_locally(*process)?;
            let told = writeln!(io::stdout(), "{PORT}{own}").and_then(|()| io::stdout().flush());
            let failed = |why: String| End::Failed { process: *process, why };
            told.map_err(|error| failed(format!("standard output cannot be written: {error}")))?;
            let introduction = introduction(control, budget)?;
            if introduction.ports.len() != *processes {
                return Err(failed(format!("process 0 has started {} processes", introduction.ports.len())));
            }
            (listener, Place::on_this_machine(group, identity, introduction))
        }
        Group::Hosts { hosts, process } => {
            let addresses = resolve_all(hosts, control, budget)?;
            let failed = |error| End::Failed { process: *process, why: format!("{}: {error}", hosts[*process]) };
            let listener = bind(&addresses, *process).map_err(failed)?;
            // Whoever has the same hosts in the same order belongs to the group.
            let hello = Hello::new(group, identity, hosts.join(" "));
            (listener, Place { hello, addresses, names: hosts.clone() })
        }
    };
    let deadline = Instant::now() + CONNECT_LIMIT;
    let data = rendezvous(&listener, Arc::new(place), control, budget, deadline, children)?;
    control.ready(deadline, budget)?;
    Ok(data)
}

/// Listens on a port that the operating system chooses, for this machine only.
fn listen_locally(process: usize) -> Result<(TcpListener, u16), End> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0));
    let listener = listener.and_then(|listener| listener.local_addr().map(|own| (listener, own.port())));
    listener.map_err(|error| End::Failed { process, why: format!("no port can be listened on: {error}") })
}

/// Waits for what another thread of this process sends.
fn wait<T>(receiver: &Receiver<T>, control: &Control, budget: &Budget) -> Result<T, End> {
    loop {
        check(control, budget)?;
        match receiver.recv_timeout(LOOK_EVERY) {
            Ok(result) => return Ok(result),
            Err(mpsc::RecvTimeoutError::Timeout) => {}
            Err(mpsc::RecvTimeoutError::Disconnected) => {
                return Err(End::Failed { process: control.process, why: "a thread has failed".into() });
            }
        }
    }
}

fn check(control: &Control, budget: &Budget) -> Result<(), End> {
    if let Some(end) = control.ended() {
        return Err(end);
    }
    check_limits(budget).map_err(|why| End::Interrupted { process: control.process, why: why.into() })
}

/// A thread that waits for the network. It ends by itself.
fn detached(work: impl FnOnce() + Send + 'static) -> io::Result<()> {
    thread::Builder::new().name("connect".into()).stack_size(SMALL_STACK).spawn(work).map(drop)
}

/// 128 bits that nobody can guess: the keys of hash tables come from the operating system.
fn random_token() -> String {
    use std::hash::{BuildHasher, RandomState};
    format!("{:016x}{:016x}", RandomState::new().hash_one(0), RandomState::new().hash_one(1))
}

/// Who this process is, and where the processes of the group are.
#[derive(Debug)]
struct Place {
    hello: Hello,
    addresses: Vec<Vec<SocketAddr>>,
    /// What the user calls them; nothing if they are on this machine.
    names: Vec<String>,
}

impl Place {
    fn on_this_machine(group: &Group, identity: &Identity, introduction: Introduction) -> Place {
        let address = |port: &u16| vec![SocketAddr::from((Ipv4Addr::LOCALHOST, *port))];
        let addresses = introduction.ports.iter().map(address).collect();
        Place { hello: Hello::new(group, identity, introduction.token), addresses, names: Vec::new() }
    }

    fn name(&self, process: usize) -> String {
        self.names.get(process).cloned().unwrap_or_else(|| self.addresses[process][0].to_string())
    }

    /// Whether processes of the group are there.
    fn is_known(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        self.addresses.iter().flatten().any(|known| known.ip().to_canonical() == address)
    }
}

/// What a thread that connects, or answers, has come to.
enum Arrival {
    /// There is a connection.
    Connected(usize, Channel, TcpStream),
    /// A process does not belong to the group.
    Refused(String),
    /// A process could not be reached, and is tried again.
    Unreachable(usize, String),
}

/// What the threads that connect and answer share.
struct Meeting {
    place: Arc<Place>,
    arrivals: Sender<Arrival>,
    /// Those that are connected, or about to be.
    taken: Mutex<HashSet<(usize, Channel)>>,
    /// How many are about to say who they are.
    strangers: AtomicUsize,
    is_over: AtomicBool,
    deadline: Instant,
}

/// Connects this process to all others.
fn rendezvous(
    listener: &TcpListener,
    place: Arc<Place>,
    control: &Arc<Control>,
    budget: &Budget,
    deadline: Instant,
    children: &mut Children,
) -> Result<Vec<Option<TcpStream>>, End> {
    let (process, processes) = (place.hello.process, place.hello.processes);
    let failed = |error: io::Error| End::Failed { process, why: format!("the port cannot be listened on: {error}") };
    listener.set_nonblocking(true).map_err(failed)?;
    let (arrivals, arrived) = mpsc::channel();
    let meeting = Arc::new(Meeting {
        place: Arc::clone(&place),
        arrivals,
        taken: Mutex::default(),
        strangers: AtomicUsize::new(0),
        is_over: AtomicBool::new(false),
        deadline,
    });
    let _over = Over(&meeting.is_over);
    let reach = |peer: usize, channel: Channel| {
        let meeting = Arc::clone(&meeting);
        detached(move || meeting.reach(peer, channel)).map_err(failed)
    };
    // The first process is connected to before all others: from then on it knows if this one ends, and whether it belongs
    // to the group has been decided.
    if process > 0 {
        reach(0, Channel::Control)?;
    }
    let mut missing: HashSet<(usize, Channel)> =
        (0..processes).filter(|peer| *peer != process).map(|peer| (peer, Channel::Data)).collect();
    missing.extend((0..processes).filter(|peer| (*peer == 0) != (process == 0)).map(|peer| (peer, Channel::Control)));
    let mut data: Vec<Option<TcpStream>> = (0..processes).map(|_| None).collect();
    let mut problems: Vec<Option<String>> = vec![None; processes];
    let mut unknown = None;
    while !missing.is_empty() {
        check(control, budget)?;
        children.check(control, budget)?;
        if Instant::now() >= deadline {
            let late = missing.iter().map(|(peer, _)| *peer).min().unwrap_or_default();
            return Err(End::Lost { process: late, why: too_late(&place, late, problems[late].take(), unknown) });
        }
        match listener.accept() {
            Ok((_, address)) if !place.is_known(address.ip()) => unknown = Some(address.ip()),
            Ok((stream, _)) => Meeting::answer(&meeting, stream),
            Err(_) => thread::sleep(LOOK_EVERY),
        }
        loop {
            match arrived.try_recv() {
                Ok(Arrival::Connected(peer, channel, stream)) => {
                    missing.remove(&(peer, channel));
                    match channel {
                        Channel::Data => data[peer] = Some(stream),
                        Channel::Control => {
                            control.attach(peer, stream)?;
                            (0..process).try_for_each(|peer| reach(peer, Channel::Data))?;
                        }
                    }
                }
                Ok(Arrival::Refused(why)) => return Err(End::Refused { why }),
                Ok(Arrival::Unreachable(peer, why)) => problems[peer] = Some(why),
                Err(TryRecvError::Empty | TryRecvError::Disconnected) => break,
            }
        }
    }
    Ok(data)
}

fn too_late(place: &Place, process: usize, problem: Option<String>, unknown: Option<IpAddr>) -> String {
    let limit = CONNECT_LIMIT.as_secs();
    let name = place.name(process);
    let problem = match (problem, unknown) {
        (Some(problem), _) => format!(": {problem}"),
        (None, Some(address)) => format!("; a connection from {address} was refused, since no host has that address"),
        (None, None) => String::new(),
    };
    format!("there was no connection with {name} within {limit} s{problem}")
}

/// Ends the threads that connect.
struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl Meeting {
    /// Connects to a process with a smaller number; it may not be there yet.
    fn reach(&self, peer: usize, channel: Channel) {
        while !self.is_over.load(Ordering::Relaxed) && Instant::now() < self.deadline {
            for address in &self.place.addresses[peer] {
                let arrival = match self.request(*address, peer, channel) {
                    Ok(arrival) => arrival,
                    Err(error) => Arrival::Unreachable(peer, error.to_string()),
                };
                let is_settled = !matches!(arrival, Arrival::Unreachable(..));
                if self.arrivals.send(arrival).is_err() || is_settled {
                    return;
                }
            }
            thread::sleep(RETRY);
        }
    }

    fn request(&self, address: SocketAddr, peer: usize, channel: Channel) -> io::Result<Arrival> {
        let mut stream = TcpStream::connect_timeout(&address, TRY_LIMIT)?;
        tune(&stream)?;
        let own = &self.place.hello;
        write_line(&mut stream, &Request { hello: own.clone(), channel })?;
        let reply: Reply = read_line(&mut stream, self.deadline)?;
        let is_other = reply.hello.magic != MAGIC || reply.hello.process != peer;
        if is_other && reply.refused.is_none() {
            return Err(io::Error::other(format!("process {} has answered", reply.hello.process)));
        }
        let refusal = own.differs(&reply.hello).or(reply.refused.map(|why| printable(&why, 300)));
        Ok(refusal.map_or(Arrival::Connected(peer, channel, stream), Arrival::Refused))
    }

    /// Finds out who has connected, in a thread of its own.
    fn answer(meeting: &Arc<Meeting>, stream: TcpStream) {
        if meeting.strangers.fetch_add(1, Ordering::Relaxed) >= MAX_STRANGERS {
            // Who belongs to the group tries again.
            meeting.strangers.fetch_sub(1, Ordering::Relaxed);
            return;
        }
        let own = Arc::clone(meeting);
        let work = move || {
            let arrival = own.greet(stream);
            own.strangers.fetch_sub(1, Ordering::Relaxed);
            if let Ok(Some(arrival)) = arrival {
                let _ = own.arrivals.send(arrival);
            }
        };
        if detached(work).is_err() {
            meeting.strangers.fetch_sub(1, Ordering::Relaxed);
        }
    }

    fn greet(&self, mut stream: TcpStream) -> io::Result<Option<Arrival>> {
        stream.set_nonblocking(false)?;
        tune(&stream)?;
        let Request { hello, channel } = read_line(&mut stream, Instant::now() + HELLO_LIMIT)?;
        let own = &self.place.hello;
        let is_on_this_machine = self.place.names.is_empty();
        if hello.magic != MAGIC || is_on_this_machine && hello.token != own.token {
            return Ok(None);
        }
        if let Some(why) = own.differs(&hello) {
            // The other side says it from its own point of view.
            let refused = hello.differs(own);
            write_line(&mut stream, &Reply { hello: own.clone(), refused })?;
            return Ok(Some(Arrival::Refused(why)));
        }
        let peer = hello.process;
        let is_expected = match channel {
            Channel::Data => own.process < peer && peer < own.processes,
            Channel::Control => own.process == 0 && 0 < peer && peer < own.processes,
        };
        let refused = if !is_expected {
            Some(format!(
                "process {} does not wait for process {peer}: each process has a number of its own",
                own.process
            ))
        } else if !lock(&self.taken).insert((peer, channel)) {
            Some(format!("process {peer} is there already: each process has a number of its own"))
        } else {
            None
        };
        let is_refused = refused.is_some();
        let written = write_line(&mut stream, &Reply { hello: own.clone(), refused });
        if is_refused {
            return Ok(None);
        }
        if let Err(error) = written {
            lock(&self.taken).remove(&(peer, channel));
            return Err(error);
        }
        Ok(Some(Arrival::Connected(peer, channel, stream)))
    }
}

fn write_line(stream: &mut TcpStream, value: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_vec(value)?;
    line.push(b'\n');
    stream.set_write_timeout(Some(HELLO_LIMIT))?;
    stream.write_all(&line)?;
    stream.set_write_timeout(None)
}

/// Reads a line, and nothing of what comes after it.
fn read_line<T: for<'de> Deserialize<'de>>(stream: &mut TcpStream, deadline: Instant) -> io::Result<T> {
    let mut line = Vec::new();
    let mut byte = [0];
    while line.len() < MAX_HELLO {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::Error::new(io::ErrorKind::TimedOut, "no answer"));
        }
        stream.set_read_timeout(Some(left))?;
        match stream.read(&mut byte) {
            Ok(0) => return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the connection was closed")),
            Ok(_) if byte[0] == b'\n' => {
                stream.set_read_timeout(None)?;
                return serde_json::from_slice(&line).map_err(io::Error::from);
            }
            Ok(_) => line.push(byte[0]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::other("the answer is too long"))
}

/// The addresses of all hosts.
fn resolve_all(hosts: &[String], control: &Control, budget: &Budget) -> Result<Vec<Vec<SocketAddr>>, End> {
    let process = control.process;
    let (sender, resolved) = mpsc::channel();
    let names = hosts.to_vec();
    // It may take long, and nothing can end it.
    let resolve = move || {
        let resolve = |host: &String| {
            let lacking = |why: String| End::Failed { process, why: format!("{host}: {why}") };
            let addresses = host.to_socket_addrs().map_err(|error| lacking(error.to_string()))?;
            let addresses: Vec<SocketAddr> = addresses.collect();
            if addresses.is_empty() { Err(lacking("it has no address".into())) } else { Ok(addresses) }
        };
        let _ = sender.send(names.iter().map(resolve).collect());
    };
    detached(resolve).map_err(|error| End::Failed { process, why: format!("there is no thread: {error}") })?;
    wait(&resolved, control, budget)?
}

/// Listens where the others look for this process.
fn bind(addresses: &[Vec<SocketAddr>], process: usize) -> io::Result<TcpListener> {
    let own = addresses[process][0];
    // The name of a host may stand for another address at the host itself.
    let is_local = addresses.iter().flatten().all(|address| address.ip().is_loopback());
    let address = match own.ip() {
        _ if is_local => own.ip(),
        IpAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        IpAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    };
    TcpListener::bind((address, own.port()))
}

/// What the first process says to one that it has started.
static PARENT: OnceLock<Parent> = OnceLock::new();

struct Parent {
    introduction: Mutex<Option<Receiver<io::Result<Introduction>>>>,
    /// Those who have to know when the first process is gone.
    control: Mutex<Option<Arc<Control>>>,
}

/// Begins to read what the first process says, and ends this one when that is gone.
pub(crate) fn follow_parent() {
    PARENT.get_or_init(|| {
        let (sender, introduction) = mpsc::channel();
        // Without a thread the sender is gone, which is an error for who waits.
        let _ = detached(move || {
            let mut input = BufReader::new(io::stdin());
            let mut line = String::new();
            let read = (&mut input).take(MAX_INTRODUCTION as u64).read_line(&mut line);
            let _ = sender.send(read.and_then(|_| serde_json::from_str(&line).map_err(io::Error::from)));
            let _ = io::copy(&mut input, &mut io::sink());
            let control = PARENT.get().and_then(|parent| lock(&parent.control).take());
            control.inspect(|control| control.lose(0, "it has ended"));
            thread::sleep(ORPHAN_LIMIT);
            std::process::exit(1)
        });
        Parent { introduction: Mutex::new(Some(introduction)), control: Mutex::default() }
    });
}

/// Where the other processes are.
fn introduction(control: &Arc<Control>, budget: &Budget) -> Result<Introduction, End> {
    let failed = |why: String| End::Failed { process: control.process, why };
    follow_parent();
    let parent = PARENT.get().and_then(|parent| {
        *lock(&parent.control) = Some(Arc::clone(control));
        lock(&parent.introduction).take()
    });
    let receiver = parent.ok_or_else(|| failed("it has been connected before".into()))?;
    wait(&receiver, control, budget)?.map_err(|error| failed(format!("process 0 was not understood: {error}")))
}

/// The processes that this one has started. None of them outlives it.
#[derive(Debug, Default)]
pub(crate) struct Children(Vec<Started>);

#[derive(Debug)]
struct Started {
    child: Child,
    input: Option<ChildStdin>,
    port: Receiver<u16>,
    errors: Arc<Mutex<Vec<u8>>>,
}

impl Children {
    fn start(&mut self, command: &[std::ffi::OsString], processes: usize) -> Result<(), End> {
        let failed =
            |process, error: io::Error| End::Failed { process, why: format!("it could not be started: {error}") };
        let program = std::env::current_exe().map_err(|error| failed(1, error))?;
        for process in 1..processes {
            self.0.push(Started::new(&program, command, process).map_err(|error| failed(process, error))?);
        }
        Ok(())
    }

    /// Waits for a process to listen.
    fn port(&mut self, process: usize, control: &Control, budget: &Budget) -> Result<u16, End> {
        loop {
            check(control, budget)?;
            match self.0[process - 1].port.recv_timeout(LOOK_EVERY) {
                Ok(port) => return Ok(port),
                Err(mpsc::RecvTimeoutError::Timeout) => self.check(control, budget)?,
                Err(mpsc::RecvTimeoutError::Disconnected) => {
                    check(control, budget)?;
                    return Err(ended_early(process));
                }
            }
        }
    }

    /// Whether none of them has ended.
    fn check(&mut self, control: &Control, budget: &Budget) -> Result<(), End> {
        let Some(child) = self.0.iter_mut().position(|started| !matches!(started.child.try_wait(), Ok(None))) else {
            return Ok(());
        };
        // Their limits are those of this process, which began before them: where a limit is the reason, it is exceeded here too.
        check(control, budget)?;
        Err(ended_early(child + 1))
    }

    fn introduce(&mut self, introduction: &Introduction) {
        let mut line = serde_json::to_vec(introduction).unwrap_or_default();
        line.push(b'\n');
        for started in &mut self.0 {
            // One that is gone is missed soon.
            let _ = started.input.as_mut().map(|input| input.write_all(&line).and_then(|()| input.flush()));
        }
    }

    /// What is known of the end of a process that has failed or was lost; what it has written to standard error is shown.
    pub(crate) fn explain(&mut self, end: End) -> End {
        let (End::Lost { process, .. } | End::Failed { process, .. }) = end else { return end };
        let Some(started) = process.checked_sub(1).and_then(|child| self.0.get_mut(child)) else { return end };
        // It may be about to end.
        let limit = Instant::now() + Duration::from_millis(200);
        while Instant::now() < limit && matches!(started.child.try_wait(), Ok(None)) {
            thread::sleep(LOOK_EVERY);
        }
        let status = started.child.try_wait().ok().flatten();
        let errors = std::mem::take(&mut *lock(&started.errors));
        let _ = io::stderr().write_all(&errors);
        match (end, status) {
            (End::Lost { process, why }, Some(status)) => End::Lost { process, why: format!("{why} ({status})") },
            (end, _) => end,
        }
    }

    /// Waits a moment for the processes to end, and kills those that do not.
    pub(crate) fn reap(&mut self) {
        let limit = Instant::now() + Duration::from_secs(1);
        for mut started in self.0.drain(..) {
            while Instant::now() < limit && matches!(started.child.try_wait(), Ok(None)) {
                thread::sleep(LOOK_EVERY);
            }
            started.kill();
        }
    }
}

fn ended_early(process: usize) -> End {
    End::Lost { process, why: "it ended before it was connected".into() }
}

impl Drop for Children {
    fn drop(&mut self) {
        self.0.drain(..).for_each(|mut started| started.kill());
    }
}

impl Started {
    fn new(program: &std::path::Path, command: &[std::ffi::OsString], process: usize) -> io::Result<Started> {
        // What comes after `--` is not an option.
        let options = command.iter().position(|argument| argument == "--").unwrap_or(command.len());
        let mut process_of = Command::new(program);
        process_of.args(&command[..options]).arg("--member").arg(process.to_string()).args(&command[options..]);
        process_of.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // An interrupt from the terminal is for the first process, which hands it on.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut process_of, 0);
        let mut child = process_of.spawn()?;
        let (input, output, errors) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (sender, port) = mpsc::channel();
        let written = Arc::new(Mutex::new(Vec::new()));
        let started = Started { child, input, port, errors: Arc::clone(&written) };
        // If a thread cannot be started, the process is killed when this is dropped.
        let mut started = Killed(Some(started));
        detached(move || output.into_iter().for_each(|output| read_port(output, &sender)))?;
        detached(move || errors.into_iter().for_each(|errors| keep(errors, &written)))?;
        Ok(started.0.take().expect("it was put there"))
    }

    fn kill(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A process that is killed when it is dropped.
struct Killed(Option<Started>);

impl Drop for Killed {
    fn drop(&mut self) {
        self.0.iter_mut().for_each(Started::kill);
    }
}

/// Reads where a process listens, and drops what else it writes.
fn read_port(output: impl Read, port: &Sender<u16>) {
    let mut output = BufReader::new(output);
    let mut line = Vec::new();
    while let Ok(1..) = (&mut output).take(1 << 12).read_until(b'\n', &mut line) {
        let text = String::from_utf8_lossy(&line);
        if let Some(number) = text.strip_prefix(PORT).and_then(|port| port.trim().parse().ok()) {
            let _ = port.send(number);
            break;
        }
        line.clear();
    }
    let _ = io::copy(&mut output, &mut io::sink());
}

/// Keeps the beginning of what a process writes.
fn keep(mut errors: impl Read, written: &Mutex<Vec<u8>>) {
    let mut buffer = [0; 1024];
    while let Ok(read @ 1..) = errors.read(&mut buffer) {
        let mut written = lock(written);
        let room = MAX_ERRORS.saturating_sub(written.len());
        written.extend_from_slice(&buffer[..read.min(room)]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hello() -> Hello {
        let identity = Identity { version: "0.1.0".into(), digest: 1, threads: 2 };
        Hello::new(&Group::Member { process: 1, processes: 3 }, &identity, "token".into())
    }

    #[test]
    fn what_differs_is_said() {
        let other = || Hello { process: 2, ..hello() };
        assert_eq!(hello().differs(&other()), None);
        for (expected, other) in [
            ("process 2 runs ample 0.2.0, this one 0.1.0", Hello { version: "0.2.0".into(), ..other() }),
            ("process 2 runs ample 0.1.0, this one 0.1.0 (protocol 2, this one 1)", Hello { protocol: 2, ..other() }),
            ("process 2 runs ample [1m, this one 0.1.0", Hello { version: "\u{1b}[1m".into(), ..other() }),
            ("process 2 is one of 4 processes, this one of 3", Hello { processes: 4, ..other() }),
            ("process 2 has 3 threads, this one 2", Hello { threads: 3, ..other() }),
            ("process 2 has other lines in its file of hosts than this one", Hello { token: String::new(), ..other() }),
            ("process 2 has another model or other options than this one", Hello { digest: String::new(), ..other() }),
        ] {
            assert_eq!(hello().differs(&other).as_deref(), Some(expected));
        }
    }

    #[test]
    fn what_a_later_version_says_is_understood_so_far() {
        let line = r#"{"magic":"ample-cluster","protocol":9,"version":"7.0","process":2,"more":[1]}"#;
        let later: Hello = serde_json::from_str(line).unwrap();
        assert_eq!(
            hello().differs(&later).unwrap(),
            "process 2 runs ample 7.0, this one 0.1.0 (protocol 9, this one 1)"
        );
    }

    #[test]
    fn only_hosts_of_the_group_are_known() {
        let addresses =
            ["10.0.0.1:7001", "[2001:db8::1]:7001", "127.0.1.1:7"].map(|address| vec![address.parse().unwrap()]);
        let place = Place { hello: hello(), addresses: addresses.into(), names: Vec::new() };
        for (address, is_known) in [
            ("10.0.0.1", true),
            ("::ffff:10.0.0.1", true),
            ("2001:db8::1", true),
            ("10.0.0.2", false),
            ("127.0.0.1", false),
            ("::1", false),
        ] {
            assert_eq!(place.is_known(address.parse().unwrap()), is_known, "{address}");
        }
    }

    #[test]
    fn a_line_is_read_within_its_limits_and_nothing_after_it() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let pair = || {
            let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            (client, listener.accept().unwrap().0)
        };
        let soon = || Instant::now() + Duration::from_millis(100);
        let (mut client, mut server) = pair();
        client.write_all(b"[1,2]\n[3]\n").unwrap();
        assert_eq!(read_line::<Vec<u8>>(&mut server, soon()).unwrap(), [1, 2]);
        assert_eq!(read_line::<Vec<u8>>(&mut server, soon()).unwrap(), [3]);
        assert!(read_line::<Vec<u8>>(&mut server, soon()).is_err());
        let (mut client, mut server) = pair();
        let flood = thread::spawn(move || client.write_all(&vec![b'['; 4 * MAX_HELLO]));
        let error = read_line::<Vec<u8>>(&mut server, Instant::now() + HELLO_LIMIT).unwrap_err();
        assert_eq!(error.to_string(), "the answer is too long");
        drop(server);
        let _ = flood.join();
    }
}
