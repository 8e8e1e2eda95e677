//! Properties that need different views of a model are checked in groups, one after the other, with one report.

use ample_engine::board::Board;
use ample_engine::report::{Answer, Report};
use ample_model::Property;

/// Checks groups of properties, given by their numbers, at least one of which is not empty. What is found is posted as it
/// would be for all properties together, and the answers are in their order.
pub(crate) fn check(
    groups: &[Vec<usize>],
    properties: &[Property],
    board: &Board,
    mut check: impl FnMut(&[Property], &Board) -> Report,
) -> Report {
    let mut answers: Vec<Option<Answer>> = vec![None; properties.len()];
    let mut whole: Option<Report> = None;
    for group in groups.iter().filter(|group| !group.is_empty()) {
        if group.len() == properties.len() {
            return check(properties, board);
        }
        let asked: Vec<Property> = group.iter().map(|number| properties[*number].clone()).collect();
        let mut found = check(&asked, &Board::of(&asked));
        for (number, answer) in group.iter().zip(std::mem::take(&mut found.answers)) {
            board.post(*number, &answer);
            answers[*number] = Some(answer);
        }
        whole = Some(match whole {
            Some(whole) => Report { ended: whole.ended.clone().or(found.ended), ..whole },
            None => found,
        });
    }
    let mut whole = whole.unwrap_or_else(|| check(properties, board));
    whole.answers = answers.into_iter().flatten().collect();
    whole
}
