//! From a list of modules to a running application.
//!
//! | Step | Function | What can go wrong, and what it leaves |
//! | --- | --- | --- |
//! | assemble | [`Application::assemble`] | modules that don't fit together: one line each |
//! | configure | [`Assembled::configure`] | settings that are wrong: one line each |
//! | connect | [`Configured::connect`] | the database is waited for, then named as unreachable |
//! | start | [`Connected::start`] | a migration that fails is named; those before it stay |
//! | run | [`Running::serve`] | until it is asked to stop; then requests and work are finished |
//!
//! Each step is a value of its own, so that a command goes only as far as it needs: `modules`
//! assembles, `settings` and `metadata` configure, `migrate --dry-run` connects.

mod application;
mod metadata;
mod operations;
mod running;

pub use application::{Application, Assembled, Configured, Connected};
pub use metadata::Metadata;
pub use running::Running;
