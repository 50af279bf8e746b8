//! The configuration of an application: typed sections that are read and checked once, at start.
//!
//! There are two kinds of settings. *Configuration* (this crate) lives in sections such as
//! `Svc:Webhooks`, belongs to whoever runs the application, and needs a restart to change.
//! *Application settings* (the crate `svc-settings`, dotted names such as `Chat.MaxAttachmentMb`)
//! belong to an organisation or a person and change at run time.
//!
//! # Where a value comes from
//!
//! Later sources win:
//!
//! 1. the default in the section's declaration;
//! 2. `svc.toml` in the working directory, or the file that `SVC_CONFIG` names (which must exist);
//! 3. `svc.<environment>.toml` beside it, when `SVC_ENVIRONMENT` names an environment and the file
//!    exists ([`Settings::files`] tells what was looked for);
//! 4. environment variables, two underscores for a colon: `Svc__Webhooks__Timeout=00:00:05`;
//! 5. the command line: `--Svc:Webhooks:Timeout=00:00:05`, or the value as the next argument.
//!
//! ```toml
//! [Svc.Webhooks]
//! Timeout = "00:00:05"
//! AllowedPorts = [8080, 9090]
//!
//! [Svc.Webhooks.DomainEvents]
//! OrderShipped = "order.shipped"
//! ```
//!
//! Keys match without regard to case, because some platforms change the case of environment
//! variables; messages and lists show the canonical spelling.
//!
//! - A **list** replaces the list of an earlier source as a whole. In variables and arguments its
//!   items are numbered: `Svc__Webhooks__AllowedPorts__0`.
//! - A **map** is joined with the map of earlier sources, the default included. An entry with an
//!   empty text removes the earlier entry of that name.
//! - An **empty text** for an optional value means none, and from a variable or an argument it
//!   empties a list or a map. Compose files set variables to nothing when they mean "not set".
//!
//! # What is refused
//!
//! [`SettingsBuilder::finish`] either returns settings that obey every declared type and bound, or
//! all problems at once, one line each, with the key, the value, where it was written and what is
//! expected. Unknown keys and sections are problems too, since a misspelt setting that is silently
//! ignored is found only by the damage it does. The values of secrets, and of unknown keys (which may
//! be misspelt secrets), never appear in a message.
//!
//! # Declaring a section
//!
//! ```
//! use std::time::Duration;
//!
//! svc_configuration::settings_section! {
//!     /// Messages to other systems.
//!     pub struct RelaySettings in "Svc:Relay" {
//!         /// Time for one attempt, from resolving the name to the last byte of the answer.
//!         pub timeout: Duration = seconds(10), within(seconds(1)..=minutes(5));
//!         /// Ports that may be used besides 443.
//!         pub allowed_ports: Vec<u16> = vec![], at_least(1);
//!         /// Key that signs messages. None sends them unsigned.
//!         pub signing_key: Option<svc_configuration::Secret> = None, length(32..=200);
//!     }
//! }
//!
//! use svc_configuration::{LoadOptions, SettingsBuilder};
//!
//! let options = LoadOptions {
//!     arguments: vec!["--Svc:Relay:Timeout=00:00:05".to_owned(), "run".to_owned()],
//!     ..LoadOptions::default()
//! };
//! let mut builder = SettingsBuilder::load(&options);
//! assert_eq!(builder.arguments(), ["run"]);
//! builder.declare::<RelaySettings>();
//! let settings = builder.finish()?;
//! assert_eq!(settings.section::<RelaySettings>().timeout, Duration::from_secs(5));
//! # Ok::<(), svc_configuration::SettingsError>(())
//! ```
//!
//! # Why a layer of our own
//!
//! The `config` crate merges sources into one tree of values and then runs serde over it. Serde stops
//! at the first problem, has no bounds, and by then the line of the file is forgotten. Here the
//! sources stay apart until a typed field asks for its value (`reader`), so the field decides how
//! sources combine, every problem is collected, and each knows its file and line. That is less code
//! than teaching the same to serde.

mod bounds;
mod builder;
mod choice;
mod containers;
mod declare;
pub mod duration;
mod effective;
mod file;
mod given;
mod load;
mod nearest;
mod problem;
mod reader;
mod reference;
mod scalars;
mod secret;
mod source;
mod tree;
pub mod units;
mod web_url;

pub use bounds::{Bounds, TextLength, at_least, at_most, length, within};
pub use builder::{Settings, SettingsBuilder};
pub use declare::{FieldDescription, Section, SectionDeclaration, SectionProblems, SettingType};
pub use effective::{Effective, render_effective};
pub use given::Given;
pub use load::{ConsultedFile, LoadOptions};
pub use nearest::nearest;
pub use problem::{SettingProblem, SettingsError};
pub use reader::Reader;
pub use reference::render_reference;
pub use secret::{ConnectionString, Secret};
pub use source::Source;
pub use web_url::{WebUrl, WebUrlError};

#[doc(hidden)]
pub use declare::{document, key_of};

/// What the macros of this crate need in the crates that use them.
#[doc(hidden)]
pub mod __private {
    pub use serde::{Serialize, Serializer};
}
