#![doc = include_str!("../README.md")]

mod arguments;
mod browser;
mod check;
mod format;
pub mod kinds;
mod language;
mod module;
mod service;
mod source;
mod texts;

pub use arguments::{Argument, Arguments};
pub use browser::BrowserTexts;
pub use language::Language;
pub use module::{INTERFACE_LANGUAGE, LanguagesSettings, MessagesModule, MessagesRegistry};
pub use service::Messages;
pub use texts::Texts;
