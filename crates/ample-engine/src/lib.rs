//! What an engine is: what it is asked, what it answers, and how its evidence is validated.

pub mod board;
pub mod engine;
pub mod evidence;
pub mod faults;
pub mod justice;
pub mod limits;
pub mod portfolio;
pub mod report;
pub mod settings;
pub mod temporal;
pub mod workers;
