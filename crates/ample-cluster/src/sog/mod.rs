//! Symbolic observation graphs (H. Ouni, *Parallel verification of concurrent systems using the Symbolic Observation Graph*,
//! 2019, Chapters 4 to 7): every aggregate belongs to one process, which its digest names.
//!
//! The workers of a process share what it owns: each of them expands one aggregate at a time, with diagrams of its own, and
//! what belongs to another process is sent there, once: as the bytes of its set, or of the representatives from which the set
//! can be made. Of what others own a process keeps the digest only. Processes of one worker are the distributed
//! construction of the thesis, processes of several the hybrid one. A formula is checked by worker 0 while all build; it sees digests, labels and flags. Sets are only
//! fetched along a run that violates the formula.

mod builder;
mod site;
mod table;
mod wire;

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use ample_budget::Budget;
use ample_model::{Expr, Interrupted, Reason, System};
use ample_sog::engine::distributed::{Actions, Operation, Prepared, accept, built, judged, observed, with_faults};
use ample_sog::engine::{Built, Judged, SogError, SogFormula, SogOptions};
use ample_sog::graph::Aggregate;
use ample_sog::model::Labelled;
use ample_sog::observed::Label;
use ample_sog::remote::{Loop, Search};
use ample_sog::{Canonical, Checked, Graph, Model, Observed, ProductSize, Question, Rule, Size, Witness, Work};
use ample_symbolic::Portable;
use ample_symbolic::lists::trust_stack;
use serde::{Deserialize, Serialize};

use self::builder::{Builder, Done, How, Over};
use self::site::{Owners, Site};
use self::table::ByDigest;
use self::wire::{Whole, read_digest};
use crate::control::lock;
use crate::exchange::Kind;
use crate::session::{Cluster, Job, OWN_KINDS, Outcome, Seat, mixed_up};

/// Aggregates for their owner.
const AGGREGATES: Kind = OWN_KINDS;
/// Where aggregates lead, for the checker.
const EXPANDED: Kind = OWN_KINDS + 1;
/// The checker waits for an aggregate.
const WANTED: Kind = OWN_KINDS + 2;
/// What a worker has done, or why it cannot do anything.
const REPORT: Kind = OWN_KINDS + 3;
/// Worker 0 wants to have an aggregate.
const FETCH: Kind = OWN_KINDS + 4;
/// Aggregates for worker 0.
const ENTRIES: Kind = OWN_KINDS + 5;
/// What worker 0 has decided for all.
const SETUP: Kind = OWN_KINDS + 6;

/// The stack that workers need for graphs, in bytes: recursion in diagrams goes as deep as there are levels.
pub const STACK: usize = 256 << 20;

/// What the workers of a process have in common.
pub(crate) type Shared = Mutex<Option<Common>>;

/// What they do a job with.
#[derive(Clone)]
pub(crate) struct Common {
    prepared: Arc<Prepared>,
    site: Arc<Site>,
}

/// A graph that is to be built, or a formula that is to be checked on one.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct SogJob {
    options: SogOptions,
    formula: Option<SogFormula>,
    on_demand: bool,
    /// Workers of one process share nothing.
    is_apart: bool,
}

/// What came of it.
#[derive(Debug)]
pub(crate) struct SogFound {
    result: Result<Answer, SogError>,
    spread: SogSpread,
}

#[derive(Debug)]
enum Answer {
    Built(Box<Built>),
    Judged(Box<Judged>),
}

/// How evenly the work on a graph was spread, and what was sent for it.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct SogSpread {
    /// How many processes there are.
    pub processes: usize,
    /// How many workers each of them has.
    pub threads: usize,
    /// Aggregates that were sent to another worker.
    pub messages: u64,
    /// The bytes of these messages.
    pub message_bytes: u64,
    /// Messages from and to the checker of a formula.
    pub checker_messages: u64,
    /// The bytes of these.
    pub checker_bytes: u64,
    /// What has gone over the network, headers and the tracking of progress included.
    pub wire_bytes: u64,
    /// The figures of each worker.
    pub workers: Vec<SogShare>,
    /// The aggregates that an average worker has expanded, compared to those of the one that has expanded most: 1 is even.
    pub balance: f64,
    /// The same of the time that workers were busy.
    pub busy_balance: f64,
}

/// What a worker has done for a graph.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct SogShare {
    /// Its process.
    pub process: usize,
    /// Its number in the process.
    pub worker: usize,
    /// The aggregates that it receives for its process, which owns them.
    pub aggregates: u64,
    /// Those that it has expanded.
    pub expanded: u64,
    /// Seconds in which it has computed aggregates.
    pub busy_s: f64,
    /// Seconds in which it has waited for others.
    pub waited_s: f64,
}

/// What a worker tells worker 0 at the end.
#[derive(Debug, Default, Serialize, Deserialize)]
struct WorkerReport {
    failure: Option<SogError>,
    size: Size,
    found: u64,
    expanded: u64,
    busy_s: f64,
    waited_s: f64,
    /// What its process has sent over the network; of its first worker.
    wire_bytes: u64,
    messages: u64,
    message_bytes: u64,
    received: u64,
    received_bytes: u64,
    checker_messages: u64,
    checker_bytes: u64,
}

impl SogJob {
    /// Only what the checker asks for is expanded.
    fn is_on_demand(&self) -> bool {
        self.on_demand && self.formula.is_some()
    }
}

impl Cluster {
    /// Builds the graph, as [`ample_sog::engine::build`] does.
    pub fn build_sog(
        &self,
        system: &System,
        options: &SogOptions,
        budget: &Budget,
    ) -> Result<(Built, SogSpread), SogError> {
        let begun = Instant::now();
        accept(system, options)?;
        let job = SogJob { options: options.clone(), formula: None, on_demand: false, is_apart: self.is_apart() };
        match self.have_done(system, job, budget)? {
            (Answer::Built(built), spread) => Ok((Built { took: begun.elapsed(), ..*built }, spread)),
            (Answer::Judged(_), _) => Err(SogError::Ended(mixed_up())),
        }
    }

    /// Checks a formula while the graph is being built, as [`ample_sog::engine::check`] does.
    pub fn check_sog(
        &self,
        system: &System,
        formula: &SogFormula,
        options: &SogOptions,
        on_demand: bool,
        budget: &Budget,
    ) -> Result<(Judged, SogSpread), SogError> {
        let begun = Instant::now();
        let formula_of = Some(formula.clone());
        let job = SogJob { options: options.clone(), formula: formula_of, on_demand, is_apart: self.is_apart() };
        match self.have_done(system, job, budget)? {
            (Answer::Judged(judged), spread) => {
                let judged = with_faults(system, formula, *judged, budget)?;
                Ok((Judged { took: begun.elapsed(), ..judged }, spread))
            }
            (Answer::Built(_), _) => Err(SogError::Ended(mixed_up())),
        }
    }

    fn have_done(&self, system: &System, job: SogJob, budget: &Budget) -> Result<(Answer, SogSpread), SogError> {
        match Cluster::perform(self, system, &Job::Sog(Box::new(job)), budget).map_err(SogError::Ended)? {
            (Outcome::Sog(found), stopped) => {
                let SogFound { result, spread } = *found;
                match (result, stopped) {
                    (Ok(answer), _) => Ok((answer, spread)),
                    (Err(SogError::Ended(Reason::Interrupted)), Some(why)) => Err(SogError::Ended(why)),
                    (Err(why), _) => Err(why),
                }
            }
            _ => Err(SogError::Ended(mixed_up())),
        }
    }
}

/// Builds a graph with all other workers, and checks a formula on it if there is one; worker 0 learns what came of it.
pub(crate) fn perform(seat: &mut Seat<'_>, system: &System, job: &SogJob) -> Result<SogFound, Interrupted> {
    trust_stack(seat.stack);
    let begun = Instant::now();
    let found = match prepare(seat, system, job)? {
        Ok(Common { prepared, site }) => {
            match prepared.perform(system, Construction { seat, site, system, job, begun }) {
                Ok(found) => found?,
                Err(why) => SogFound { result: Err(why), spread: SogSpread::default() },
            }
        }
        Err(why) => SogFound { result: Err(why), spread: SogSpread::default() },
    };
    Ok(found)
}

/// The first worker of each process prepares the system for all of them, as process 0 has done it.
fn prepare(seat: &mut Seat<'_>, system: &System, job: &SogJob) -> Result<Result<Common, SogError>, Interrupted> {
    let is_first = seat.me().is_multiple_of(seat.threads());
    let atoms: Vec<Expr> = job.formula.as_ref().map_or_else(|| job.options.atoms.clone(), SogFormula::conditions);
    let prepared = is_first.then(|| Prepared::new(system, &atoms, job.options.diagrams, seat.budget)).transpose();
    if seat.me() == 0
        && let Ok(Some(prepared)) = &prepared
    {
        let arrangement = serde_json::to_vec(&prepared.arrangement()).unwrap_or_default();
        seat.exchange.broadcast(SETUP, &arrangement);
    }
    let (prepared, why) = match prepared {
        Ok(prepared) => (prepared, None),
        Err(why) => (None, Some(why)),
    };
    let setup = match agree(seat, why)? {
        Ok(setup) => setup,
        Err(why) => return Ok(Err(why)),
    };
    let arranged = prepared.map(|prepared| {
        let unreadable = |error: serde_json::Error| SogError::Internal(error.to_string());
        prepared.arranged(serde_json::from_slice(&setup).map_err(unreadable)?)
    });
    let why = match arranged.transpose() {
        Ok(Some(prepared)) => {
            let max_bytes = seat.room().saturating_mul(seat.threads()) / 4;
            let site = Site::new(seat.threads(), job.options.balance, max_bytes, job.is_on_demand());
            *lock(seat.shared) = Some(Common { prepared: Arc::new(prepared), site: Arc::new(site) });
            None
        }
        Ok(None) => None,
        Err(why) => Some(why),
    };
    if let Err(why) = agree(seat, why)? {
        lock(seat.shared).take();
        return Ok(Err(why));
    }
    let lacking = || SogError::Internal("the system is not prepared".into());
    let mut common = lock(seat.shared).clone().ok_or_else(lacking);
    if let Ok(common) = &mut common
        && job.is_apart
    {
        common.site = Arc::new(Site::new(1, job.options.balance, seat.room() / 4, job.is_on_demand()));
    }
    Ok(common)
}

/// All workers can go on, with what worker 0 has decided for them; or none of them does, because of this.
fn agree(seat: &mut Seat<'_>, why: Option<SogError>) -> Result<Result<Vec<u8>, SogError>, Interrupted> {
    if let Some(why) = &why {
        seat.budget.check()?;
        seat.exchange.send(REPORT, 0, serde_json::to_vec(why).unwrap_or_default());
    }
    let (mut setup, mut reasons) = (Vec::new(), Vec::new());
    let failed = seat.round(&[u64::from(why.is_some())], |_, message| match message.kind {
        REPORT => reasons.extend(serde_json::from_slice::<SogError>(&message.bytes).ok()),
        SETUP => setup = message.bytes,
        _ => {}
    })?;
    if failed == [0] {
        return Ok(Ok(setup));
    }
    Ok(Err(why.or(reasons.pop()).unwrap_or(SogError::Ended(Reason::Interrupted))))
}

/// A job, once the system is prepared.
struct Construction<'s, 'a, 'j> {
    seat: &'s mut Seat<'a>,
    site: Arc<Site>,
    system: &'j System,
    job: &'j SogJob,
    begun: Instant,
}

/// What worker 0 makes of the graph where there is a formula.
struct Checker<'q> {
    search: Search<'q>,
}

impl Operation<Result<SogFound, Interrupted>> for Construction<'_, '_, '_> {
    fn perform<M: Model>(
        mut self,
        model: &M,
        actions: &Actions<'_>,
    ) -> Result<Result<SogFound, Interrupted>, SogError> {
        Ok(self.construct(model, actions))
    }
}

impl Construction<'_, '_, '_> {
    fn construct<M: Model>(&mut self, model: &M, actions: &Actions<'_>) -> Result<SogFound, Interrupted> {
        let question =
            self.job.formula.as_ref().map(|formula| formula.question(self.system, model.actions())).transpose();
        let mut checker = None;
        let ready = match &question {
            Ok(question) => self.ready(model, question.as_ref(), &mut checker),
            Err(why) => Err(why.clone()),
        };
        let (sets, why) = match ready {
            Ok(sets) => (Some(sets), None),
            Err(why) => (None, Some(why)),
        };
        let failed = |why| Ok(SogFound { result: Err(why), spread: SogSpread::default() });
        let rule = match agree(self.seat, why)? {
            Ok(rule) => rule,
            Err(why) => return failed(why),
        };
        // All workers of the process have it.
        lock(self.seat.shared).take();
        let (Some(sets), Ok(question)) = (sets, &question) else { return failed(SogError::Ended(mixed_up())) };
        let rule = if rule == [0] { Rule::Static } else { Rule::Definition };
        let observed = match question {
            Some(question) => {
                ample_sog::check::observed(&sets, model.actions().len(), question, rule).map_err(SogError::from)
            }
            None => observed(self.system, model, &self.job.options),
        };
        match (agree(self.seat, observed.as_ref().err().cloned())?, observed) {
            (Ok(_), Ok(observed)) => self.build(model, actions, sets, &observed, checker.as_ref()),
            (Err(why), _) | (_, Err(why)) => failed(why),
        }
    }

    /// Makes what this worker needs to begin. Worker 0 tells all which graph the formula gets.
    fn ready<'q, M: Model>(
        &mut self,
        model: &M,
        question: Option<&'q Question>,
        checker: &mut Option<Checker<'q>>,
    ) -> Result<Labelled<M::Sets>, SogError> {
        let sets = model.sets(self.seat.threads(), self.seat.budget)?;
        if let Some(question) = question
            && self.seat.me() == 0
        {
            let search = Search::new(question, self.job.options.collapsed, self.seat.budget)?;
            let rule = search.rule(self.job.options.rule());
            self.seat.exchange.broadcast(SETUP, &[u8::from(rule == Rule::Definition)]);
            *checker = Some(Checker { search });
        }
        Ok(sets)
    }

    fn build<M: Model>(
        &mut self,
        model: &M,
        actions: &Actions<'_>,
        sets: Labelled<M::Sets>,
        observed: &Observed,
        checker: Option<&Checker<'_>>,
    ) -> Result<SogFound, Interrupted> {
        let job = self.job;
        let how = How { canonical: job.options.canonical, is_checked: job.formula.is_some() };
        let (me, budget) = (self.seat.me(), self.seat.budget);
        let threads = if job.is_apart { 1 } else { self.seat.threads() };
        let owners = Owners { processes: self.seat.workers() / threads, threads };
        let mut builder = Builder::new(self.seat, (Arc::clone(&self.site), owners), sets, observed, how);
        let (mut run, mut is_judged) = (None, false);
        let mut product = ProductSize::default();
        if me == 0
            && let Err(why) = builder.begin()
        {
            builder.fail(why)?;
        } else if let Some(checker) = checker {
            builder.post.is_searching = true;
            let result = checker.search.run(&mut builder, observed, budget);
            builder.post.is_searching = false;
            match result {
                Ok((found, size)) => {
                    (run, product, is_judged) = (found, size, true);
                    // Whatever the verdict is, it does not need the rest of the graph.
                    builder.post.seat.stop_all();
                }
                Err(why) => builder.fail(why)?,
            }
        }
        builder.drive()?;
        builder.forget();
        let is_complete = builder.post.over == Some(Over::Complete);
        let (reports, entries) = self::finish(&mut builder, run.as_ref(), is_complete && !how.is_checked)?;
        if me != 0 {
            return Ok(SogFound { result: Err(SogError::Ended(mixed_up())), spread: SogSpread::default() });
        }
        let spread = spread(&reports, builder.post.seat.threads());
        let sums = Sums::of(&reports);
        let failure = reports.into_iter().find_map(|report| report.failure);
        let result = match (failure, &job.formula) {
            (Some(why), _) => Err(why),
            (None, _) if !is_complete && !is_judged => Err(SogError::Ended(Reason::Interrupted)),
            (None, None) => {
                let graph = gathered(&builder.initial, entries, observed, how.canonical);
                graph.map(|graph| Answer::Built(Box::new(built(model, actions, graph, sums.work.clone(), self.begun))))
            }
            (None, Some(formula)) => {
                let violation = match (&run, checker) {
                    (Some(run), Some(checker)) => {
                        explain(&mut builder, checker, run, &entries, observed, budget).map(Some)
                    }
                    _ => Ok(None),
                };
                violation.and_then(|violation| {
                    let (aggregates, work) = (sums.aggregates, sums.work.clone());
                    let checked = Checked { violation, aggregates, product, graph: None, work };
                    let question = (self.system, formula, &job.options);
                    let judged = judged(question, checked, (model, actions), self.begun, budget)?;
                    let is_whole = is_complete && sums.aggregates.0 == sums.aggregates.1;
                    Ok(Answer::Judged(Box::new(Judged { size: is_whole.then_some(sums.size), ..judged })))
                })
            }
        };
        budget.check()?;
        Ok(SogFound { result, spread })
    }
}

/// What worker 0 gets of an aggregate.
struct Gathered {
    label: Label,
    set: Vec<u8>,
    expansion: Option<(ample_sog::aggregate::Facts, table::Arcs)>,
}

/// Worker 0 learns what all have done, and gets the aggregates along a run, or all of them.
fn finish<S: Portable>(
    builder: &mut Builder<'_, '_, '_, S>,
    run: Option<&Loop>,
    is_gathered: bool,
) -> Result<(Vec<WorkerReport>, ByDigest<Gathered>), Interrupted> {
    let report = report(builder);
    let fetched: Vec<u128> =
        run.into_iter().flat_map(Loop::aggregates).map(|number| builder.digest_of(number)).collect();
    let (owners, is_gathered) = (builder.owners, is_gathered && builder.place() == 0);
    let site = Arc::clone(&builder.post.site);
    let seat = &mut *builder.post.seat;
    seat.exchange.send(REPORT, 0, serde_json::to_vec(&report).unwrap_or_default());
    for digest in fetched {
        let to = owners.receiver(digest);
        seat.exchange.append(FETCH, to, |out| out.extend_from_slice(&digest.to_le_bytes()));
    }
    let mut reports: Vec<(usize, WorkerReport)> = Vec::new();
    let mut wanted = Vec::new();
    seat.round(&[], |_, message| match message.kind {
        REPORT => reports.extend(serde_json::from_slice(&message.bytes).ok().map(|report| (message.from, report))),
        FETCH => {
            let mut bytes = message.bytes.as_slice();
            wanted.extend(std::iter::from_fn(|| read_digest(&mut bytes)));
        }
        // Of the construction, if it was stopped.
        _ => {}
    })?;
    reports.sort_by_key(|(worker, _)| *worker);
    let work = site.work();
    let table = &work.table;
    let mut entries = ByDigest::default();
    for entry in wanted.iter().filter_map(|digest| table.find(*digest)).map(|number| table.entry(number)) {
        seat.exchange.append(ENTRIES, 0, |out| Whole::write(entry, out));
    }
    // Of each process the first worker.
    for entry in table.entries().iter().filter(|_| is_gathered) {
        seat.exchange.append(ENTRIES, 0, |out| Whole::write(entry, out));
        while let Some(message) = seat.poll()? {
            gather(&message.bytes, message.kind, &mut entries);
        }
    }
    drop(work);
    seat.round(&[], |_, message| gather(&message.bytes, message.kind, &mut entries))?;
    Ok((reports.into_iter().map(|(_, report)| report).collect(), entries))
}

fn gather(mut bytes: &[u8], kind: Kind, entries: &mut ByDigest<Gathered>) {
    while kind == ENTRIES
        && let Some(Whole { digest, label, bytes: set, expansion }) = Whole::read(&mut bytes)
    {
        entries.insert(digest, Gathered { label, set: set.to_vec(), expansion });
    }
}

fn report<S: Portable>(builder: &mut Builder<'_, '_, '_, S>) -> WorkerReport {
    let Done { busy, expanded, messages, message_bytes, received, received_bytes, checker_messages, checker_bytes } =
        builder.done;
    let me = builder.post.seat.me();
    let work = builder.post.site.work();
    let (found, size) = work.table.size(|digest| builder.owners.receiver(digest) == me);
    drop(work);
    WorkerReport {
        failure: builder.post.failure.take(),
        size,
        found,
        expanded,
        busy_s: busy.as_secs_f64(),
        waited_s: builder.waited().as_secs_f64(),
        wire_bytes: if builder.post.seat.me().is_multiple_of(builder.post.seat.threads()) {
            builder.sent_bytes()
        } else {
            0
        },
        messages,
        message_bytes,
        received,
        received_bytes,
        checker_messages,
        checker_bytes,
    }
}

/// The graph of all aggregates, numbered as everywhere.
fn gathered(
    initial: &[u128],
    entries: ByDigest<Gathered>,
    observed: &Observed,
    canonical: Canonical,
) -> Result<Graph, SogError> {
    let missing = || SogError::Internal("an aggregate of the graph is missing".into());
    let numbers: ByDigest<usize> = entries.keys().copied().zip(0..).collect();
    let number = |digest: &u128| numbers.get(digest).copied().ok_or_else(missing);
    let initial = initial.iter().map(number).collect::<Result<Vec<_>, _>>()?;
    let mut aggregates = Vec::with_capacity(entries.len());
    for Gathered { label, set, expansion } in entries.into_values() {
        let (facts, arcs) = expansion.ok_or_else(missing)?;
        let arcs = arcs.iter().map(|(action, to)| Ok((*action, number(to)?))).collect::<Result<_, SogError>>()?;
        aggregates.push(Aggregate { label, facts, set, arcs });
    }
    Ok(Graph::numbered(observed.clone(), canonical == Canonical::Full, initial, aggregates))
}

/// The run of the model behind a run through the graph.
fn explain<S: Portable>(
    builder: &mut Builder<'_, '_, '_, S>,
    checker: &Checker<'_>,
    run: &Loop,
    entries: &ByDigest<Gathered>,
    observed: &Observed,
    budget: &Budget,
) -> Result<Witness, SogError> {
    let digests: HashMap<usize, u128> =
        run.aggregates().into_iter().map(|number| (number, builder.digest_of(number))).collect();
    let mut open = |number: usize| {
        let entry = digests.get(&number).and_then(|digest| entries.get(digest));
        let missing = || ample_sog::Error::Internal("an aggregate of the run is missing".into());
        entry.map(|entry| (entry.set.clone(), entry.label)).ok_or_else(missing)
    };
    Ok(checker.search.explain(&mut builder.sets, observed, run, &mut open, budget)?)
}

/// What all workers have done together.
struct Sums {
    size: Size,
    aggregates: (usize, usize),
    work: Work,
}

impl Sums {
    fn of(reports: &[WorkerReport]) -> Sums {
        let mut sums = Sums { size: Size::default(), aggregates: (0, 0), work: Work::default() };
        for report in reports {
            let (all, one) = (&mut sums.size, &report.size);
            all.aggregates += one.aggregates;
            all.arcs += one.arcs;
            all.silent += one.silent;
            all.dead += one.dead;
            all.divergent += one.divergent;
            all.states = all.states.saturating_add(one.states);
            all.nodes += one.nodes;
            all.bytes += one.bytes;
            sums.aggregates.0 += report.found as usize;
            sums.aggregates.1 += report.expanded as usize;
            sums.work.expanded.push(report.expanded as usize);
            sums.work.received += report.received as usize;
            sums.work.received_bytes += report.received_bytes;
        }
        sums
    }
}

fn spread(reports: &[WorkerReport], threads: usize) -> SogSpread {
    let balance = |of: &dyn Fn(&WorkerReport) -> f64| {
        let (sum, most) = reports.iter().map(of).fold((0.0, 0.0_f64), |(sum, most), one| (sum + one, most.max(one)));
        if most == 0.0 { 1.0 } else { sum / reports.len() as f64 / most }
    };
    let share = |(number, report): (usize, &WorkerReport)| SogShare {
        process: number / threads,
        worker: number % threads,
        aggregates: report.found,
        expanded: report.expanded,
        busy_s: report.busy_s,
        waited_s: report.waited_s,
    };
    SogSpread {
        processes: reports.len() / threads,
        threads,
        messages: reports.iter().map(|report| report.messages).sum(),
        message_bytes: reports.iter().map(|report| report.message_bytes).sum(),
        checker_messages: reports.iter().map(|report| report.checker_messages).sum(),
        checker_bytes: reports.iter().map(|report| report.checker_bytes).sum(),
        wire_bytes: reports.iter().map(|report| report.wire_bytes).sum(),
        workers: reports.iter().enumerate().map(share).collect(),
        balance: balance(&|report| report.expanded as f64),
        busy_balance: balance(&|report| report.busy_s),
    }
}
