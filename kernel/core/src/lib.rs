//! What every part of Svc stands on, and that knows no database, no network and no module.
//!
//! - [`Module`] and [`Registry`]: what an application consists of, and who contributes what.
//! - [`settings`]: configuration from defaults, files, environment and command line.
//! - [`App`]: the running application: its clock, settings, services, workers and wake-ups.
//! - [`Cache`]: what a node remembers of what is stored, and forgets when any node changes it.
//! - [`Command`]: what a module adds to the program's command line.
//! - [`Clock`]: the only source of time and of identifiers; [`micros`]: times as they are stored.
//! - [`Principal`]: who acts, in which organisation, with which permissions.
//! - [`Shares`]: what there is only so much of, given out fairly.
//! - [`trace`]: where work stands in a trace, for what it leads to later.
//! - [`Error`]: one transport-neutral error with a stable [`ErrorCode`] for programs; the HTTP status is
//!   chosen by `svc-http` alone.
//!
//! The order of a start is: modules are sorted and configured ([`Registry::assemble`]), settings
//! are read ([`settings`]), services are built ([`Registry::on_build`]), then workers run until
//! [`App::stop`].

mod app;
mod cache;
mod clock;
mod command;
mod error;
mod hex;
mod mail;
pub mod micros;
mod module;
mod names;
mod opaque;
mod permission_catalogue;
mod principal;
mod protection;
mod random;
mod shares;
pub mod trace;
mod wake;
mod worker;

pub use app::{App, WeakApp};
pub use cache::{Cache, Reading};
pub use clock::Clock;
pub use command::{Command, OneOf};
pub use error::{Error, ErrorCode, ErrorKind, ErrorParameters, FieldErrors, Result};
pub use hex::hex;
pub use mail::{Mail, MailSender};
pub use module::{Assembly, AssemblyError, Contribution, Kind, Module, ModuleInfo, Registry};
pub use names::snake_case;
pub use opaque::{Opaque, opaque};
pub use permission_catalogue::PermissionCatalogue;
pub use principal::{
    Actor, Directory, KnownRole, Means, Member, OrganisationId, Permission, PermissionSet,
    Principal, PrincipalKind, UserId,
};
pub use protection::{KeyRing, ProtectionSettings};
pub use random::{random_array, random_token};
pub use shares::{Place, Share, ShareLimits, Shares};
pub use svc_configuration as settings;
pub use svc_configuration::{settings_choice, settings_group, settings_section, text_setting};
pub use wake::{Wake, WakeCount, Wakes};
pub use worker::{Backoff, Worker, WorkerState, WorkerStatus};
