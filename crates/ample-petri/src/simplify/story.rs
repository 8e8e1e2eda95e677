//! What the transitions of a simplified net stand for, and how a run is told with the transitions of the net before.
//!
//! A story may be long, and deep as the net, so that it is told with a stack of its own and cut off beyond a limit.

use crate::net::Net;

/// The number of a story.
pub(super) type StoryId = u32;

/// No run is told with more transitions.
pub(super) const LONGEST: usize = 20_000_000;

/// Tells how a transition is fired in the net before.
#[derive(Clone, Debug)]
enum Story {
    /// A transition of that net.
    Step(u32),
    /// One after the other, each so many times.
    Then(Vec<(StoryId, u64)>),
    /// The first for which one of the places has the tokens that are given beside it.
    Either(Vec<(Vec<(u32, u64)>, StoryId)>),
}

/// All stories of a simplification.
#[derive(Clone, Debug, Default)]
pub(super) struct Stories {
    stories: Vec<Story>,
    /// The first and the last transition of each, for names.
    ends: Vec<(u32, u32)>,
}

impl Stories {
    fn push(&mut self, story: Story, ends: (u32, u32)) -> StoryId {
        self.stories.push(story);
        self.ends.push(ends);
        self.stories.len() as u32 - 1
    }

    /// A transition of the net before.
    pub fn step(&mut self, transition: u32) -> StoryId {
        self.push(Story::Step(transition), (transition, transition))
    }

    /// One after the other; there is at least one.
    pub fn then(&mut self, parts: Vec<(StoryId, u64)>) -> StoryId {
        let end = |part: Option<&(StoryId, u64)>| part.map_or((0, 0), |part| self.ends[part.0 as usize]);
        let ends = (end(parts.first()).0, end(parts.last()).1);
        self.push(Story::Then(parts), ends)
    }

    /// The one whose place has tokens; there is at least one.
    pub fn either(&mut self, options: Vec<(Vec<(u32, u64)>, StoryId)>) -> StoryId {
        let ends = options.first().map_or((0, 0), |option| self.ends[option.1 as usize]);
        self.push(Story::Either(options), ends)
    }

    /// A name for a transition with that story.
    pub fn name(&self, story: StoryId, net: &Net) -> String {
        let name = |transition: u32| net.transitions[transition as usize].name.as_str();
        let (first, last) = self.ends[story as usize];
        match &self.stories[story as usize] {
            Story::Then(_) if first != last => format!("{}…{}", name(first), name(last)),
            _ => name(first).to_string(),
        }
    }

    /// Fires what the story tells, so many times; `None` if it cannot be fired, or is too long.
    pub fn tell(&self, story: StoryId, times: u64, teller: &mut Teller<'_>) -> Option<()> {
        let mut stack = vec![(story, times)];
        while let Some((story, times)) = stack.pop() {
            if times == 0 {
                continue;
            }
            match &self.stories[story as usize] {
                Story::Step(transition) => {
                    for _ in 0..times {
                        teller.fire(*transition)?;
                    }
                }
                Story::Then(parts) => {
                    stack.push((story, times - 1));
                    stack.extend(parts.iter().rev());
                }
                Story::Either(options) => {
                    let has_tokens =
                        |places: &[(u32, u64)]| places.iter().any(|(place, unit)| teller.tokens(*place) >= *unit);
                    let (_, chosen) = options.iter().find(|(places, _)| has_tokens(places))?;
                    stack.push((story, times - 1));
                    stack.push((*chosen, 1));
                }
            }
        }
        Some(())
    }
}

/// Fires transitions of a net one after the other and writes them down.
#[derive(Clone, Debug)]
pub(super) struct Teller<'net> {
    net: &'net Net,
    marking: Vec<u64>,
    run: Vec<u32>,
}

impl<'net> Teller<'net> {
    /// At the start of the net.
    pub fn new(net: &'net Net) -> Teller<'net> {
        Teller { net, marking: net.initial(), run: Vec::new() }
    }

    pub fn net(&self) -> &'net Net {
        self.net
    }

    /// Where it is now.
    pub fn marking(&self) -> &[u64] {
        &self.marking
    }

    /// What was fired so far.
    pub fn run(&self) -> &[u32] {
        &self.run
    }

    pub fn into_run(self) -> Vec<u32> {
        self.run
    }

    /// The tokens of a place.
    pub fn tokens(&self, place: u32) -> u64 {
        self.marking[place as usize]
    }

    /// Fires; `None` if that is not possible.
    pub fn fire(&mut self, transition: u32) -> Option<()> {
        let arcs = self.net.transitions.get(transition as usize)?;
        let fits = |(place, tokens): &(u32, u64)| self.marking[*place as usize].checked_add(*tokens).is_some();
        if self.run.len() >= LONGEST || !arcs.is_enabled(&self.marking) || !arcs.adds.iter().all(fits) {
            return None;
        }
        for (place, tokens) in &arcs.takes {
            self.marking[*place as usize] -= tokens;
        }
        for (place, tokens) in &arcs.adds {
            self.marking[*place as usize] += tokens;
        }
        self.run.push(transition);
        Some(())
    }

    /// Takes back what was fired after the first `length` transitions.
    pub fn back_to(&mut self, length: usize) {
        while self.run.len() > length {
            let Some(transition) = self.run.pop() else { return };
            let arcs = &self.net.transitions[transition as usize];
            for (place, tokens) in &arcs.adds {
                self.marking[*place as usize] -= tokens;
            }
            for (place, tokens) in &arcs.takes {
                self.marking[*place as usize] += tokens;
            }
        }
    }

    /// No transition can fire.
    pub fn is_dead(&self) -> bool {
        !self.net.transitions.iter().any(|transition| transition.is_enabled(&self.marking))
    }
}
