//! Who may do what: organisations, people, roles, permissions and API keys; and how people sign in.
//!
//! - [`set_up()`]: the first organisation and its administrator; unattended through `Svc:Setup`.
//! - [`organisations`], [`users`], [`roles`], [`api_keys`]: what a program does with them. Each
//!   function checks the rights of its caller; with
//!   [`Context::system_in`](svc_data::Context::system_in) the application itself is the caller.
//! - [`sessions`]: where people are signed in; [`invitations`]: how they become members.
//! - [`audit`]: the events that an audit log wants.
//! - [`check_password`]: who knows a password, for a page of an application's own.
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
//! # From a browser to a person
//!
//! The account pages (`/account/…`) ask for a password, and for a second step where the person has one, and
//! begin a session ([`sessions`]). The `OpenID` provider gives tokens for a session; what they may do is asked
//! of the same [`Directory`] with each request.
//!
//! # The files, from below
//!
//! A file uses files of its own layer and of those that stand above it here, and never in a circle: what two files
//! would need of each other lies in one below both.
//!
//! | Layer | Files |
//! | --- | --- |
//! | words | `settings`, `permissions`, `ids`, `errors`, `text`, `email`, `key`, `password`, `presented`, `throttle`, `refusals` |
//! | records and statements | `model`, `store`; `acting`: the organisation that is acted in, and who acts |
//! | rights | `service`: the directory; `authenticator`; `members` |
//! | who was there | `sessions` (what one is: `sessions/session`), `audit`, `device` |
//! | an organisation's own | `roles`, `organisations`, `links`, `passwords`, `users`, `api_keys`, `set_up` |
//! | ways in | `sign_in`, `ways_in`, `second_factor`, `passkeys`, `recovery`; they know issuers by `external/issuers` |
//! | other issuers | `external` |
//! | what people begin | `invitations`, `resets`, `own` |
//! | the account pages | `pages` |
//! | the `OpenID` provider | `provider`; its `issuer`, `errors` and `clients` lie below the pages and `own`, which name them, and its `grants` below the sessions |
//! | outside | `api` (its `shared` lies below the provider's routes, too), `command`, `worker`, and this file, which joins all |

mod acting;
mod api;
pub mod api_keys;
pub mod audit;
mod authenticator;
mod command;
mod device;
mod email;
pub mod errors;
mod external;
mod ids;
pub mod invitations;
mod key;
mod links;
mod members;
mod model;
pub mod organisations;
mod own;
mod pages;
mod passkeys;
mod password;
mod passwords;
mod permissions;
mod presented;
pub mod provider;
mod recovery;
mod refusals;
mod resets;
pub mod roles;
mod second_factor;
mod service;
pub mod sessions;
mod set_up;
mod settings;
mod sign_in;
mod store;
mod text;
mod throttle;
pub mod users;
mod ways_in;
mod worker;

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use svc_core::{App, Directory, Module, Registry, Result, Worker};
use svc_data::DataRegistry as _;
use svc_database::Migration;
use svc_events::EventsRegistry as _;
use svc_http::{HttpRegistry as _, Metrics};
use svc_messages::MessagesRegistry as _;

pub use ids::{ApiKeyId, ClientId, RoleId, SessionId};
pub use key::ApiKeySecret;
pub use permissions::{MANAGE, MANAGE_CLAIMS, MANAGE_KEYS};
pub use provider::clients;
pub use service::IdentityService;
pub use set_up::{SetUp, SetUpDone, is_set_up, set_up};
pub use settings::{AuthSettings, IdentitySettings, IssuerSettings, SetupSettings};
pub use sign_in::check_password;

use audit::RefusedSignIns;
use authenticator::ApiKeyAuthenticator;
use pages::first_start::FirstStart;
use refusals::Refusals;
use resets::Resets;
use service::{ForgetOnChange, NAME};
use throttle::Throttle;
use worker::IdentityWorker;

const MIGRATIONS: [Migration; 8] = [
    Migration::new("0001_identity", include_str!("../migrations/0001_identity.sql")),
    Migration::new("0002_sessions", include_str!("../migrations/0002_sessions.sql")),
    Migration::new("0003_accounts", include_str!("../migrations/0003_accounts.sql")),
    Migration::new("0004_second_factor", include_str!("../migrations/0004_second_factor.sql")),
    Migration::new("0007_machines", include_str!("../migrations/0007_machines.sql")),
    Migration::new("0008_own_address", include_str!("../migrations/0008_own_address.sql")),
    Migration::new("0009_passkeys", include_str!("../migrations/0009_passkeys.sql")),
    Migration::new("0011_ways_in", include_str!("../migrations/0011_ways_in.sql")),
];

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
        registry.settings::<AuthSettings>();
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
        registry
            .permission(MANAGE_CLAIMS, "Change the claims of people, which decide what they see");
        registry.permission(MANAGE_KEYS, "Make API keys for other people, and for machine users");
        audit::register(registry);
        registry
            .domain_event::<sessions::SessionsEnded>("Sessions of a person were ended", |event| {
                event.permission(MANAGE)
            });
        registry.commit_hook(Arc::new(ForgetOnChange));
        registry.authenticator(Arc::new(ApiKeyAuthenticator));
        registry.command("organisations", "List, make or rename organisations", command::run);
        registry.routes(api::routes());
        registry.mount(pages::own_path::PREFIX, pages::routes());
        registry.messages([
            ("en", include_str!("../messages/en.ftl")),
            ("de", include_str!("../messages/de.ftl")),
        ]);
        registry.on_build(build);
        registry.worker(
            NAME,
            "Notes the use of keys and sessions, and tells of refused keys",
            |app| {
                let worker = IdentityWorker {
                    service: app.service()?,
                    refusals: app.service()?,
                    sessions: app.service()?,
                    resets: app.service()?,
                    refused: app.service()?,
                    clock: app.clock().clone(),
                    app: app.downgrade(),
                    is_announced: AtomicBool::new(false),
                };
                Ok(Some(Arc::new(worker) as Arc<dyn Worker>))
            },
        );
        external::configure(registry);
        provider::configure(registry);
    }
}

async fn build(app: App) -> Result<()> {
    let service = Arc::new(IdentityService::new(&app)?);
    app.provide(Arc::clone(&service));
    app.provide::<dyn Directory>(Arc::clone(&service) as Arc<dyn Directory>);
    sessions::provide(&app)?;
    provider::provide(&app)?;
    external::provide(&app)?;
    app.provide(Arc::new(Throttle::default()));
    app.provide(Arc::new(FirstStart::default()));
    app.provide(Arc::new(Resets::default()));
    app.provide(Arc::new(RefusedSignIns::default()));
    let refusals = Arc::new(Refusals::default());
    app.service::<Metrics>()?.register(|registry| refusals.register(registry));
    app.provide(Arc::clone(&refusals));
    set_up::apply_settings(&app).await
}
