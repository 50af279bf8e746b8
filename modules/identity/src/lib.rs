//! Who may do what: organisations, users, roles, permissions and API keys.
//!
//! - [`set_up()`]: the first organisation and its administrator; unattended through `Svc:Setup`.
//! - [`organisations`], [`users`], [`roles`], [`api_keys`]: what a program does with them. Each
//!   function checks the rights of its caller; with
//!   [`Context::system_in`](svc_data::Context::system_in) the application itself is the caller.
//! - [`check_password`]: what a page for signing in asks.
//! - [`IdentityService`]: the application's [`Directory`], and the rights
//!   behind API keys, which are kept in memory for a few seconds.
//!
//! # From a request to a principal
//!
//! ```text
//! Authorization: Bearer svck_…
//!   form and checksum (key)             wrong: refused without the database
//!   SHA-256 of the key, in memory?      known: end date asked, done
//!   key by hash (store)                 unknown, revoked, ended: refused
//!   rights of its owner (store)         disabled, no member: refused
//!   narrowed to the key's scope         the principal; remembered for a few seconds
//! ```
//!
//! # What is left to others
//!
//! Sessions, tokens and pages for signing in are not here. They make a
//! [`Principal`](svc_core::Principal) through the same [`Directory`], behind
//! an authenticator of their own.

mod api;
pub mod api_keys;
mod authenticator;
mod email;
pub mod errors;
mod ids;
mod key;
mod model;
pub mod organisations;
mod password;
mod permissions;
mod refusals;
pub mod roles;
mod service;
mod set_up;
mod settings;
mod sign_in;
mod store;
mod text;
pub mod users;
mod worker;

use std::borrow::Cow;
use std::sync::Arc;

use svc_core::{App, Directory, Module, Registry, Result, Worker};
use svc_data::{DataRegistry as _, Migration};
use svc_http::{HttpRegistry as _, Metrics};

pub use ids::{ApiKeyId, RoleId};
pub use key::ApiKeySecret;
pub use permissions::MANAGE;
pub use service::IdentityService;
pub use set_up::{SetUp, SetUpDone, is_set_up, set_up};
pub use settings::{IdentitySettings, SetupSettings};
pub use sign_in::check_password;

use authenticator::ApiKeyAuthenticator;
use refusals::Refusals;
use service::ForgetOnChange;
use worker::IdentityWorker;

/// The module's name.
pub(crate) const NAME: &str = "identity";

const MIGRATIONS: [Migration; 1] =
    [Migration::new("0001_identity", include_str!("../migrations/0001_identity.sql"))];

/// The module `identity`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Identity;

impl Module for Identity {
    fn name(&self) -> Cow<'static, str> {
        NAME.into()
    }

    fn configure(&self, registry: &mut Registry) {
        registry.errors(errors::ALL);
        registry.settings::<IdentitySettings>();
        registry.settings::<SetupSettings>();
        registry.migrations(MIGRATIONS);
        registry.shared_entity::<model::organisation::Entity>();
        registry.shared_entity::<model::user::Entity>();
        registry.entity::<model::membership::Entity>();
        registry.entity::<model::role::Entity>();
        registry.entity::<model::role_permission::Entity>();
        registry.entity::<model::membership_role::Entity>();
        registry.entity::<model::claim::Entity>();
        registry.entity::<model::api_key::Entity>();
        registry
            .permission(MANAGE, "See and change people, roles and API keys of the organisation");
        registry.commit_hook(Arc::new(ForgetOnChange));
        registry.authenticator(Arc::new(ApiKeyAuthenticator));
        registry.routes(api::routes());
        registry.on_build(build);
        registry.worker(NAME, "Notes the use of keys, and tells of refused ones", |app| {
            let (service, refusals) = (app.service()?, app.service()?);
            let worker = IdentityWorker { service, refusals, clock: app.clock().clone() };
            Ok(Some(Arc::new(worker) as Arc<dyn Worker>))
        });
    }
}

async fn build(app: App) -> Result<()> {
    let service = Arc::new(IdentityService::new(&app)?);
    app.provide(Arc::clone(&service));
    app.provide::<dyn Directory>(Arc::clone(&service) as Arc<dyn Directory>);
    let refusals = Arc::new(Refusals::default());
    app.service::<Metrics>()?.register(|registry| refusals.register(registry));
    app.provide(Arc::clone(&refusals));
    set_up::apply_settings(&app).await
}
