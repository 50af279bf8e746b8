//! What tests of an application stand on, for application developers as much as for Svc itself.
//!
//! - [`TestApp`]: a whole application on a throw-away database, with a clock that is moved by
//!   hand, and nothing in the background: [`TestApp::drain`] does all that is due.
//! - [`Client`]: somebody who calls the application's HTTP API, signed in as anyone.
//! - [`Dice`]: chance that is the same in each run.
//! - [`numbered`]: a text without what differs in each world.
//! - [`eventually`]: waits for what happens beyond a real boundary.
//! - [`refuses_everybody`]: every route of an application, tried as those who may not.
//! - [`Receiver`]: a receiver of webhooks on this machine, which keeps what it got and answers
//!   as it is told.
//! - [`Site`]: a site that answers by a function, over HTTP or TLS, for what is asked of others.
//! - [`Authority`]: a certificate authority of a test's own.
//! - [`ThrowAwayDatabase`]: a database of either kind for one test, cloned from a migrated
//!   template in a few milliseconds.
//! - [`Socket`]: a bare connection, for what no client would send.
//! - [`ReservedPort`]: a port for what is named before it listens.
//! - [`Program`]: a built application in a process of its own, which can be killed.
//! - [`on_both_databases!`]: one test, run on SQLite and on PostgreSQL.
//!
//! PostgreSQL comes from the variable [`POSTGRES_VARIABLE`]; `cargo xtask test` sets it, and
//! `cargo xtask postgres` starts a server for a working day.

mod app;
mod authority;
mod client;
mod database;
mod dice;
mod eventually;
mod macros;
mod numbered;
mod people;
mod port;
mod program;
mod receiver;
mod refusals;
mod site;
mod socket;

pub use app::{TestApp, TestAppBuilder};
pub use authority::{Authority, Pem, ServerTls, pem};
pub use client::{Answer, Client};
pub use database::{POSTGRES_VARIABLE, ThrowAwayDatabase, sqlite_writer};
pub use dice::Dice;
pub use eventually::eventually;
pub use numbered::numbered;
pub use people::{Person, organisation};
pub use port::ReservedPort;
pub use program::Program;
pub use receiver::{Received, Receiver};
pub use refusals::{Untried, refuses_everybody};
pub use site::{Asked, Inbox, Site};
pub use socket::Socket;
/// What [`TestApp::builder`] starts.
pub use svc_application::Application;
pub use svc_database::Backend;
