//! Groups of processes, started in every way and ended in every way: never a hang, never a process that is left over, and
//! the same reason everywhere.
//!
//! The processes run `src/bin/subsets.rs`.

#![cfg(target_os = "linux")]

use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// The states and transitions of 10 elements.
const FOUND: &str = "states 1024, transitions 5120,";
/// Long enough for everything that ends it to happen.
const LONG: &[&str] = &["--rounds", "1000000000"];
/// All processes end within that time, whatever happens to one of them.
const END_LIMIT: Duration = Duration::from_secs(10);

/// The program that the processes run.
fn program() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_subsets"))
}

/// A process of the test, which does not outlive it.
struct Process(Child);

impl Process {
    fn start(arguments: &[&str]) -> Process {
        Process::start_with(arguments, &[])
    }

    fn start_with(arguments: &[&str], environment: &[(&str, &str)]) -> Process {
        Process::start_by(Command::new(program()), arguments, environment)
    }

    fn start_by(mut command: Command, arguments: &[&str], environment: &[(&str, &str)]) -> Process {
        command.args(["--elements", "10"]).args(arguments).envs(environment.iter().copied());
        command.env("RUST_BACKTRACE", "0");
        Process(command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap())
    }

    fn pid(&self) -> u32 {
        self.0.id()
    }

    /// Waits for the end, and returns what was written.
    fn output(mut self, limit: Duration) -> Output {
        let began = Instant::now();
        let status = loop {
            match self.0.try_wait().unwrap() {
                Some(status) => break status,
                None if began.elapsed() > limit => panic!("process {} has not ended in {limit:?}", self.pid()),
                None => std::thread::sleep(Duration::from_millis(10)),
            }
        };
        let (mut output, mut errors) = (String::new(), String::new());
        self.0.stdout.take().unwrap().read_to_string(&mut output).unwrap();
        self.0.stderr.take().unwrap().read_to_string(&mut errors).unwrap();
        Output { code: status.code(), output, errors }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[derive(Debug)]
struct Output {
    code: Option<i32>,
    output: String,
    errors: String,
}

impl Output {
    #[track_caller]
    fn ended(&self, expected: &str) {
        let is_expected = self.code == Some(3) && self.output.starts_with("ended: ") && self.output.contains(expected);
        assert!(is_expected, "expected `{expected}`: {self:?}");
    }

    #[track_caller]
    fn succeeded(&self) {
        assert!(self.code == Some(0) && self.errors.is_empty(), "{self:?}");
    }
}

fn signal(name: &str, pid: u32) {
    let _ = Command::new("kill").args([name, &pid.to_string()]).stderr(Stdio::null()).status();
}

/// The state and the parent of a process, as Linux tells them.
fn state(pid: u32) -> Option<(char, u32)> {
    let table = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let mut fields = table.rsplit_once(')')?.1.split_whitespace();
    Some((fields.next()?.chars().next()?, fields.next()?.parse().ok()?))
}

/// The processes that a process has started.
fn children(parent: u32) -> Vec<u32> {
    let directory = std::fs::read_dir("/proc").unwrap();
    let pids = directory.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<u32>().ok());
    let mut children: Vec<u32> = pids.filter(|pid| state(*pid).is_some_and(|(_, of)| of == parent)).collect();
    children.sort_unstable();
    children
}

/// Waits for a process to have so many children.
fn wait_for_children(parent: u32, number: usize) -> Vec<u32> {
    let began = Instant::now();
    loop {
        let children = children(parent);
        if children.len() == number {
            return children;
        }
        assert!(began.elapsed() < END_LIMIT, "{} of {number} children", children.len());
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// None of the processes is left; one that nobody waits for, since its parent was killed, does not count.
#[track_caller]
fn are_gone(pids: &[u32], limit: Duration) {
    let began = Instant::now();
    while let Some(pid) = pids.iter().find(|pid| state(**pid).is_some_and(|(state, _)| state != 'Z')) {
        assert!(began.elapsed() < limit, "process {pid} is left: {:?}", state(*pid));
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// A file that names so many hosts, all of them this one.
struct Hosts {
    file: PathBuf,
    ports: Vec<u16>,
}

impl Hosts {
    fn new(number: usize) -> Hosts {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let listeners: Vec<_> = (0..number).map(|_| TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap()).collect();
        let ports: Vec<u16> = listeners.iter().map(|listener| listener.local_addr().unwrap().port()).collect();
        let name = format!("ample-hosts-{}-{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
        let file = std::env::temp_dir().join(name);
        let lines: String = ports.iter().map(|port| format!("127.0.0.1:{port} # here\n")).collect();
        std::fs::write(&file, lines).unwrap();
        Hosts { file, ports }
    }

    fn start(&self, process: usize, arguments: &[&str]) -> Process {
        let (file, process) = (self.file.to_str().unwrap(), process.to_string());
        Process::start(&[&["--hosts", file, "--process", &process], arguments].concat())
    }

    fn start_all(&self, arguments: &[&str]) -> Vec<Process> {
        (0..self.ports.len()).map(|process| self.start(process, arguments)).collect()
    }
}

impl Drop for Hosts {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.file);
    }
}

/// A number below `below`, from a generator that begins with `seed`.
fn random(seed: &mut u64, below: u64) -> u64 {
    *seed = seed.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
    (*seed >> 33) % below
}

#[test]
fn all_groups_find_the_same() {
    for (processes, threads) in [(1, 1), (1, 3), (2, 1), (2, 2), (3, 1), (5, 2)] {
        let (processes, threads) = (processes.to_string(), threads.to_string());
        let output = Process::start(&["--processes", &processes, "--threads", &threads]).output(END_LIMIT * 2);
        output.succeeded();
        assert!(output.output.starts_with(FOUND), "{output:?}");
    }
}

#[test]
fn hosts_find_the_same() {
    let hosts = Hosts::new(4);
    let mut outputs = hosts.start_all(&["--threads", "2"]).into_iter().map(|process| process.output(END_LIMIT * 2));
    let first = outputs.next().unwrap();
    first.succeeded();
    assert!(first.output.starts_with(FOUND), "{first:?}");
    outputs.for_each(|output| output.succeeded());
}

#[test]
fn a_slow_network_makes_no_difference() {
    for delay in ["1", "20"] {
        let output = Process::start_with(&["--processes", "3"], &[(ample_cluster::link::DELAY, delay)]);
        let output = output.output(Duration::from_secs(60));
        output.succeeded();
        assert!(output.output.starts_with(FOUND), "{output:?}");
    }
}

#[test]
fn a_deadline_ends_all() {
    let parent = Process::start(&[&["--processes", "3", "--time", "700"], LONG].concat());
    let started = wait_for_children(parent.pid(), 2);
    parent.output(END_LIMIT).ended("process 0: the time limit was reached");
    are_gone(&started, Duration::ZERO);
}

#[test]
fn the_deadline_of_one_host_ends_all() {
    let hosts = Hosts::new(3);
    let processes = [hosts.start(0, LONG), hosts.start(1, &[LONG, &["--time", "1000"]].concat()), hosts.start(2, LONG)];
    for process in processes {
        process.output(END_LIMIT).ended("process 1: the time limit was reached");
    }
}

#[test]
fn a_panic_ends_all_and_is_shown() {
    for process in ["0", "1", "2"] {
        let parent = Process::start(&["--processes", "3", "--panic-in", process]);
        let output = parent.output(END_LIMIT);
        output.ended(&format!("process {process} failed: worker 0: the hundredth state is one too many"));
        assert_eq!(output.errors.matches("panicked at").count(), 1, "{}", output.errors);
    }
}

#[test]
fn a_panic_at_a_host_ends_all() {
    let hosts = Hosts::new(3);
    for output in hosts.start_all(&["--panic-in", "2"]).into_iter().map(|process| process.output(END_LIMIT)) {
        output.ended("process 2 failed: worker 0: the hundredth state is one too many");
    }
}

#[test]
fn a_process_that_ends_at_once_is_missed() {
    let output = Process::start(&["--processes", "3", "--exit-in", "2"]).output(END_LIMIT);
    output.ended("process 2 was lost: it ended before it was connected (exit status: 7)");
    assert!(output.errors.contains("this process ends early"), "{output:?}");
}

/// Kills a process that another one has started; the first process and the others end, and nothing is left.
fn kill_one_of_local(seed: &mut u64, begin: Duration) {
    let parent = Process::start(&[&["--processes", "4"], LONG].concat());
    let began = Instant::now();
    let started = wait_for_children(parent.pid(), 3);
    std::thread::sleep(begin.saturating_sub(began.elapsed()));
    let victim = random(seed, 3) as usize;
    signal("-KILL", started[victim]);
    let output = parent.output(END_LIMIT);
    output.ended(" was lost: ");
    are_gone(&started, Duration::ZERO);
}

/// Kills one process of several hosts, the first one too.
fn kill_one_of_hosts(seed: &mut u64, begin: Duration) {
    let hosts = Hosts::new(3);
    let mut processes = hosts.start_all(LONG);
    // The processes have to be connected before one can be missed.
    std::thread::sleep(Duration::from_millis(400) + begin);
    let victim = random(seed, 3) as usize;
    drop(processes.remove(victim));
    for process in processes {
        process.output(END_LIMIT).ended(&format!("process {victim} was lost: "));
    }
}

fn kill_many(times: u64, seed: u64) {
    let mut state = seed;
    for round in 0..times {
        let begin = Duration::from_millis(random(&mut state, 700));
        eprintln!("seed {seed}, round {round}, after {begin:?}");
        if round % 2 == 0 { kill_one_of_local(&mut state, begin) } else { kill_one_of_hosts(&mut state, begin) }
    }
}

#[test]
fn a_killed_process_is_missed_by_all() {
    kill_many(10, 1);
}

#[test]
#[ignore = "takes minutes"]
fn a_hundred_killed_processes_are_missed_by_all() {
    kill_many(100, u64::from(std::process::id()));
}

#[test]
fn a_stopped_process_is_missed_by_all() {
    let hosts = Hosts::new(3);
    let mut processes = hosts.start_all(LONG);
    std::thread::sleep(Duration::from_millis(700));
    let stopped = processes.remove(1);
    signal("-STOP", stopped.pid());
    for process in processes {
        process.output(END_LIMIT).ended("process 1 was lost: nothing was heard from it for 8 s");
    }
    // It hears why the others have ended when it goes on.
    signal("-CONT", stopped.pid());
    stopped.output(END_LIMIT).ended("process 1 was lost: nothing was heard from it for 8 s");
}

#[test]
fn processes_that_are_all_stopped_go_on() {
    let hosts = Hosts::new(3);
    let processes = hosts.start_all(&[LONG, &["--time", "15000"]].concat());
    std::thread::sleep(Duration::from_millis(700));
    processes.iter().for_each(|process| signal("-STOP", process.pid()));
    std::thread::sleep(Duration::from_secs(10));
    processes.iter().for_each(|process| signal("-CONT", process.pid()));
    for process in processes {
        process.output(END_LIMIT).ended("the time limit was reached");
    }
}

#[test]
fn a_stopped_process_on_this_machine_is_killed() {
    let parent = Process::start(&[&["--processes", "3"], LONG].concat());
    let started = wait_for_children(parent.pid(), 2);
    std::thread::sleep(Duration::from_millis(700));
    signal("-STOP", started[0]);
    parent.output(END_LIMIT).ended(" was lost: nothing was heard from it for 8 s");
    are_gone(&started, Duration::ZERO);
}

#[test]
fn nothing_is_left_when_the_first_process_is_killed() {
    let mut seed = 7;
    for _ in 0..5 {
        let parent = Process::start(&[&["--processes", "4"], LONG].concat());
        let started = wait_for_children(parent.pid(), 3);
        std::thread::sleep(Duration::from_millis(random(&mut seed, 600)));
        drop(parent);
        are_gone(&started, Duration::from_secs(5));
    }
}

#[test]
fn a_process_that_hangs_does_not_outlive_the_first() {
    let parent = Process::start(&["--processes", "3", "--stuck-in", "1", "--time", "800"]);
    let started = wait_for_children(parent.pid(), 2);
    parent.output(END_LIMIT).ended("process 0: the time limit was reached");
    are_gone(&started, Duration::ZERO);
    let parent = Process::start(&["--processes", "3", "--stuck-in", "1"]);
    let started = wait_for_children(parent.pid(), 2);
    std::thread::sleep(Duration::from_millis(500));
    drop(parent);
    are_gone(&started, Duration::from_secs(5));
}

#[test]
fn a_process_that_is_killed_while_the_group_begins_or_ends_does_not_make_others_hang() {
    let (mut seed, mut successes) = (11, 0);
    for _ in 0..30 {
        let parent = Process::start(&["--processes", "3"]);
        let started = wait_for_children(parent.pid(), 2);
        std::thread::sleep(Duration::from_millis(random(&mut seed, 60)));
        signal("-KILL", started[random(&mut seed, 2) as usize]);
        let output = parent.output(END_LIMIT);
        match output.code {
            Some(0) => assert!(output.output.starts_with(FOUND), "{output:?}"),
            _ => output.ended(" was lost: "),
        }
        successes += u32::from(output.code == Some(0));
        are_gone(&started, Duration::ZERO);
    }
    eprintln!("{successes} of 30 groups had done their work before");
}

#[test]
fn a_stopped_process_does_not_outlive_the_first() {
    let parent = Process::start(&[&["--processes", "3"], LONG].concat());
    let started = wait_for_children(parent.pid(), 2);
    std::thread::sleep(Duration::from_millis(500));
    signal("-STOP", started[1]);
    drop(parent);
    signal("-CONT", started[1]);
    are_gone(&started, Duration::from_secs(5));
}

#[test]
fn processes_that_do_not_belong_together_are_refused_on_both_sides() {
    for (arguments, here, there) in [
        (
            ["--claimed", "0.2.0"],
            "process 1 runs ample 0.2.0, this one 0.1.0",
            "process 0 runs ample 0.1.0, this one 0.2.0",
        ),
        (["--digest", "7"], "process 1 has another model or", "process 0 has another model or"),
        (["--threads", "2"], "process 1 has 2 threads, this one 1", "process 0 has 1 threads, this one 2"),
    ] {
        let hosts = Hosts::new(2);
        let (first, second) = (hosts.start(0, &[]), hosts.start(1, &arguments));
        first.output(END_LIMIT).ended(here);
        second.output(END_LIMIT).ended(there);
    }
}

#[test]
fn other_hosts_are_refused_on_both_sides() {
    let hosts = Hosts::new(2);
    let others = Hosts::new(3);
    let lines = |ports: &[u16]| ports.iter().map(|port| format!("127.0.0.1:{port}\n")).collect::<String>();
    std::fs::write(&others.file, lines(&[hosts.ports[0], hosts.ports[1], others.ports[2]])).unwrap();
    let (first, second) = (hosts.start(0, &[]), others.start(1, &[]));
    first.output(END_LIMIT).ended("process 1 is one of 3 processes, this one of 2");
    second.output(END_LIMIT).ended("process 0 is one of 2 processes, this one of 3");
    std::fs::write(&others.file, lines(&[hosts.ports[0], others.ports[2]])).unwrap();
    let (first, second) = (hosts.start(0, &[]), others.start(1, &[]));
    first.output(END_LIMIT).ended("process 1 has other lines in its file of hosts than this one");
    second.output(END_LIMIT).ended("process 0 has other lines in its file of hosts than this one");
}

#[test]
fn a_number_that_is_taken_is_refused() {
    let hosts = Hosts::new(3);
    let second = hosts.start(1, &[]);
    let first = hosts.start(0, &[]);
    std::thread::sleep(Duration::from_millis(500));
    let port = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, hosts.ports[1]));
    assert!(port.is_err(), "the port of process 1 is in use");
    let another = hosts.start(1, &[]).output(END_LIMIT);
    another.ended("process 1 failed: 127.0.0.1:");
    let third = hosts.start(2, &[]);
    for process in [first, second, third] {
        process.output(END_LIMIT).succeeded();
    }
}

#[test]
fn strangers_do_no_harm() {
    let hosts = Hosts::new(2);
    let first = hosts.start(0, &[]);
    let began = Instant::now();
    let connect = || loop {
        match TcpStream::connect((Ipv4Addr::LOCALHOST, hosts.ports[0])) {
            Ok(stream) => return stream,
            Err(error) => assert!(began.elapsed() < END_LIMIT, "{error}"),
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    let deep = "[".repeat(100_000);
    let long = "x".repeat(1 << 20);
    let hello = r#"{"hello":{"magic":"other","protocol":1,"version":"1","process":1},"channel":"Control"}"#;
    let huge = r#"{"hello":{"magic":"ample-cluster","protocol":1,"version":"0.1.0","process":18446744073709551616}}"#;
    let silent: Vec<TcpStream> = (0..20).map(|_| connect()).collect();
    for garbage in ["", "\n", "\0\u{1}\u{7f}\n", "GET / HTTP/1.1\r\n\r\n", hello, huge, "{}", "null", &deep, &long] {
        let mut stream = connect();
        let _ = stream.write_all(garbage.as_bytes()).and_then(|()| stream.write_all(b"\n"));
    }
    let second = hosts.start(1, &[]);
    first.output(END_LIMIT).succeeded();
    second.output(END_LIMIT).succeeded();
    drop(silent);
}

#[test]
fn who_does_not_know_the_token_is_not_answered() {
    // The processes wait for each other while one of them is stopped, so that there is time.
    let parent = Process::start(&["--processes", "2"]);
    let started = wait_for_children(parent.pid(), 1);
    signal("-STOP", started[0]);
    std::thread::sleep(Duration::from_millis(100));
    let request = r#"{"hello":{"magic":"ample-cluster","protocol":1,"version":"9","process":1},"channel":"Control"}"#;
    for port in listening(parent.pid()) {
        let Ok(mut stream) = TcpStream::connect((Ipv4Addr::LOCALHOST, port)) else { continue };
        let _ = stream.write_all(request.as_bytes()).and_then(|()| stream.write_all(b"\n"));
        let mut answer = String::new();
        let _ = stream.set_read_timeout(Some(Duration::from_millis(500)));
        let _ = stream.read_to_string(&mut answer);
        assert_eq!(answer, "");
    }
    signal("-CONT", started[0]);
    parent.output(END_LIMIT).succeeded();
}

/// The ports of this machine that a process listens on.
fn listening(pid: u32) -> Vec<u16> {
    let Ok(files) = std::fs::read_dir(format!("/proc/{pid}/fd")) else { return Vec::new() };
    let links = files.filter_map(|file| std::fs::read_link(file.ok()?.path()).ok());
    let names: Vec<String> = links.map(|link| link.to_string_lossy().into_owned()).collect();
    let table = std::fs::read_to_string("/proc/net/tcp").unwrap_or_default();
    let port = |line: &str| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let is_own = *fields.get(3)? == "0A" && names.contains(&format!("socket:[{}]", fields.get(9)?));
        is_own.then(|| u16::from_str_radix(fields[1].rsplit_once(':')?.1, 16).ok()).flatten()
    };
    table.lines().filter_map(port).collect()
}

#[test]
fn what_is_wrong_with_a_file_of_hosts_is_said() {
    let hosts = Hosts::new(2);
    std::fs::write(&hosts.file, "# all\n127.0.0.1:7001\nnowhere\n").unwrap();
    let output = hosts.start(0, &[]).output(END_LIMIT);
    assert_eq!(output.code, Some(2));
    assert_eq!(output.errors, format!("{}:3: expected `host:port`, not `nowhere`\n", hosts.file.display()));
    std::fs::remove_file(&hosts.file).unwrap();
    let output = hosts.start(0, &[]).output(END_LIMIT);
    assert!(output.code == Some(2) && output.errors.starts_with(&hosts.file.display().to_string()), "{output:?}");
}

#[test]
fn a_host_without_address_is_said() {
    let hosts = Hosts::new(1);
    std::fs::write(&hosts.file, "127.0.0.1:7001\nnowhere.invalid:7002\n").unwrap();
    hosts.start(0, &[]).output(Duration::from_secs(40)).ended("process 0 failed: nowhere.invalid:7002: ");
}

/// Two hosts with a network of their own, as far as the operating system allows that.
struct Network {
    names: [String; 2],
    hosts: PathBuf,
}

/// Whether a command can do what it is told.
fn can(command: &str) -> bool {
    let mut words = command.split(' ');
    let output = Command::new(words.next().unwrap()).args(words).stdout(Stdio::null()).stderr(Stdio::null()).status();
    output.is_ok_and(|status| status.success())
}

impl Network {
    /// None without the rights or the means.
    fn new(name: &str) -> Option<Network> {
        let id = std::process::id();
        let names = ["a", "b"].map(|side| format!("ample-{name}-{side}-{id}"));
        let hosts = std::env::temp_dir().join(format!("ample-hosts-{name}-{id}"));
        std::fs::write(&hosts, "10.77.1.1:7001\n10.77.1.2:7001\n").unwrap();
        let network = Network { names, hosts };
        let [a, b] = &network.names;
        let is_there = can(&format!("ip netns add {a}"))
            && can(&format!("ip netns add {b}"))
            && can(&format!("ip -n {a} link add eth type veth peer name eth netns {b}"))
            && [(a, 1), (b, 2)].iter().all(|(name, number)| {
                can(&format!("ip -n {name} address add 10.77.1.{number}/24 dev eth"))
                    && can(&format!("ip -n {name} link set eth up"))
            });
        if !is_there {
            eprintln!("skipped: no network of its own (needs root, and `ip`)");
        }
        is_there.then_some(network)
    }

    fn start(&self, process: usize, arguments: &[&str]) -> Process {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &self.names[process]]).arg(program());
        let (hosts, process) = (self.hosts.to_str().unwrap(), process.to_string());
        let arguments = [&["--hosts", hosts, "--process", &process], arguments].concat();
        Process::start_by(command, &arguments, &[])
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        let _ = self.names.iter().map(|name| can(&format!("ip netns delete {name}"))).collect::<Vec<bool>>();
        let _ = std::fs::remove_file(&self.hosts);
    }
}

#[test]
fn hosts_in_a_network_find_the_same_and_a_cut_ends_them() {
    let Some(network) = Network::new("cut") else { return };
    let processes = [network.start(0, &[]), network.start(1, &[])];
    let outputs = processes.map(|process| process.output(END_LIMIT));
    outputs.iter().for_each(Output::succeeded);
    assert!(outputs[0].output.starts_with(FOUND), "{outputs:?}");
    let processes = [network.start(0, LONG), network.start(1, LONG)];
    std::thread::sleep(Duration::from_secs(1));
    assert!(can(&format!("ip -n {} link set eth down", network.names[0])));
    let began = Instant::now();
    for (process, other) in processes.into_iter().zip([1, 0]) {
        process.output(END_LIMIT).ended(&format!("process {other} was lost: "));
    }
    eprintln!("all had ended after {:?}", began.elapsed());
}

#[test]
fn a_network_that_loses_and_delays_makes_no_difference() {
    let Some(network) = Network::new("netem") else { return };
    for name in &network.names {
        if !can(&format!("tc -n {name} qdisc add dev eth root netem delay 20ms 5ms loss 1%")) {
            return eprintln!("skipped: the kernel has no netem");
        }
    }
    let processes = [network.start(0, &[]), network.start(1, &[])];
    let outputs = processes.map(|process| process.output(Duration::from_secs(60)));
    outputs.iter().for_each(Output::succeeded);
    assert!(outputs[0].output.starts_with(FOUND), "{outputs:?}");
}

#[test]
fn a_process_that_waits_for_a_host_keeps_to_its_deadline() {
    let Some(network) = Network::new("alone") else { return };
    let alone = network.start(1, &["--time", "1500"]).output(END_LIMIT);
    alone.ended("process 1: the time limit was reached");
}
