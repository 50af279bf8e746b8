//! What happened to records is told, and taken back, by people who call the program over HTTP.
//!
//! - `story`: an order that three people change, a deletion, a command that changed forty records;
//! - `races`: every refusal because somebody was faster, with somebody who is;
//! - `worlds`: what somebody may not see shows in no history, log, search, stream and excerpt.

mod races;
mod story;
mod worlds;
