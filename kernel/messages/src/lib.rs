#![doc = include_str!("../README.md")]

mod arguments;
mod browser;
mod check;
mod format;
pub mod kinds;
mod language;
mod module;
mod service;
mod settings;
mod source;
mod texts;

pub use arguments::{Argument, Arguments};
pub use browser::BrowserTexts;
pub use language::Language;
pub use module::{MessagesModule, MessagesRegistry};
pub use service::Messages;
pub use settings::{INTERFACE_LANGUAGE, LanguagesSettings};
pub use texts::Texts;
