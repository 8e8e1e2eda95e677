//! Random systems, by a number.

use super::system::{Action, Guard, System};
use ample_random::Random;
use ample_reduce::objects::{self, Value};
use ample_reduce::scheme::{Kind, ObjectNumber, Verb};

/// A small system with up to three processes that use up to five objects of all kinds. Some transitions have two
/// processes, some are said to be global, some to arrive where they never do.
pub fn system(seed: u64) -> System {
    let mut random = Random::new(seed);
    let mut system = System::new();
    let objects = 1 + random.below(5);
    for _ in 0..objects {
        add_object(&mut system, &mut random);
    }
    let processes = 2 + random.below(2);
    let sizes: Vec<usize> = (0..processes).map(|_| 2 + random.below(3)).collect();
    for size in &sizes {
        system.process(random.below(*size) as u32);
    }
    match random.percent(25) {
        true => add_anywhere(&mut system, &mut random, &sizes),
        false => add_everywhere(&mut system, &mut random, &sizes),
    }
    if random.percent(10) {
        let transitions = &mut system.scheme.transitions;
        let number = random.below(transitions.len().max(1));
        transitions.iter_mut().skip(number).take(1).for_each(|transition| transition.is_global = true);
    }
    system
}

/// Transitions here and there.
fn add_anywhere(system: &mut System, random: &mut Random, sizes: &[usize]) {
    for _ in 0..4 + random.below(6) {
        let process = random.below(sizes.len());
        let from = random.below(sizes[process]);
        add_transition(system, random, sizes, process, from);
    }
}

/// Transitions from almost every location.
fn add_everywhere(system: &mut System, random: &mut Random, sizes: &[usize]) {
    for (process, size) in sizes.iter().enumerate() {
        for from in 0..*size {
            for _ in 0..random.pick(&[0, 1, 1, 1, 2]) {
                add_transition(system, random, sizes, process, from);
            }
        }
    }
}

fn add_transition(system: &mut System, random: &mut Random, sizes: &[usize], process: usize, from: usize) {
    let mut moves = vec![(process as u32, from as u32, random.below(sizes[process]) as u32)];
    if random.percent(10) {
        let other = (process + 1) % sizes.len();
        moves.push((other as u32, random.below(sizes[other]) as u32, random.below(sizes[other]) as u32));
    }
    let guards = guards(system, random);
    let command = command(system, random);
    let number = system.transition(&moves, &guards, &command);
    let transition = &mut system.scheme.transitions[number as usize];
    if random.percent(10) {
        transition.steps[0].to.push(random.below(sizes[process]) as u32);
    }
}

fn add_object(system: &mut System, random: &mut Random) {
    let kind = match random.below(10) {
        0..4 => Kind::Variable,
        4..8 => Kind::Channel { capacity: 1 + random.below(3) as u32 },
        8 => Kind::Semaphore { most: 1 + random.below(3) as u32 },
        _ => Kind::Lock,
    };
    let value = match kind {
        Kind::Variable => Value::Number(random.below(2) as i64),
        Kind::Channel { capacity } => {
            let fill = random.below(capacity as usize + 1);
            Value::Messages((0..fill).map(|_| 1 + random.below(2) as i64).collect())
        }
        Kind::Semaphore { most } => Value::Number(random.below(most as usize + 1) as i64),
        Kind::Lock => Value::Number(random.below(2) as i64),
    };
    system.object(kind, value);
}

fn guards(system: &System, random: &mut Random) -> Vec<Guard> {
    if !random.percent(25) {
        return Vec::new();
    }
    let object = random.below(system.scheme.objects.len()) as ObjectNumber;
    let verb = match system.kind(object) {
        Kind::Variable => Verb::Read,
        Kind::Channel { .. } => random.pick(&[Verb::Empty, Verb::Full, Verb::Length, Verb::Peek, Verb::Search]),
        Kind::Semaphore { .. } => Verb::Zero,
        Kind::Lock => Verb::Held,
    };
    let answer = match verb {
        Verb::Search => Value::Messages(vec![1]),
        _ => Value::Number(random.below(2) as i64),
    };
    vec![Guard { object, verb, answer, is_wanted: random.percent(60) }]
}

fn command(system: &System, random: &mut Random) -> Vec<Action> {
    let mut command: Vec<Action> = Vec::new();
    for _ in 0..random.pick(&[0, 1, 1, 1, 2]) {
        let object = random.below(system.scheme.objects.len()) as ObjectNumber;
        if command.iter().any(|action| action.0 == object) {
            continue;
        }
        let kind = system.kind(object);
        let verb = match kind {
            Kind::Variable => random.pick(&[Verb::Write, Verb::Set(0), Verb::Set(1), Verb::Add(1), Verb::Complement]),
            Kind::Channel { .. } => {
                let plain = random.percent(70);
                let verbs = [Verb::Send, Verb::Receive, Verb::SendSorted, Verb::ReceiveAnywhere];
                random.pick(if plain { &verbs[..2] } else { &verbs[2..] })
            }
            Kind::Semaphore { .. } => random.pick(&[Verb::Down, Verb::Up]),
            Kind::Lock => random.pick(&[Verb::Acquire, Verb::Release]),
        };
        let inputs = objects::inputs(kind, verb);
        command.push((object, verb, inputs[random.below(inputs.len().min(3))]));
    }
    command
}
