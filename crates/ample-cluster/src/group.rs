//! Which processes form a group: the options of the command line, and the file that names the hosts.
//!
//! A group is either made of processes on this machine, which the first one starts itself, or of processes on the hosts
//! of a file, which the user starts, the same command on each. A group of one process is all threads and no sockets.

use std::ffi::OsString;
use std::io::Read;
use std::path::{Path, PathBuf};

use clap::Args;

/// A group has at most so many processes: each has a connection to each other one.
pub const MAX_PROCESSES: usize = 256;
/// A file of hosts is at most that long.
const MAX_HOSTS_FILE: u64 = 1 << 20;

/// Over which processes the work is distributed.
#[derive(Args, Clone, Debug, Default, PartialEq, Eq)]
#[command(next_help_heading = "Distribution")]
#[group(skip)]
pub struct ClusterOptions {
    /// Distribute the work over so many processes on this machine, each with the threads of `--threads`
    #[arg(long, value_name = "N", conflicts_with = "hosts")]
    pub processes: Option<usize>,
    /// Distribute the work over the hosts of a file, a line `host:port` for each process
    #[arg(long, value_name = "FILE", requires = "process")]
    pub hosts: Option<PathBuf>,
    /// Which line of `--hosts` this process is, counted from 0
    #[arg(long, value_name = "I", requires = "hosts")]
    pub process: Option<usize>,
    /// The number of a process that another one has started.
    #[arg(long, value_name = "I", hide = true, requires = "processes")]
    pub member: Option<usize>,
}

/// The processes that do the work together, and which of them this one is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Group {
    /// This process is the first one, and starts the others on this machine.
    Local {
        /// How many there are, this one included.
        processes: usize,
        /// The arguments of the others, without the name of the program; `--member I` is added.
        command: Vec<OsString>,
    },
    /// This process was started by the first one.
    Member {
        /// Its number.
        process: usize,
        /// How many there are.
        processes: usize,
    },
    /// Every process was started by the user, with the same file of hosts.
    Hosts {
        /// Where they are, as `host:port`.
        hosts: Vec<String>,
        /// Which of them this one is.
        process: usize,
    },
}

/// What is wrong with the options, or with the file that names the hosts.
#[derive(Debug, thiserror::Error)]
pub enum GroupError {
    /// Options that do not go together.
    #[error("{0}")]
    Options(String),
    /// A number of processes that cannot be.
    #[error("`--processes {0}`: expected a number from 1 to {MAX_PROCESSES}")]
    Processes(usize),
    /// The file cannot be read.
    #[error("{}: {error}", file.display())]
    Unreadable {
        /// The file.
        file: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// A line that names no host.
    #[error("{}:{line}: expected `host:port`, not `{found}`", file.display())]
    Line {
        /// The file.
        file: PathBuf,
        /// The line, counted from 1.
        line: usize,
        /// What it is.
        found: String,
    },
    /// The same host and port twice.
    #[error("{}:{line}: `{found}` is in line {first} already: each process has a port of its own", file.display())]
    Twice {
        /// The file.
        file: PathBuf,
        /// The line, counted from 1.
        line: usize,
        /// The line where it is first.
        first: usize,
        /// The host and port.
        found: String,
    },
    /// No hosts, or too many.
    #[error("{}: names {found} hosts, expected 1 to {MAX_PROCESSES}", file.display())]
    Number {
        /// The file.
        file: PathBuf,
        /// How many hosts it names.
        found: usize,
    },
    /// There is no such line.
    #[error("`--process {process}`: {} names {hosts} hosts, expected a number from 0 to {}", file.display(), hosts - 1)]
    Index {
        /// The file.
        file: PathBuf,
        /// How many hosts it names.
        hosts: usize,
        /// The number that was given.
        process: usize,
    },
}

impl ClusterOptions {
    /// Whether the work is to be distributed at all.
    pub fn is_asked(&self) -> bool {
        self.processes.is_some() || self.hosts.is_some() || self.process.is_some() || self.member.is_some()
    }

    /// The group that is asked for, if one is. The command is the command line without the name of the program: the other
    /// processes on this machine are started with it.
    ///
    /// ```
    /// use ample_cluster::group::{ClusterOptions, Group};
    ///
    /// let options = ClusterOptions { processes: Some(3), ..ClusterOptions::default() };
    /// let group = options.group(std::env::args_os().skip(1).collect()).unwrap().unwrap();
    /// assert_eq!((group.process(), group.processes()), (0, 3));
    /// assert!(ClusterOptions::default().group(Vec::new()).unwrap().is_none());
    /// ```
    pub fn group(&self, command: Vec<OsString>) -> Result<Option<Group>, GroupError> {
        let wrong = |why: &str| Err(GroupError::Options(why.to_owned()));
        match (self.processes, &self.hosts, self.process, self.member) {
            (None, None, None, None) => Ok(None),
            (Some(_), Some(_), _, _) => {
                wrong("`--processes` starts processes on this machine, `--hosts` names others: one of them")
            }
            (Some(processes), ..) if !(1..=MAX_PROCESSES).contains(&processes) => Err(GroupError::Processes(processes)),
            (Some(_), None, Some(_), _) => wrong("`--process` is the number of a line of `--hosts`"),
            (Some(processes), None, None, None) => Ok(Some(Group::Local { processes, command })),
            (Some(processes), None, None, Some(process)) if (1..processes).contains(&process) => {
                Ok(Some(Group::Member { process, processes }))
            }
            (None, Some(_), None, _) => wrong("`--hosts` needs `--process`: which of its lines this process is"),
            (None, Some(file), Some(process), None) => {
                let hosts = read_hosts(file)?;
                if process >= hosts.len() {
                    return Err(GroupError::Index { file: file.clone(), hosts: hosts.len(), process });
                }
                Ok(Some(Group::Hosts { hosts, process }))
            }
            (None, None, Some(_), _) => wrong("`--process` is the number of a line of `--hosts`, which is missing"),
            (_, _, _, Some(_)) => wrong("`--member` is for processes that ample starts itself"),
        }
    }
}

impl Group {
    /// A group of this process alone.
    pub fn alone() -> Group {
        Group::Local { processes: 1, command: Vec::new() }
    }

    /// A process that another one has started ends with that one from now on, whatever it does: within three seconds.
    /// Without this it begins to when it is [connected](crate::Mesh::form). It is for the command, before it reads the
    /// model: standard input is what the process notices it by.
    pub fn follow_parent(&self) {
        if let Group::Member { .. } = self {
            crate::connect::follow_parent();
        }
    }

    /// The number of this process.
    pub fn process(&self) -> usize {
        match self {
            Group::Local { .. } => 0,
            Group::Member { process, .. } | Group::Hosts { process, .. } => *process,
        }
    }

    /// How many processes there are.
    pub fn processes(&self) -> usize {
        match self {
            Group::Local { processes, .. } | Group::Member { processes, .. } => *processes,
            Group::Hosts { hosts, .. } => hosts.len(),
        }
    }
}

/// The hosts of a file: a line `host:port` each; `#` begins a comment.
fn read_hosts(file: &Path) -> Result<Vec<String>, GroupError> {
    let unreadable = |error| GroupError::Unreadable { file: file.to_owned(), error };
    let mut bytes = Vec::new();
    let source = std::fs::File::open(file).map_err(unreadable)?;
    source.take(MAX_HOSTS_FILE + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > MAX_HOSTS_FILE {
        return Err(unreadable(std::io::Error::other(format!("longer than {MAX_HOSTS_FILE} bytes"))));
    }
    parse_hosts(file, &String::from_utf8_lossy(&bytes))
}

fn parse_hosts(file: &Path, text: &str) -> Result<Vec<String>, GroupError> {
    let mut hosts: Vec<(usize, String)> = Vec::new();
    for (line, text) in (1..).zip(text.lines()) {
        let found = text.split('#').next().unwrap_or_default().trim();
        if found.is_empty() {
            continue;
        }
        let file = file.to_owned();
        if !is_address(found) {
            let found = found.chars().take(80).flat_map(char::escape_default).collect();
            return Err(GroupError::Line { file, line, found });
        }
        if let Some((first, _)) = hosts.iter().find(|(_, host)| host == found) {
            return Err(GroupError::Twice { file, line, first: *first, found: found.to_owned() });
        }
        hosts.push((line, found.to_owned()));
    }
    if !(1..=MAX_PROCESSES).contains(&hosts.len()) {
        return Err(GroupError::Number { file: file.to_owned(), found: hosts.len() });
    }
    Ok(hosts.into_iter().map(|(_, host)| host).collect())
}

/// A name or an address, and a port that can be connected to.
fn is_address(text: &str) -> bool {
    let Some((host, port)) = text.rsplit_once(':') else { return false };
    let is_port = port.bytes().all(|byte| byte.is_ascii_digit()) && port.parse::<u16>().is_ok_and(|port| port > 0);
    let is_host = match host.strip_prefix('[').and_then(|host| host.strip_suffix(']')) {
        Some(address) => address.parse::<std::net::Ipv6Addr>().is_ok(),
        None => {
            !host.is_empty()
                && host.len() <= 253
                && host.chars().all(|letter| letter.is_ascii_alphanumeric() || "-_.".contains(letter))
        }
    };
    is_port && is_host
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_lines_with_comments() {
        let text = "# the group\nalpha:7001\n\n 10.0.0.2:7001 # the second\n[::1]:7002\n";
        assert_eq!(parse_hosts(Path::new("hosts"), text).unwrap(), ["alpha:7001", "10.0.0.2:7001", "[::1]:7002"]);
    }

    #[test]
    fn what_is_wrong_with_a_file_of_hosts_is_said_with_its_line() {
        for (text, expected) in [
            ("a:1\nb\n", "hosts:2: expected `host:port`, not `b`"),
            ("a:1\nb:0\n", "hosts:2: expected `host:port`, not `b:0`"),
            ("a:70000\n", "hosts:1: expected `host:port`, not `a:70000`"),
            ("a:+1\n", "hosts:1: expected `host:port`, not `a:+1`"),
            (":1\n", "hosts:1: expected `host:port`, not `:1`"),
            ("::1:7\n", "hosts:1: expected `host:port`, not `::1:7`"),
            ("a b:7\n", "hosts:1: expected `host:port`, not `a b:7`"),
            ("\u{1b}[1m:7\n", "hosts:1: expected `host:port`, not `\\u{1b}[1m:7`"),
            ("a:1\n#\na:1\n", "hosts:3: `a:1` is in line 1 already: each process has a port of its own"),
            ("# none\n", "hosts: names 0 hosts, expected 1 to 256"),
        ] {
            assert_eq!(parse_hosts(Path::new("hosts"), text).unwrap_err().to_string(), expected, "{text:?}");
        }
    }

    #[test]
    fn options_that_do_not_go_together_are_refused() {
        let options = |processes, hosts: Option<&str>, process, member| {
            let options = ClusterOptions { processes, hosts: hosts.map(PathBuf::from), process, member };
            options.group(Vec::new()).unwrap_err().to_string()
        };
        assert!(options(Some(0), None, None, None).starts_with("`--processes 0`: expected"));
        assert!(options(Some(2), Some("hosts"), Some(0), None).contains("one of them"));
        assert!(options(Some(2), None, Some(0), None).contains("line of `--hosts`"));
        assert!(options(None, Some("hosts"), None, None).contains("needs `--process`"));
        assert!(options(None, None, Some(1), None).contains("missing"));
        assert!(options(Some(2), None, None, Some(2)).contains("--member"));
        assert!(options(None, Some("/nowhere/hosts"), Some(1), None).starts_with("/nowhere/hosts: "));
    }
}
