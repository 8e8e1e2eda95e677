//! A language of fifty lines: each line of a text is a state, and the states that it leads to. It shows all that a
//! language has to do, and that every engine and every command takes it.

use ample::{Budget, CheckOptions, Choice, LoadOptions, Verdict};
use ample_lang::language::{Given, LANGUAGES, Language, Read};
use ample_lang::{Diagnostic, Rejected};
use ample_logic::{Dialect, parse_with};
use ample_model::system::{Edge, Instance, Location, LocationId, ProcessId, ProcessType, Role};
use ample_model::{AtomTable, BinaryOp, Expr, Source, SourceId, Span, System, Temporal};

/// Lines such as `idle: busy, broken`.
struct Graphs;

impl Language for Graphs {
    fn name(&self) -> &'static str {
        "graphs"
    }

    fn title(&self) -> &'static str {
        "graphs (.graph)"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["graph"]
    }

    fn looks_like(&self, _: &str) -> bool {
        false
    }

    fn read(&self, given: Given<'_>) -> Result<Read, Rejected> {
        let source = Source { path: given.name.to_owned(), text: given.text.clone() };
        let lines: Vec<(&str, &str)> = given.text.lines().filter_map(|line| line.split_once(':')).collect();
        let mut process = empty_process(given.name);
        for (number, (_, targets)) in lines.iter().enumerate() {
            let mut location = Location { number: number as u32 + 1, end: true, ..Location::default() };
            for target in targets.split(',').map(str::trim).filter(|target| !target.is_empty()) {
                let Some(to) = lines.iter().position(|(name, _)| name.trim() == target) else {
                    let start = target.as_ptr() as usize - given.text.as_ptr() as usize;
                    let range = start..start + target.len();
                    return Err(refused(&given.text, range, &format!("there is no state `{target}`")));
                };
                location.edges.push(process.edges.len().into());
                process.edges.push(step(number, to, target));
            }
            process.locations.push(location);
        }
        let mut system = System::new(given.name, self.name());
        system.sources.push(source);
        system.processes.push(process);
        system.start.push(Instance { process: ProcessId(0), arguments: Vec::new(), priority: None });
        Ok(Read { system, warnings: Vec::new(), net: None, refused: Vec::new() })
    }

    /// The number of a line: that is where the process is.
    fn expression(&self, _: &System, text: &str, _: &Budget) -> Result<Expr, Rejected> {
        match text.trim().parse() {
            Ok(number) => {
                Ok(Expr::binary(BinaryOp::Equal, Expr::LocationOf(Box::new(Expr::Const(0))), Expr::Const(number)))
            }
            Err(_) => Err(refused(text, 0..text.len(), "a condition is the number of a line")),
        }
    }

    fn ltl(&self, system: &System, text: &str, budget: &Budget) -> Result<Temporal, Rejected> {
        let mut table = AtomTable::new();
        let formula = parse_with(text, Dialect::Plain, &mut |rest: &str| {
            let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
            match self.expression(system, &rest[..digits], budget) {
                Ok(expr) => Ok(Some((digits, table.intern(expr)))),
                Err(_) => Ok(None),
            }
        });
        match formula {
            Ok(formula) => Ok(Temporal::new(formula, table)),
            Err(error) => Err(refused(text, error.offset..text.len(), &error.message)),
        }
    }

    fn ctl(&self, system: &System, text: &str, budget: &Budget) -> Result<Temporal, Rejected> {
        self.ltl(system, text, budget)
    }
}

fn refused(text: &str, range: std::ops::Range<usize>, message: &str) -> Rejected {
    let span = Span { source: SourceId(0), start: range.start as u32, end: range.end as u32 };
    let source = Source { path: "<formula>".into(), text: text.to_owned() };
    Rejected::new(vec![source], vec![Diagnostic::error(span, message)])
}

fn empty_process(name: &str) -> ProcessType {
    ProcessType {
        name: name.into(),
        role: Role::Process,
        parameters: 0,
        locals: Vec::new(),
        locations: Vec::new(),
        edges: Vec::new(),
        initial: LocationId(0),
        provided: None,
        priority: 1,
        unreachable_labels: Vec::new(),
        dead_code: Vec::new(),
        structure: None,
        span: None,
    }
}

fn step(from: usize, to: usize, label: &str) -> Edge {
    Edge {
        from: from.into(),
        to: to.into(),
        guard: Vec::new(),
        communication: None,
        effect: Vec::new(),
        keeps_control: false,
        action: None,
        origin: Vec::new(),
        span: None,
        label: label.to_owned(),
    }
}

fn options() -> LoadOptions {
    let mut languages = LANGUAGES.to_vec();
    languages.push(&Graphs);
    LoadOptions { languages, ..LoadOptions::default() }
}

#[test]
fn every_engine_takes_a_new_language() {
    let text = "idle: busy\nbusy: idle, broken\nbroken: broken\n";
    let model = ample::load_text("machine.graph", text.into(), &options()).unwrap();
    assert_eq!(model.system.language, "graphs");
    let question = |text: &str| ample::Question::Ltl(Graphs.ltl(&model.system, text, &Budget::unlimited()).unwrap());
    let property =
        |text: &str| ample::Property { name: text.into(), question: question(text), text: text.into(), span: None };
    let properties = vec![property("G F 1"), property("F (2 | 3)"), ample::Property::deadlock()];
    for engine in [Choice::Named("explicit"), Choice::Named("symbolic"), Choice::Auto] {
        let options = CheckOptions { engine, properties: Some(properties.clone()), ..CheckOptions::default() };
        let report = ample::check(&model.system, &options);
        let verdicts: Vec<Verdict> = report.answers.iter().map(|answer| answer.verdict()).collect();
        assert_eq!(verdicts, [Verdict::Violated, Verdict::Holds, Verdict::Holds], "{engine:?}");
        let states = ample::states(&model.system, &CheckOptions { engine, ..CheckOptions::default() });
        assert_eq!(states.statistics.states, 3, "{engine:?}");
    }
}

#[test]
fn what_is_wrong_with_it_has_a_place() {
    let error = ample::load_text("machine.graph", "idle: bsy\n".into(), &options()).unwrap_err();
    let ample::LoadError::Rejected(rejected) = error else { panic!("{error}") };
    let span = rejected.diagnostics[0].span.unwrap();
    assert_eq!((span.start, span.end), (6, 9));
}
