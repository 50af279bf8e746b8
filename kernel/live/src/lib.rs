#![doc = include_str!("../README.md")]

mod api;
pub mod errors;
pub mod kinds;
mod log;
mod module;
mod node;
mod settings;
mod stream;
mod tell;
mod topics;

pub use module::{LiveModule, LiveRegistry};
pub use settings::LiveSettings;
pub use tell::{LiveSet, LiveTold, Tell, tells_changes};
pub use topics::{Audience, LiveTopic};
