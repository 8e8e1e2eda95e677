//! Runs, followed back from worker to worker.

use ample_explicit::store::{ExactStore, FlatStore, Handle, Side, Visible};
use ample_model::Interrupted;

use super::origin::{HANDLE, Origin, handle};
use super::{PIECE, TRACE};
use crate::session::Seat;

/// The states of runs that worker 0 asks for: the way from an initial state to each of these, as the workers remember it.
///
/// All workers take part; only worker 0 names ends and gets states.
pub(super) fn trace<D: Side, V: Visible>(
    seat: &mut Seat<'_>,
    store: &FlatStore<D, V>,
    origin: impl Fn(D) -> Origin,
    ends: &[(usize, Handle)],
) -> Result<Vec<Vec<Vec<u8>>>, Interrupted> {
    let mut runs: Vec<Vec<Vec<u8>>> = vec![Vec::new(); ends.len()];
    for (number, (worker, end)) in ends.iter().enumerate() {
        send(seat, number as u32, *worker, *end);
    }
    let mut sent = ends.len() as u64;
    loop {
        let mut received = Vec::new();
        let sums = seat.round(&[sent], |_, message| received.push(message))?;
        let mut tokens = Vec::new();
        for message in received {
            match message.kind {
                PIECE => piece(&message.bytes, &mut runs),
                _ => tokens.extend(token(&message.bytes)),
            }
        }
        if sums == [0] {
            break;
        }
        sent = 0;
        for (number, mut at) in tokens {
            let mut states = number.to_le_bytes().to_vec();
            loop {
                let state = store.get(at);
                states.extend_from_slice(&(state.len() as u32).to_le_bytes());
                states.extend_from_slice(state);
                match origin(store.side(at)).0 {
                    Some((worker, parent)) if usize::from(worker) == seat.me() => at = parent,
                    Some((worker, parent)) => {
                        send(seat, number, worker.into(), parent);
                        sent += 1;
                        break;
                    }
                    None => break,
                }
            }
            seat.exchange.send(PIECE, 0, states);
        }
    }
    runs.iter_mut().for_each(|run| run.reverse());
    Ok(runs)
}

fn send(seat: &mut Seat<'_>, number: u32, worker: usize, at: Handle) {
    let mut bytes = number.to_le_bytes().to_vec();
    bytes.extend_from_slice(&at.number().to_le_bytes()[..HANDLE]);
    seat.exchange.send(TRACE, worker, bytes);
}

fn token(bytes: &[u8]) -> Option<(u32, Handle)> {
    let (number, at) = bytes.split_first_chunk::<4>()?;
    Some((u32::from_le_bytes(*number), handle(at)?))
}

/// Appends the states of a piece to its run. The pieces of a run come one after the other, a round each.
fn piece(bytes: &[u8], runs: &mut [Vec<Vec<u8>>]) {
    let Some((number, mut rest)) = bytes.split_first_chunk::<4>() else { return };
    let Some(run) = runs.get_mut(u32::from_le_bytes(*number) as usize) else { return };
    while let Some((length, states)) = rest.split_first_chunk::<4>() {
        let (state, states) = states.split_at(u32::from_le_bytes(*length) as usize);
        run.push(state.to_vec());
        rest = states;
    }
}
