//! Texts as modules give them and as they are read.
#![expect(clippy::unwrap_used, reason = "a test that can't go on should say where")]

mod assembly;
mod browser;
mod figures;
mod fixture;
mod texts;
