//! Which moves a symbolic state allows: the twin of the interpreter's.

use ample_model::{Communication, Edge, EdgeId, Expr};

use crate::Unsupported;
use crate::dag::Lit;
use crate::evaluate::{Me, Offer, View};
use crate::symbolic::{Candidate, Maker, Truth};
use crate::word::Word;

/// How an edge can be taken, and where the attempt is a fault; where it is one, the rest means nothing.
pub(crate) struct Ready {
    pub alone: Lit,
    pub fault: Lit,
    pub with: Vec<Handshake>,
}

/// An edge of another process that takes the message.
pub(crate) struct Handshake {
    pub receiver: Me,
    pub edge: EdgeId,
    /// The channel and the message; that they are meant is part of `when`.
    pub offer: Offer,
    /// The handle of the sender means this channel.
    pub meant: Lit,
    /// The receiver can take it, or trying to is a fault.
    pub when: Lit,
    pub fault: Lit,
}

impl Maker<'_> {
    /// The edge can be taken somehow.
    pub fn is_executable(&mut self, ready: &Ready) -> Lit {
        let mut cases: Vec<Lit> = ready.with.iter().map(|handshake| handshake.when).collect();
        cases.push(ready.alone);
        self.dag.any(&cases)
    }

    /// The viewer's `provided` clause holds, and nobody of higher priority goes first.
    pub fn may_move(&mut self, view: View<'_>, me: Me) -> Result<Truth, Unsupported> {
        let mut may = self.provided(view, me)?;
        if !self.system.uses_priorities || may.holds == Lit::FALSE {
            return Ok(may);
        }
        let mine = self.plain(view.state, self.layout.slots[me.slot].priority);
        for slot in (0..self.layout.slots.len()).filter(|slot| *slot != me.slot) {
            let theirs = self.plain(view.state, self.layout.slots[slot].priority);
            let alive = self.alive(view.state, slot);
            let higher = self.dag.less(&mine, &theirs);
            let first = self.dag.and(alive, higher);
            if first == Lit::FALSE {
                continue;
            }
            let mut stops = Truth::FALSE;
            for of in self.layout.slots[slot].types.clone() {
                let is_of = self.is_of(view.state, slot, of);
                let other = Me { slot, of };
                let provided = self.provided(view.seen_by(other), other)?;
                let here = self.then(Truth::sound(is_of), provided);
                stops =
                    Truth { holds: self.dag.or(stops.holds, here.holds), fault: self.dag.or(stops.fault, here.fault) };
            }
            let stops = self.then(Truth::sound(first), stops);
            let enabled = if stops.holds == Lit::FALSE { Truth::FALSE } else { self.is_enabled(view, slot)? };
            let stops = self.then(stops, enabled);
            may = self.then(may, Truth { holds: !stops.holds, fault: stops.fault });
        }
        Ok(may)
    }

    fn provided(&mut self, view: View<'_>, me: Me) -> Result<Truth, Unsupported> {
        match &self.system.process(me.of).provided {
            Some(condition) => self.holds(view, condition),
            None => Ok(Truth::TRUE),
        }
    }

    /// How the viewer can take the edge.
    pub fn ready(&mut self, view: View<'_>, edge: &Edge) -> Result<Ready, Unsupported> {
        self.check_size()?;
        let guard = self.guard_holds(view, edge)?;
        let mut ready = Ready { alone: Lit::FALSE, fault: guard.fault, with: Vec::new() };
        if guard.holds == Lit::FALSE {
            return Ok(ready);
        }
        let Some(communication) = &edge.communication else {
            return Ok(Ready { alone: guard.holds, ..ready });
        };
        let (candidates, wrong) = self.resolve(view, communication.channel())?;
        let wrong = self.dag.and(guard.holds, wrong);
        ready.fault = self.dag.or(ready.fault, wrong);
        for candidate in candidates {
            let when = self.dag.and(guard.holds, candidate.when);
            if self.kind(candidate.kind).capacity > 0 || communication.keeps() {
                let can = self.can_communicate(view, communication, candidate)?;
                let (able, wrong) = (self.dag.and(when, can.holds), self.dag.and(when, can.fault));
                ready.alone = self.dag.or(ready.alone, able);
                ready.fault = self.dag.or(ready.fault, wrong);
                continue;
            }
            let Communication::Send { values, .. } = communication else { continue };
            let (message, wrong) = self.message(view, candidate, values)?;
            let wrong = self.dag.and(when, wrong);
            ready.fault = self.dag.or(ready.fault, wrong);
            if wrong != when {
                let offer = Offer { queue: candidate.queue, kind: candidate.kind, message };
                self.receivers(view, offer, candidate.when, when, &mut ready.with)?;
            }
        }
        Ok(ready)
    }

    /// The channels that the expression may mean, and where it means none or is a fault.
    pub fn resolve(&mut self, view: View<'_>, channel: &Expr) -> Result<(Vec<Candidate>, Lit), Unsupported> {
        let handle = self.value(view, channel)?;
        let (candidates, none) = self.candidates(view.state, &handle.word);
        Ok((candidates, self.dag.or(handle.fault, none)))
    }

    /// Like [`ready`](Self::ready), but a handshake send needs nobody to receive.
    pub fn ready_without_partner(&mut self, view: View<'_>, edge: &Edge) -> Result<Truth, Unsupported> {
        let guard = self.guard_holds(view, edge)?;
        let Some(communication) = &edge.communication else { return Ok(guard) };
        if guard.holds == Lit::FALSE {
            return Ok(guard);
        }
        let (candidates, mut fault) = self.resolve(view, communication.channel())?;
        let mut holds = Lit::FALSE;
        for candidate in candidates {
            let can = if self.kind(candidate.kind).capacity > 0 || communication.keeps() {
                self.can_communicate(view, communication, candidate)?
            } else {
                Truth::sound(matches!(communication, Communication::Send { .. }).into())
            };
            let (able, wrong) = (self.dag.and(candidate.when, can.holds), self.dag.and(candidate.when, can.fault));
            holds = self.dag.or(holds, able);
            fault = self.dag.or(fault, wrong);
        }
        Ok(self.then(guard, Truth { holds, fault }))
    }

    /// All conjuncts hold, and an edge that ends its process finds it the youngest.
    fn guard_holds(&mut self, view: View<'_>, edge: &Edge) -> Result<Truth, Unsupported> {
        let mut guard = Truth::TRUE;
        if edge.ends_process() {
            guard = self.is_youngest(view);
        }
        for conjunct in &edge.guard {
            if guard.holds == Lit::FALSE {
                break;
            }
            let next = self.holds(view, conjunct)?;
            guard = self.then(guard, next);
        }
        Ok(guard)
    }

    pub fn is_youngest(&mut self, view: View<'_>) -> Truth {
        let Some(me) = view.me else { return Truth { holds: Lit::FALSE, fault: Lit::TRUE } };
        let count = self.count(view.state);
        Truth::sound(self.dag.equals(&count, me.slot as i128 + 1))
    }

    /// A communication through that buffer can happen now.
    pub fn can_communicate(
        &mut self,
        view: View<'_>,
        communication: &Communication,
        candidate: Candidate,
    ) -> Result<Truth, Unsupported> {
        match communication {
            Communication::Send { .. } => Ok(Truth::sound(!self.is_full(view.state, candidate.queue, candidate.kind))),
            Communication::Receive { keep: true, .. } if self.kind(candidate.kind).capacity == 0 => {
                Ok(Truth { holds: Lit::FALSE, fault: Lit::TRUE })
            }
            Communication::Receive { patterns, anywhere, .. } => {
                let found = self.find(view, candidate.queue, candidate.kind, patterns, *anywhere)?;
                Ok(Truth { holds: found.found, fault: found.fault })
            }
        }
    }

    /// The message that a send would put into the channel, and where making it is a fault.
    pub fn message(
        &mut self,
        view: View<'_>,
        candidate: Candidate,
        values: &[Expr],
    ) -> Result<(Vec<Word>, Lit), Unsupported> {
        let fields = self.kind(candidate.kind).fields.clone();
        if fields.len() != values.len() {
            return Ok((Vec::new(), Lit::TRUE));
        }
        let mut message = Vec::new();
        let mut fault = Lit::FALSE;
        for (value, scalar) in values.iter().zip(fields) {
            let value = self.value(view, value)?;
            let (word, misfit) = self.dag.fit(scalar, &value.word);
            fault = self.dag.any(&[fault, value.fault, misfit]);
            message.push(word);
        }
        Ok((message, fault))
    }

    /// Who else can take the message.
    fn receivers(
        &mut self,
        view: View<'_>,
        offer: Offer,
        meant: Lit,
        when: Lit,
        out: &mut Vec<Handshake>,
    ) -> Result<(), Unsupported> {
        let system = self.system;
        for slot in 0..self.layout.slots.len() {
            if view.me.is_some_and(|me| me.slot == slot) {
                continue;
            }
            for of in self.layout.slots[slot].types.clone() {
                let lives = self.lives_as(view.state, slot, of);
                let lives = self.dag.and(lives, when);
                if lives == Lit::FALSE {
                    continue;
                }
                let receiver = Me { slot, of };
                for (number, edge) in system.process(of).edges.iter().enumerate() {
                    let joins = self.joins(view.seen_by(receiver), receiver, edge, &offer)?;
                    let stands = self.stands(view.state, slot, edge.from.index());
                    let listed = self.dag.or(joins.holds, joins.fault);
                    let when = self.dag.all(&[lives, stands, listed]);
                    if when != Lit::FALSE {
                        let (edge, offer) = (number.into(), offer.clone());
                        out.push(Handshake { receiver, edge, offer, meant, when, fault: joins.fault });
                    }
                }
            }
        }
        Ok(())
    }

    /// The viewer can be the second half of the handshake by this edge, and may move.
    fn joins(&mut self, view: View<'_>, me: Me, edge: &Edge, offer: &Offer) -> Result<Truth, Unsupported> {
        let accepts = self.accepts(view, edge, offer)?;
        if accepts.holds == Lit::FALSE {
            return Ok(accepts);
        }
        let may_move = self.may_move(view, me)?;
        Ok(self.then(accepts, may_move))
    }

    /// The edge can receive that very message.
    pub fn accepts(&mut self, view: View<'_>, edge: &Edge, offer: &Offer) -> Result<Truth, Unsupported> {
        let Some(Communication::Receive { channel, patterns, keep: false, .. }) = &edge.communication else {
            return Ok(Truth::FALSE);
        };
        let view = View { offer: Some(offer), memo: None, ..view };
        let handle = self.value(view, channel)?;
        let same = self.dag.equals(&handle.word, offer.queue as i128 + 1);
        // A handle that cannot be evaluated is reported where the edge is looked at for itself.
        let same = self.dag.and(same, !handle.fault);
        if same == Lit::FALSE {
            return Ok(Truth::FALSE);
        }
        let guard = self.guard_holds(view, edge)?;
        let accepts = self.then(Truth::sound(same), guard);
        if accepts.holds == Lit::FALSE {
            return Ok(accepts);
        }
        let fits = self.fits(view, offer.kind, patterns, &offer.message)?;
        Ok(self.then(accepts, fits))
    }
}
