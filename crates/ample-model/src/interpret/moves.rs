//! Which moves a state allows.

use super::evaluate::{Context, Offer, check_arity, fit};
use super::{Fault, Interpreter, ProcessState, State};
use crate::expr::Expr;
use crate::system::{ActionId, Channel, Communication, Edge, EdgeId};
use crate::trace::Move;

/// The moves of a state, and the circumstances under which they were found.
pub(super) struct Moves {
    /// The value of [`Expr::Timeout`]: without it nothing could move.
    pub timeout: bool,
    /// The holder of control can move, and so it alone does.
    pub controlled: bool,
    pub moves: Vec<Move>,
}

/// How an edge can be taken.
pub(super) enum Ready {
    Alone,
    /// Together with any of these edges of other processes.
    With(Vec<(u32, EdgeId)>),
}

impl Interpreter<'_> {
    /// Control first; then everybody; then everybody once more, with `timeout` true.
    pub(super) fn moves(&self, state: &State) -> Moves {
        if let Some(holder) = state.control {
            let mut moves = self.moves_of(state, holder, false);
            moves.extend(self.actions(state, false).filter(|taken| taken.involves(holder)));
            if !moves.is_empty() {
                return Moves { timeout: false, controlled: true, moves };
            }
        }
        let everybody = |timeout| -> Vec<Move> {
            let ids = (0..state.processes.len() as u32).rev();
            let alone = ids.flat_map(|process| self.moves_of(state, process, timeout));
            alone.chain(self.actions(state, timeout)).collect()
        };
        let moves = everybody(false);
        if !moves.is_empty() {
            return Moves { timeout: false, controlled: false, moves };
        }
        Moves { timeout: true, controlled: false, moves: everybody(true) }
    }

    /// The moves that several processes make together.
    fn actions<'b>(&'b self, state: &'b State, timeout: bool) -> impl Iterator<Item = Move> + 'b {
        let actions = (0..self.system.actions.len()).map(ActionId::from);
        actions.flat_map(move |action| self.moves_by(state, action, timeout))
    }

    /// The processes whose type lists the action.
    pub(super) fn listing<'b>(&'b self, state: &'b State, action: ActionId) -> impl Iterator<Item = u32> + 'b {
        let lists = move |process: &ProcessState| {
            self.system.process(process.process).edges.iter().any(|edge| edge.action == Some(action))
        };
        (0u32..).zip(&state.processes).filter(move |(_, process)| lists(process)).map(|(id, _)| id)
    }

    /// One move for every combination of edges by which all who list the action can take part.
    fn moves_by(&self, state: &State, action: ActionId, timeout: bool) -> Vec<Move> {
        let mut combinations: Vec<Vec<(u32, EdgeId)>> = vec![Vec::new()];
        for process in self.listing(state, action) {
            let context = self.context(state, Some(process), Some(timeout));
            let standing = &state.processes[process as usize];
            let possible = |id: &&EdgeId| {
                let edge = self.edge(standing.process, **id);
                // A fault is an outcome of the move, and the step will say so.
                edge.action == Some(action) && context.takes_part(edge) != Ok(false)
            };
            let edges: Vec<EdgeId> = self.location(standing).edges.iter().filter(possible).copied().collect();
            let with = |others: &Vec<(u32, EdgeId)>, edge: EdgeId| [&others[..], &[(process, edge)]].concat();
            combinations =
                combinations.iter().flat_map(|others| edges.iter().map(move |edge| with(others, *edge))).collect();
        }
        combinations.retain(|participants| !participants.is_empty());
        let taken = |participants: Vec<(u32, EdgeId)>| Move::Action { action, participants: participants.into() };
        combinations.into_iter().map(taken).collect()
    }

    fn moves_of(&self, state: &State, process: u32, timeout: bool) -> Vec<Move> {
        let Some(standing) = state.process(process.into()) else { return Vec::new() };
        let context = self.context(state, Some(process), Some(timeout));
        let may_move = context.may_move();
        if may_move == Ok(false) {
            return Vec::new();
        }
        let mut moves = Vec::new();
        for &id in &self.location(standing).edges {
            let edge = self.edge(standing.process, id);
            if edge.action.is_some() {
                continue;
            }
            match may_move.clone().and_then(|_| context.ready(edge)) {
                Ok(None) => {}
                // A fault is an outcome of the move, and the step will say so.
                Ok(Some(Ready::Alone)) | Err(_) => moves.push(Move::Process { process, edge: id }),
                Ok(Some(Ready::With(receivers))) => {
                    let shake = |receiver| Move::Handshake { sender: (process, id), receiver };
                    moves.extend(receivers.into_iter().map(shake));
                }
            }
        }
        moves
    }
}

impl<'a> Context<'a> {
    /// The evaluating process's `provided` clause holds, and nobody of higher priority goes first.
    pub fn may_move(&self) -> Result<bool, Fault> {
        if !self.provided()? {
            return Ok(false);
        }
        if !self.interpreter.system.uses_priorities {
            return Ok(true);
        }
        let (me, mine) = (self.me()?, self.my_process()?.priority);
        for (other, process) in self.state.processes.iter().enumerate() {
            if other as u32 != me
                && process.priority > mine
                && self.seen_by(other as u32).provided()?
                && self.enabled(other as i64)?
            {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn provided(&self) -> Result<bool, Fault> {
        match &self.interpreter.system.process(self.my_process()?.process).provided {
            Some(condition) => self.holds(condition),
            None => Ok(true),
        }
    }

    /// The evaluating process can take part in an action by this edge, and may move.
    pub fn takes_part(&self, edge: &Edge) -> Result<bool, Fault> {
        Ok(self.may_move()? && self.guard_holds(edge)?)
    }

    /// How the evaluating process can take the edge; `None` if it is not executable.
    pub fn ready(&self, edge: &Edge) -> Result<Option<Ready>, Fault> {
        // It is taken by all who list the action, or not at all.
        if edge.action.is_some() {
            return Ok(None);
        }
        if !self.guard_holds(edge)? {
            return Ok(None);
        }
        let Some(communication) = &edge.communication else { return Ok(Some(Ready::Alone)) };
        let (handle, kind, _) = self.channel(communication.channel())?;
        if kind.capacity > 0 || communication.keeps() {
            return Ok(self.can_communicate(communication)?.then_some(Ready::Alone));
        }
        let Communication::Send { values, .. } = communication else { return Ok(None) };
        let message = self.message(kind, values)?;
        let partners = self.receivers(Offer { handle, message: &message });
        Ok(if partners.is_empty() { None } else { Some(Ready::With(partners)) })
    }

    /// Like [`ready`](Self::ready), but a handshake send needs nobody to receive, and an action nobody else to take part.
    pub fn ready_without_partner(&self, edge: &Edge) -> Result<bool, Fault> {
        if !self.guard_holds(edge)? {
            return Ok(false);
        }
        let Some(communication) = &edge.communication else { return Ok(true) };
        let (_, kind, _) = self.channel(communication.channel())?;
        if kind.capacity > 0 || communication.keeps() {
            return self.can_communicate(communication);
        }
        Ok(matches!(communication, Communication::Send { .. }))
    }

    /// All conjuncts hold, and an edge that ends its process finds it the youngest.
    fn guard_holds(&self, edge: &Edge) -> Result<bool, Fault> {
        if edge.ends_process() && !self.is_youngest()? {
            return Ok(false);
        }
        for conjunct in &edge.guard {
            if !self.holds(conjunct)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    pub fn is_youngest(&self) -> Result<bool, Fault> {
        Ok(self.me()? as usize + 1 == self.state.processes.len())
    }

    /// A communication through a buffer can happen now.
    pub fn can_communicate(&self, communication: &Communication) -> Result<bool, Fault> {
        let (_, kind, channel) = self.channel(communication.channel())?;
        match communication {
            Communication::Send { .. } => Ok(channel.messages.len() < kind.capacity as usize),
            Communication::Receive { keep: true, .. } if kind.capacity == 0 => Err(Fault::PollHandshake),
            Communication::Receive { patterns, anywhere, .. } => {
                Ok(self.find(kind, channel, patterns, *anywhere)?.is_some())
            }
        }
    }

    /// The message that a send would put into a channel of that kind.
    pub fn message(&self, kind: &Channel, values: &[Expr]) -> Result<Vec<i64>, Fault> {
        check_arity(kind, values.len())?;
        values.iter().zip(&kind.fields).map(|(value, scalar)| fit(*scalar, self.value(value)?)).collect()
    }

    /// Who else can take the message. Those whose evaluation is a fault are among them: the step says so.
    fn receivers(&self, offer: Offer<'_>) -> Vec<(u32, EdgeId)> {
        let mut receivers = Vec::new();
        for (process, standing) in self.state.processes.iter().enumerate().rev() {
            let process = process as u32;
            if Some(process) == self.me {
                continue;
            }
            let context = self.seen_by(process);
            for &id in &self.interpreter.location(standing).edges {
                let edge = self.interpreter.edge(standing.process, id);
                if context.joins(edge, offer) != Ok(false) {
                    receivers.push((process, id));
                }
            }
        }
        receivers
    }

    /// The evaluating process can be the second half of the handshake by this edge, and may move.
    pub fn joins(&self, edge: &Edge, offer: Offer<'_>) -> Result<bool, Fault> {
        Ok(self.accepts(edge, offer)? && self.may_move()?)
    }

    /// The edge can receive that very message.
    pub fn accepts(&self, edge: &Edge, offer: Offer<'_>) -> Result<bool, Fault> {
        let Some(Communication::Receive { channel, patterns, keep: false, .. }) = &edge.communication else {
            return Ok(false);
        };
        let context = Context { offer: Some(offer), ..*self };
        // A handle that cannot be evaluated is reported where the edge is looked at for itself.
        if context.value(channel) != Ok(offer.handle) || !context.guard_holds(edge)? {
            return Ok(false);
        }
        let (_, kind, _) = context.channel(channel)?;
        context.fits(kind, patterns, offer.message)
    }
}
