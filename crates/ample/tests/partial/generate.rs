//! Random Promela: small models of processes that now and then get into each other's way.
//!
//! Each model uses some of the language only, since one `timeout` or `_nr_pr` makes everything depend on everything. Each
//! process knows some of the variables and channels only, so that there is something to be left out.

use super::model::{Form, Model, Process, Statement};
use ample_random::Random;

/// What a model may contain.
struct Features {
    atomic: bool,
    d_step: bool,
    unless: bool,
    timeout: bool,
    otherwise: bool,
    tagged: bool,
    handles: bool,
    handles_sent: bool,
    sorted: bool,
    polls: bool,
    faults: bool,
    asserts: bool,
    pid: bool,
    provided: bool,
    remote: bool,
    count: bool,
    jumps: bool,
    global_looks: bool,
    /// All processes know the same few things.
    narrow: bool,
}

impl Features {
    fn random(random: &mut Random) -> Features {
        Features {
            atomic: random.one_in(2),
            d_step: random.one_in(3),
            unless: random.one_in(4),
            timeout: random.one_in(8),
            otherwise: random.one_in(2),
            tagged: random.one_in(3),
            handles: random.one_in(4),
            handles_sent: random.one_in(3),
            sorted: random.one_in(4),
            polls: random.one_in(4),
            faults: random.one_in(5),
            asserts: !random.one_in(3),
            pid: random.one_in(3),
            provided: random.one_in(10),
            remote: random.one_in(6),
            count: random.one_in(15),
            jumps: random.one_in(3),
            global_looks: random.one_in(40),
            narrow: random.one_in(3),
        }
    }
}

/// A channel, as statements use it.
#[derive(Clone)]
struct Channel {
    name: String,
    /// Its messages begin with an `mtype`.
    tagged: bool,
    capacity: usize,
}

/// What a process may name.
#[derive(Clone, Default)]
struct Vocabulary {
    /// Cells of a small type, to be read and written.
    cells: Vec<String>,
    /// Booleans.
    flags: Vec<String>,
    /// Cells of the process itself.
    locals: Vec<String>,
    /// Index expressions.
    indices: Vec<String>,
    channels: Vec<Channel>,
    /// Variables of type `chan`, and the channels that they may be given.
    handles: Vec<String>,
    /// The process type and a label in it, which others may ask about.
    watched: Vec<String>,
    /// Types that may be created, with their arguments.
    children: Vec<String>,
}

/// A model under way.
pub struct Generator<'a> {
    random: &'a mut Random,
    features: Features,
    channels: Vec<Channel>,
    labels: usize,
    /// Names of labels in the process at hand.
    places: Vec<String>,
    /// How many more statements there may be in it.
    budget: usize,
    words: Vocabulary,
}

/// Where a statement stands.
#[derive(Clone, Copy)]
struct Site {
    depth: usize,
    in_loop: bool,
    in_atomic: bool,
}

impl Site {
    fn inner(self) -> Site {
        Site { depth: self.depth + 1, ..self }
    }
}

/// A random model.
pub fn model(random: &mut Random) -> Model {
    let features = Features::random(random);
    let generator = Generator {
        random,
        features,
        channels: Vec::new(),
        labels: 0,
        places: Vec::new(),
        budget: 0,
        words: Vocabulary::default(),
    };
    generator.model()
}

impl Generator<'_> {
    fn model(mut self) -> Model {
        let globals = self.globals();
        let mut processes = Vec::new();
        let mut children: Vec<String> = Vec::new();
        let mut watched: Vec<String> = Vec::new();
        let creates = self.random.one_in(3);
        self.features.count |= creates && self.random.one_in(3);
        if creates {
            for name in ["C", "D"].iter().take(1 + self.random.below(2)) {
                let (head, calls) = self.child_head(name, &children);
                processes.push(self.process(head, &watched, &calls.inherited, true));
                children.extend(calls.new);
            }
        }
        let by_init = creates && self.random.one_in(2);
        let count = if by_init { self.random.below(2) } else { 2 + self.random.below(2) };
        for name in ["P", "Q", "R"].iter().take(count) {
            let instances = if self.random.one_in(4) { "[2] " } else { "" };
            let provided = match self.features.provided && self.random.one_in(2) {
                true => format!(" provided ({})", self.random.pick(&["x != 2", "b || y < 2", "y != 1", "!b"])),
                false => String::new(),
            };
            let head = format!("active {instances}proctype {name}(){provided}");
            let here = if creates && !by_init && self.random.one_in(2) { children.clone() } else { Vec::new() };
            processes.push(self.process(head, &watched, &here, false));
            if self.features.remote {
                watched.extend(self.places.iter().map(|place| format!("{name}@{place}")));
                if self.random.one_in(2) {
                    watched.push(format!("({name}:l == {})", self.random.below(3)));
                }
            }
        }
        if by_init {
            processes.push(self.init(&children));
        }
        let invariant = self.invariant(&watched);
        Model { globals, processes, invariant }
    }

    fn globals(&mut self) -> Vec<String> {
        let mut lines = vec!["byte x".into(), format!("byte y = {}", self.random.below(2)), "bool b".into()];
        lines.push("bool f".into());
        lines.push("byte a[3]".into());
        if self.features.tagged {
            lines.push("mtype = { red, green }".into());
        }
        let mut channel = |name: &str, capacity: usize, tagged: bool| {
            let fields = if tagged { "mtype, byte" } else { "byte" };
            let (variable, _) = name.split_once('[').unwrap_or((name, ""));
            let array = if name.contains('[') { "[2]" } else { "" };
            if !name.ends_with("[1]") {
                lines.push(format!("chan {variable}{array} = [{capacity}] of {{ {fields} }}"));
            }
            self.channels.push(Channel { name: name.into(), tagged, capacity });
        };
        let sizes = [1, 2, 1, 1];
        let size = |random: &mut Random| random.pick(&sizes);
        let (first, second) = (size(self.random), size(self.random));
        if self.random.below(5) > 0 {
            channel("q", first, false);
        }
        if self.random.one_in(2) {
            channel("p", second, false);
        }
        if self.random.one_in(2) {
            channel("r", 0, false);
        }
        if self.random.one_in(5) {
            channel("c[0]", 1, false);
            channel("c[1]", 1, false);
        }
        if self.features.tagged {
            channel("t", second, true);
            if self.random.one_in(2) {
                channel("s", 0, true);
            }
        }
        if self.features.handles && self.features.handles_sent {
            lines.push("chan h = [1] of { chan }".into());
        }
        if self.random.one_in(20) {
            lines.push("hidden byte z".into());
        }
        lines
    }
}

/// How a process type is created.
struct Calls {
    /// What its own body may create.
    inherited: Vec<String>,
    /// How to create it.
    new: Vec<String>,
}

impl Generator<'_> {
    fn child_head(&mut self, name: &str, children: &[String]) -> (String, Calls) {
        let plain: Vec<&Channel> = self.channels.iter().filter(|channel| !channel.tagged).collect();
        let inherited = if self.random.one_in(2) { children.to_vec() } else { Vec::new() };
        let with_channel = !plain.is_empty() && self.random.one_in(2);
        let numbers = ["0", "1", "2", "x", "_pid"];
        let mut new = Vec::new();
        for _ in 0..2 {
            let number = self.random.pick(&numbers[..if self.features.pid { 5 } else { 4 }]);
            new.push(match with_channel {
                true => format!("run {name}({number}, {})", self.random.pick(&plain).name),
                false => format!("run {name}({number})"),
            });
        }
        let parameters = if with_channel { "byte i; chan w" } else { "byte i" };
        (format!("proctype {name}({parameters})"), Calls { inherited, new })
    }

    fn init(&mut self, children: &[String]) -> Process {
        self.words = Vocabulary::default();
        let count = 2 + self.random.below(2);
        let mut runs: Vec<Statement> = (0..count).map(|_| Statement::plain(self.random.pick(children))).collect();
        let body = match self.random.below(4) {
            0 => vec![Form::Block("atomic", runs).into()],
            1 => {
                runs.push(Statement::plain(self.random.pick(&["x = 1", "b = 1", "f = !f", "y == 0", "(_nr_pr == 1)"])));
                runs
            }
            _ => runs,
        };
        Process { head: "init".into(), locals: Vec::new(), body }
    }

    /// The words of a process: some of the globals, and its own.
    fn vocabulary(&mut self, head: &str, watched: &[String], children: &[String]) -> (Vocabulary, Vec<String>) {
        let mut words = Vocabulary { children: children.to_vec(), ..Vocabulary::default() };
        let mut locals = vec!["byte l".to_owned()];
        words.locals.push("l".into());
        words.indices = vec!["0".into(), "1".into(), "l".into()];
        if self.random.one_in(4) {
            locals.push("byte m = 1".into());
            words.locals.push("m".into());
        }
        if head.contains("byte i") {
            words.indices.push("i".into());
            if self.random.one_in(4) {
                words.locals.push("i".into());
            }
        }
        if self.features.pid {
            words.indices = vec!["_pid".into()];
        }
        if self.features.narrow {
            words.cells.push("x".into());
            words.channels.extend(self.channels.first().cloned());
            return (words, locals);
        }
        for cell in ["x", "y"] {
            if self.random.one_in(2) {
                words.cells.push(cell.into());
            }
        }
        for flag in ["b", "f"] {
            if self.random.one_in(2) {
                words.flags.push(flag.into());
            }
        }
        if self.random.one_in(2) {
            let index = self.random.pick(&words.indices);
            words.cells.push(format!("a[{index}]"));
        }
        let wanted = 1 + self.random.below(2);
        for _ in 0..wanted {
            if !self.channels.is_empty() {
                let channel = self.random.pick(&self.channels);
                words.channels.push(channel);
            }
        }
        let plain: Vec<Channel> = self.channels.iter().filter(|channel| !channel.tagged).cloned().collect();
        let has_parameter = head.contains("chan w");
        if has_parameter || self.features.handles && !plain.is_empty() && self.random.one_in(2) {
            let capacity = plain.iter().map(|channel| channel.capacity).min().unwrap_or(0);
            words.channels.push(Channel { name: "w".into(), tagged: false, capacity });
            if !has_parameter {
                let value = self.random.pick(&plain).name;
                locals.push(match self.random.below(4) {
                    0 => "chan w = [1] of { byte }".into(),
                    1 if self.features.faults => "chan w".into(),
                    _ => format!("chan w = {value}"),
                });
            }
            if self.features.handles {
                words.handles.push("w".into());
            }
        }
        if !watched.is_empty() {
            words.watched = vec![self.random.pick(watched)];
        }
        (words, locals)
    }

    fn process(&mut self, head: String, watched: &[String], children: &[String], is_child: bool) -> Process {
        let (words, locals) = self.vocabulary(&head, watched, children);
        self.words = words;
        self.places = Vec::new();
        self.budget = if is_child { 4 } else { 7 };
        let site = Site { depth: 0, in_loop: false, in_atomic: false };
        let mut body = match self.random.below(8) {
            0 => self.idle_loop(),
            1..=3 => vec![self.repeat(site)],
            4 => {
                let first = self.statement(site);
                vec![first, self.repeat(site)]
            }
            _ => {
                let count = 2 + self.random.below(3);
                (0..count).map(|_| self.statement(site)).collect()
            }
        };
        for statement in &mut body {
            if self.random.one_in(6) && statement.label.is_none() {
                statement.label = Some(self.label());
            }
        }
        if self.features.jumps && self.random.one_in(2) {
            let place = self.random.below(body.len());
            let label = match &body[place].label {
                Some(label) => label.clone(),
                None => self.label(),
            };
            body[place].label = Some(label.clone());
            body.push(Statement::plain(format!("goto {label}")));
        }
        Process { head, locals, body }
    }

    fn label(&mut self) -> String {
        self.labels += 1;
        let name = format!("{}{}", if self.random.one_in(4) { "end" } else { "L" }, self.labels);
        self.places.push(name.clone());
        name
    }

    /// A process that goes round without anybody, for ever or until it does something.
    fn idle_loop(&mut self) -> Vec<Statement> {
        let steps = ["l = 1 - l", "skip", "l = (l + 1) % 3", "true"];
        let mut options = vec![vec![Statement::plain(self.random.pick(&steps))]];
        if self.random.one_in(2) {
            options[0].push(Statement::plain(self.random.pick(&steps)));
        }
        let site = Site { depth: 2, in_loop: true, in_atomic: false };
        match self.random.below(4) {
            0 => options.push(vec![Statement::plain("break")]),
            1 => options.push(vec![self.basic(site)]),
            2 => options.push(vec![self.basic(site), Statement::plain("break")]),
            _ => {}
        }
        let mut body: Vec<Statement> = vec![Form::Repeat(options).into()];
        if self.random.one_in(2) {
            body.push(self.basic(site));
        }
        body
    }

    fn statement(&mut self, site: Site) -> Statement {
        if self.budget == 0 || site.depth > 2 || self.random.one_in(2) {
            self.budget = self.budget.saturating_sub(1);
            if site.in_loop && self.random.one_in(7) {
                return Statement::plain("break");
            }
            return self.basic(site);
        }
        self.budget -= 1;
        match self.random.below(12) {
            10..=11 if site.in_atomic => self.attempt(site),
            0..=1 => self.select(site),
            2 if !site.in_atomic => self.repeat(site.inner()),
            3..=5 if self.features.atomic && !site.in_atomic => {
                let inner = Site { in_atomic: self.random.one_in(2), ..site.inner() };
                Form::Block("atomic", self.sequence(inner)).into()
            }
            6 if self.features.d_step => self.d_step(),
            7..=8 if self.features.unless => {
                let body = self.sequence(site.inner());
                let escape = [self.blocking(site), self.basic(site)];
                Form::Unless(body, escape[..1 + self.random.below(2)].to_vec()).into()
            }
            _ => self.basic(site),
        }
    }

    fn sequence(&mut self, site: Site) -> Vec<Statement> {
        let count = 1 + self.random.below(3);
        let mut sequence: Vec<Statement> = (0..count).map(|_| self.statement(site)).collect();
        if count > 1 && self.random.one_in(8) {
            sequence[count - 1].label = Some(self.label());
        }
        sequence
    }

    fn options(&mut self, site: Site) -> Vec<Vec<Statement>> {
        let count = 1 + self.random.below(3);
        let mut options = Vec::new();
        for _ in 0..count {
            let mut option = vec![if self.random.one_in(2) { self.blocking(site) } else { self.basic(site) }];
            if self.features.atomic && self.random.one_in(5) {
                let mut inner = option;
                inner.push(self.statement(Site { in_atomic: true, ..site.inner() }));
                option = vec![Form::Block("atomic", inner).into()];
            }
            for _ in 0..self.random.below(3) {
                option.push(self.statement(site.inner()));
            }
            options.push(option);
        }
        options
    }

    fn select(&mut self, site: Site) -> Statement {
        let mut options = self.options(site.inner());
        self.add_otherwise(&mut options, site);
        Form::Select(options).into()
    }

    /// A communication or something else, once or as often as it can be had.
    fn attempt(&mut self, site: Site) -> Statement {
        let first = self.blocking(site);
        if self.random.one_in(3) {
            return Form::Repeat(vec![vec![first], vec![Statement::plain("else"), Statement::plain("break")]]).into();
        }
        let options = vec![vec![first, self.basic(site)], vec![Statement::plain("else"), self.basic(site)]];
        Form::Select(options).into()
    }

    fn repeat(&mut self, site: Site) -> Statement {
        let site = Site { in_loop: true, ..site };
        let mut options = self.options(site);
        self.add_otherwise(&mut options, site);
        if self.random.one_in(4) {
            options.push(vec![Statement::plain("break")]);
        }
        Form::Repeat(options).into()
    }

    fn add_otherwise(&mut self, options: &mut Vec<Vec<Statement>>, site: Site) {
        let guard = if self.features.timeout && self.random.one_in(2) {
            "timeout"
        } else if self.features.otherwise && self.random.one_in(2) {
            "else"
        } else {
            return;
        };
        let then = match self.random.below(4) {
            0 if site.in_loop => Statement::plain("break"),
            1 => Statement::plain("skip"),
            _ => self.basic(site),
        };
        options.push(vec![Statement::plain(guard), then]);
    }

    /// Inside nothing may block but the first statement, or sometimes something does.
    fn d_step(&mut self) -> Statement {
        let site = Site { depth: 3, in_loop: false, in_atomic: true };
        let mut body = vec![if self.random.one_in(2) { self.blocking(site) } else { self.assignment() }];
        for _ in 0..1 + self.random.below(2) {
            body.push(match self.random.below(4) {
                0 => {
                    let guard = Statement::plain(self.condition());
                    let then = vec![guard, self.assignment()];
                    Form::Select(vec![then, vec![Statement::plain("else"), self.assignment()]]).into()
                }
                1 if self.random.one_in(3) => self.communication(),
                1 => self.attempt(site),
                2 if self.features.asserts && self.random.one_in(3) => self.assertion(),
                _ => self.assignment(),
            });
        }
        Form::Block("d_step", body).into()
    }

    /// Something that may have to wait.
    fn blocking(&mut self, _: Site) -> Statement {
        if self.words.channels.is_empty() || self.random.one_in(2) {
            return Statement::plain(self.condition());
        }
        self.communication()
    }

    fn basic(&mut self, site: Site) -> Statement {
        match self.random.below(24) {
            0..=8 => self.assignment(),
            9..=14 => self.communication(),
            15..=16 => Statement::plain(self.condition()),
            17..=18 if self.features.asserts => self.assertion(),
            19 if self.features.faults => self.fault(),
            20..=21 if !self.words.children.is_empty() && !site.in_loop => {
                Statement::plain(self.random.pick(&self.words.children))
            }
            22 if !self.words.handles.is_empty() => self.handle(),
            23 => Statement::plain(self.random.pick(&["skip", "printf(\"p\\n\")", "true"])),
            _ => self.assignment(),
        }
    }

    /// A cell that can be written; the process's own as often as not.
    fn cell(&mut self) -> String {
        if self.words.cells.is_empty() || self.random.one_in(3) {
            return self.random.pick(&self.words.locals);
        }
        self.random.pick(&self.words.cells)
    }

    fn assignment(&mut self) -> Statement {
        if !self.words.flags.is_empty() && self.random.one_in(4) {
            let flag = self.random.pick(&self.words.flags);
            let value = self.random.pick(&["0", "1", "!", "1 - "]);
            let value = if value.len() == 1 && value != "!" { value.to_owned() } else { format!("{value}{flag}") };
            return Statement::plain(format!("{flag} = {value}"));
        }
        let cell = self.cell();
        Statement::plain(match self.random.below(9) {
            0 => format!("{cell} = 0"),
            1..=2 => format!("{cell} = 1"),
            3 => format!("{cell} = 2"),
            4 => format!("{cell} = ({cell} + 1) % 3"),
            5 => format!("{cell} = 2 - {cell}"),
            6 => format!("{cell} = {cell} ^ 1"),
            7 if self.random.one_in(3) => format!("{cell}++"),
            _ => format!("{cell} = {}", self.cell()),
        })
    }

    fn condition(&mut self) -> String {
        let cell = self.cell();
        let (small, other) = (self.random.below(3), self.random.below(2));
        match self.random.below(16) {
            0..=2 => format!("({cell} == {small})"),
            3 => format!("({cell} != {small})"),
            4 => format!("({cell} < {})", small + 1),
            5 => format!("({cell} > {other})"),
            6 => format!("({cell} == {})", self.cell()),
            7..=8 if !self.words.flags.is_empty() => {
                let flag = self.random.pick(&self.words.flags);
                if self.random.one_in(2) { flag } else { format!("!{flag}") }
            }
            9..=11 if !self.words.channels.is_empty() => self.look(),
            12..=13 if !self.words.watched.is_empty() => {
                let watched = self.random.pick(&self.words.watched);
                if self.random.one_in(2) { watched } else { format!("!{watched}") }
            }
            14 if self.features.count => format!("(_nr_pr {} {})", self.random.pick(&["==", "<", ">"]), 1 + small),
            14 if self.features.timeout && self.random.one_in(2) => "timeout".into(),
            15 if self.features.pid => format!("(_pid {} {small})", self.random.pick(&["==", "!=", "<"])),
            15 if self.features.global_looks => {
                self.random.pick(&["enabled(0)", "(pc_value(0) > 2)", "(_last == 1)"]).into()
            }
            _ => format!("({cell} + {} > {small})", self.cell()),
        }
    }

    /// A condition on a channel.
    fn look(&mut self) -> String {
        let Channel { name, tagged, capacity } = self.random.pick(&self.words.channels);
        let tests = ["empty", "nempty", "full", "nfull"];
        if capacity == 0 {
            return "true".into();
        }
        match self.random.below(4) {
            0 if self.features.polls => {
                let how = self.random.pick(&["?", "?", "??"]);
                let message = if tagged { "green, _" } else { "1" };
                format!("{name}{how}[{message}]")
            }
            1 => format!("(len({name}) {} {})", self.random.pick(&["==", "<", ">"]), self.random.below(2) + 1),
            _ => format!("{}({name})", self.random.pick(&tests)),
        }
    }

    fn communication(&mut self) -> Statement {
        if self.words.channels.is_empty() {
            return self.assignment();
        }
        let Channel { name, tagged, .. } = self.random.pick(&self.words.channels);
        let tag = if tagged { format!("{}, ", self.random.pick(&["red", "green"])) } else { String::new() };
        if self.random.one_in(2) {
            let value = match self.random.below(5) {
                0 => self.cell(),
                number => (number % 3).to_string(),
            };
            let how = if self.features.sorted && self.random.one_in(3) { "!!" } else { "!" };
            return Statement::plain(format!("{name}{how}{tag}{value}"));
        }
        let pattern = match self.random.below(6) {
            0..=1 => self.cell(),
            2 => "_".into(),
            3 => format!("eval({})", self.cell()),
            number => (number - 3).to_string(),
        };
        let how = match self.random.below(6) {
            0 if self.features.sorted => "??",
            1 if self.features.polls => return Statement::plain(format!("{name}?<{tag}{pattern}>")),
            _ => "?",
        };
        Statement::plain(format!("{name}{how}{tag}{pattern}"))
    }

    /// A channel variable gets another value.
    fn handle(&mut self) -> Statement {
        let handle = self.random.pick(&self.words.handles);
        let plain: Vec<Channel> = self.channels.iter().filter(|channel| !channel.tagged).cloned().collect();
        let sent = self.features.handles_sent;
        if plain.is_empty() {
            return Statement::plain("skip");
        }
        let name = self.random.pick(&plain).name;
        Statement::plain(match self.random.below(3) {
            0 if sent => format!("h?{handle}"),
            1 if sent => format!("h!{}", self.random.pick(&[name, handle])),
            _ => format!("{handle} = {name}"),
        })
    }

    fn assertion(&mut self) -> Statement {
        let condition = match self.random.below(4) {
            3 => "false".into(),
            0 => self.condition().replace("timeout", "true"),
            1 => format!("({} < {})", self.cell(), 2 + self.random.below(3)),
            _ => format!("!({} == 2 && {} == {})", self.cell(), self.cell(), self.random.below(3)),
        };
        Statement::plain(format!("assert({condition})"))
    }

    fn fault(&mut self) -> Statement {
        let (one, two) = (self.cell(), self.cell());
        Statement::plain(match self.random.below(4) {
            0 => format!("a[{one} + 1] = 1"),
            1 => format!("{one} = 2 / {two}"),
            2 => format!("(a[{one} + 1] == 0)"),
            _ => format!("{one} = a[{two}]"),
        })
    }

    fn invariant(&mut self, watched: &[String]) -> String {
        let atom = |generator: &mut Self| {
            let small = generator.random.below(3);
            let cell = generator.random.pick(&["x", "y", "a[0]", "a[1]", "a[2]"]);
            match generator.random.below(12) {
                0..=1 => generator.random.pick(&["b", "f", "!b", "!f"]).to_owned(),
                2..=4 if !watched.is_empty() => generator.random.pick(watched),
                5..=6 if generator.channels.iter().any(|channel| channel.capacity > 0) => {
                    let buffered: Vec<Channel> =
                        generator.channels.iter().filter(|channel| channel.capacity > 0).cloned().collect();
                    format!("len({}) == {}", generator.random.pick(&buffered).name, generator.random.below(2) + 1)
                }
                7 => format!("{cell} == {}", generator.random.pick(&["x", "y"])),
                8 => format!("{cell} > {}", small / 2),
                _ => format!("{cell} == {small}"),
            }
        };
        let (one, two) = (atom(self), atom(self));
        match self.random.below(5) {
            0 => format!("!({one})"),
            1..=2 => format!("!({one} && {two})"),
            3 => format!("(!({one}) || {two})"),
            _ => {
                let three = atom(self);
                format!("!({one} && {two} && {three})")
            }
        }
    }
}
