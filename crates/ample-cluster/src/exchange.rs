//! Rounds of messages between workers.
//!
//! All workers go through the same rounds, numbered from 0: the timestamps of one dataflow that does nothing but bring
//! messages to the workers they are for. A worker sends what it has to say in a round, [closes](Exchange::close) it, and
//! [receives](Exchange::receive) what others have sent until the progress tracking of the dataflow knows that there is
//! nothing more of this round on its way, anywhere. Each worker adds some numbers to the end of a round, of which all of
//! them learn the sums: so they agree on what comes next.

use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::rc::Rc;
use std::time::{Duration, Instant};

use ample_budget::{Budget, Interrupted};
use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use timely::container::CapacityContainerBuilder;
use timely::dataflow::channels::pact::Exchange as ByReceiver;
use timely::dataflow::operators::generic::Operator;
use timely::dataflow::operators::{Input, Probe};
use timely::dataflow::{InputHandle, ProbeHandle};
use timely::worker::Worker;

/// A batch is sent when it has so many bytes.
pub const BATCH: usize = 16 << 10;

/// How long a worker waits for messages at most before it looks at its budget again.
pub(crate) const WAIT: Duration = Duration::from_millis(20);

/// What messages are about.
pub type Kind = u8;

/// The sums of a round travel as messages of this kind.
const SUMS: Kind = Kind::MAX;

/// Messages of one kind to one worker.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Parcel {
    to: u32,
    from: u32,
    kind: Kind,
    bytes: Bytes,
}

/// Bytes that are sent as they are.
#[derive(Clone, Debug, Default)]
struct Bytes(Vec<u8>);

impl Serialize for Bytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(&self.0)
    }
}

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Bytes, D::Error> {
        struct Buffer;
        impl Visitor<'_> for Buffer {
            type Value = Bytes;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("bytes")
            }

            fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Bytes, E> {
                Ok(Bytes(bytes.to_vec()))
            }

            fn visit_byte_buf<E: Error>(self, bytes: Vec<u8>) -> Result<Bytes, E> {
                Ok(Bytes(bytes))
            }
        }
        deserializer.deserialize_byte_buf(Buffer)
    }
}

/// What a worker has received.
#[derive(Debug)]
pub struct Message {
    /// What it is about.
    pub kind: Kind,
    /// Who sent it.
    pub from: usize,
    /// What it says.
    pub bytes: Vec<u8>,
}

/// The messages that have arrived, each with the round it belongs to.
type Inbox = Rc<RefCell<VecDeque<(u64, Parcel)>>>;

/// The end of a worker in the exchange of messages.
pub struct Exchange {
    input: InputHandle<u64, CapacityContainerBuilder<Vec<Parcel>>>,
    probe: ProbeHandle<u64>,
    inbox: Inbox,
    /// Messages of later rounds, from workers that are ahead.
    early: BTreeMap<u64, VecDeque<Parcel>>,
    me: usize,
    workers: usize,
    /// The round whose messages are received.
    round: u64,
    is_closed: bool,
    sums: Vec<u64>,
    /// What is to be sent: by kind and receiver.
    batches: Vec<Vec<Vec<u8>>>,
    batch: usize,
    messages: u64,
    bytes: u64,
    waited: Duration,
}

impl Exchange {
    /// The end of this worker. All workers have to make theirs at the same point of what they do.
    pub fn new(worker: &mut Worker) -> Exchange {
        let inbox = Inbox::default();
        let probe = ProbeHandle::new();
        let mut input = InputHandle::<u64, CapacityContainerBuilder<Vec<Parcel>>>::new_with_builder();
        let arrived = Rc::clone(&inbox);
        worker.dataflow_named("Exchange", |scope| {
            let by_receiver = ByReceiver::new(|parcel: &Parcel| u64::from(parcel.to));
            scope
                .input_from(&mut input)
                .unary::<CapacityContainerBuilder<Vec<()>>, _, _, _>(by_receiver, "Receive", move |_, _| {
                    move |input, _| {
                        input.for_each(|time, parcels| {
                            let round = *time.time();
                            arrived.borrow_mut().extend(parcels.drain(..).map(|parcel| (round, parcel)));
                        });
                    }
                })
                .probe_with(&probe);
        });
        Exchange {
            input,
            probe,
            inbox,
            early: BTreeMap::new(),
            me: worker.index(),
            workers: worker.peers(),
            round: 0,
            is_closed: false,
            sums: Vec::new(),
            batches: Vec::new(),
            batch: BATCH,
            messages: 0,
            bytes: 0,
            waited: Duration::ZERO,
        }
    }

    /// The number of this worker.
    pub fn me(&self) -> usize {
        self.me
    }

    /// How many workers there are.
    pub fn workers(&self) -> usize {
        self.workers
    }

    /// How many messages this worker has sent to others, and how many bytes were in them.
    pub fn sent(&self) -> (u64, u64) {
        (self.messages, self.bytes)
    }

    /// How many rounds are over, and how long this worker has waited for others in them.
    pub fn waited(&self) -> (u64, Duration) {
        (self.round, self.waited)
    }

    /// Adds to the next batch of a kind to a worker, which may be this one.
    #[inline]
    pub fn append(&mut self, kind: Kind, to: usize, write: impl FnOnce(&mut Vec<u8>)) {
        if self.batches.len() <= usize::from(kind) {
            let workers = self.workers;
            self.batches.resize_with(usize::from(kind) + 1, || vec![Vec::new(); workers]);
        }
        let batch = &mut self.batches[usize::from(kind)][to];
        write(batch);
        if batch.len() >= self.batch {
            let bytes = std::mem::replace(batch, Vec::with_capacity(self.batch + self.batch / 8));
            self.send(kind, to, bytes);
        }
    }

    /// Sends a message of its own to a worker, after what was put into batches before.
    pub fn send(&mut self, kind: Kind, to: usize, bytes: Vec<u8>) {
        if to != self.me {
            self.messages += 1;
            self.bytes += bytes.len() as u64;
        }
        self.input.send(Parcel { to: to as u32, from: self.me as u32, kind, bytes: Bytes(bytes) });
        self.input.flush();
    }

    /// Sends a message of its own to all workers, this one among them.
    pub fn broadcast(&mut self, kind: Kind, bytes: &[u8]) {
        for to in 0..self.workers {
            self.send(kind, to, bytes.to_vec());
        }
    }

    /// Sends the batches that are not full.
    pub fn flush(&mut self) {
        for kind in 0..self.batches.len() {
            for to in 0..self.workers {
                let bytes = std::mem::take(&mut self.batches[kind][to]);
                if !bytes.is_empty() {
                    self.send(kind as Kind, to, bytes);
                }
            }
        }
    }

    /// A message of this round that has arrived, if there is one: to be called now and then by who has other work.
    pub fn poll(&mut self, worker: &mut Worker) -> Option<Message> {
        if let Some(message) = self.take() {
            return Some(message);
        }
        worker.step();
        self.take()
    }

    /// This worker sends nothing more in this round, and adds these numbers to its sums. What it sends from now on belongs
    /// to the next round.
    pub fn close(&mut self, numbers: &[u64]) {
        self.flush();
        let mut bytes = Vec::with_capacity(numbers.len() * 8);
        numbers.iter().for_each(|number| bytes.extend_from_slice(&number.to_le_bytes()));
        for to in 0..self.workers {
            let bytes = Bytes(bytes.clone());
            self.input.send(Parcel { to: to as u32, from: self.me as u32, kind: SUMS, bytes });
        }
        self.is_closed = true;
        self.input.advance_to(self.round + 1);
        self.input.flush();
    }

    /// Waits for the next message of this round, which this worker has closed; none if there is nothing more to come.
    pub fn receive(&mut self, worker: &mut Worker, budget: &Budget) -> Result<Option<Message>, Interrupted> {
        debug_assert!(self.is_closed);
        loop {
            if let Some(message) = self.take() {
                return Ok(Some(message));
            }
            if !self.probe.less_than(&(self.round + 1)) {
                // What is complete has been brought: the probe is behind the receiver.
                return Ok(self.take());
            }
            budget.check()?;
            let begun = Instant::now();
            worker.step_or_park(Some(WAIT));
            self.waited += begun.elapsed();
        }
    }

    /// This worker has closed the round, and nothing more of it is on its way: to be asked after [`poll`](Exchange::poll) has
    /// found no message.
    pub fn is_over(&self) -> bool {
        self.is_closed && !self.probe.less_than(&(self.round + 1))
    }

    /// After the last message: the sums of the round, and the next one begins.
    pub fn next_round(&mut self) -> Vec<u64> {
        debug_assert!(self.is_closed);
        self.is_closed = false;
        self.round += 1;
        std::mem::take(&mut self.sums)
    }

    /// Waits until the round is over, which this worker has closed and in which nobody sends it anything; the sums.
    pub fn finish(&mut self, worker: &mut Worker, budget: &Budget) -> Result<Vec<u64>, Interrupted> {
        while self.receive(worker, budget)?.is_some() {}
        Ok(self.next_round())
    }

    /// Lets others work, for so long at most, unless something arrives.
    pub fn wait(&mut self, worker: &mut Worker, moment: Duration) {
        let begun = Instant::now();
        worker.step_or_park(Some(moment));
        self.waited += begun.elapsed();
    }

    /// The next message of this round in the inbox. Sums are added up.
    fn take(&mut self) -> Option<Message> {
        loop {
            let parcel = self.next_parcel()?;
            if parcel.kind != SUMS {
                return Some(Message { kind: parcel.kind, from: parcel.from as usize, bytes: parcel.bytes.0 });
            }
            let numbers = parcel.bytes.0.chunks_exact(8);
            let numbers = numbers.map(|bytes| bytes.try_into().map_or(0, u64::from_le_bytes));
            for (position, number) in numbers.enumerate() {
                match self.sums.get_mut(position) {
                    Some(sum) => *sum += number,
                    None => self.sums.push(number),
                }
            }
        }
    }

    fn next_parcel(&mut self) -> Option<Parcel> {
        if let Some(early) = self.early.get_mut(&self.round) {
            match early.pop_front() {
                Some(parcel) => return Some(parcel),
                None => self.early.remove(&self.round),
            };
        }
        let mut inbox = self.inbox.borrow_mut();
        while let Some((round, parcel)) = inbox.pop_front() {
            if round == self.round {
                return Some(parcel);
            }
            self.early.entry(round).or_default().push_back(parcel);
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each worker sends numbers to all others in every round, and answers what it receives in the next one.
    #[test]
    fn every_message_arrives_in_its_round() {
        for workers in [1, 2, 4] {
            let guards = timely::execute(timely::Config::process(workers), |worker| {
                let mut exchange = Exchange::new(worker);
                let mut sums = Vec::new();
                for round in 0..200_u64 {
                    for number in 0..100_u64 {
                        let to = (number as usize + exchange.me()) % exchange.workers();
                        exchange.append(1, to, |bytes| bytes.extend_from_slice(&(round * 100 + number).to_le_bytes()));
                    }
                    let mut received = 0;
                    if let Some(message) = exchange.poll(worker) {
                        received += message.bytes.len() as u64 / 8;
                    }
                    exchange.close(&[1, round]);
                    while let Some(message) = exchange.receive(worker, &Budget::unlimited()).unwrap() {
                        assert_eq!(message.kind, 1);
                        for bytes in message.bytes.chunks_exact(8) {
                            assert_eq!(u64::from_le_bytes(bytes.try_into().unwrap()) / 100, round);
                            received += 1;
                        }
                    }
                    sums = exchange.next_round();
                    assert_eq!(sums, [exchange.workers() as u64, round * exchange.workers() as u64]);
                    exchange.close(&[received]);
                    let received = exchange.finish(worker, &Budget::unlimited()).unwrap();
                    assert_eq!(received, [100 * exchange.workers() as u64]);
                }
                sums.len()
            });
            for result in guards.unwrap().join() {
                assert_eq!(result.unwrap(), 2);
            }
        }
    }
}
