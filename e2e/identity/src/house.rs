//! The shop, set up, with people in it.

use std::net::SocketAddr;
use std::time::Duration;

use shop::Shop;
use svc::bff::Bff;
use svc::core::{App, OrganisationId, UserId};
use svc::data::Context;
use svc::identity::sessions::{self, Browser as Where, Method, NewSession, Session};
use svc::identity::users::NewUser;
use svc::identity::{Identity, RoleId, roles, users};
use svc::workflows::Workflows;
use svc_testing::{Application, Backend, TestApp};

use crate::browser::Browser;

/// The address that the application is told to have.
pub const PUBLIC_URL: &str = "https://shop.example";

/// The first administrator.
pub const ADA: &str = "ada@example.com";

/// An application with an organisation, an administrator, and whoever a test adds.
pub struct House {
    /// The application.
    pub node: TestApp,
    /// The organisation of the set-up.
    pub organisation: OrganisationId,
    /// The administrator of the set-up.
    pub ada: UserId,
}

fn application() -> Application {
    Application::new("shop").module(Identity).module(Bff).module(Workflows).module(Shop)
}

impl House {
    /// Starts the shop under [`PUBLIC_URL`].
    pub async fn open(backend: Backend) -> Self {
        Self::open_with(backend, &[]).await
    }

    /// The same with more settings.
    ///
    /// # Panics
    ///
    /// When it doesn't start.
    pub async fn open_with(backend: Backend, settings: &[(&str, &str)]) -> Self {
        let mut builder = TestApp::builder(application)
            .setting("Svc:Http:PublicUrl", PUBLIC_URL)
            .setting("Svc:Sample:Data", false)
            .setting("Svc:Setup:Organisation", "Example Ltd")
            .setting("Svc:Setup:AdminEmail", ADA)
            .setting("Svc:Setup:AdminPassword", "correct horse battery");
        for (name, value) in settings {
            builder = builder.setting(name, value);
        }
        Self::of(builder.start(backend).await).await
    }

    async fn of(node: TestApp) -> Self {
        let (organisation, ada) = first_person(node.app()).await;
        Self { node, organisation, ada }
    }

    /// Another node on the same database.
    pub async fn another_node(&self) -> Self {
        self.another_node_with(&[]).await
    }

    /// The same with further settings.
    pub async fn another_node_with(&self, settings: &[(&str, &str)]) -> Self {
        Self::of(self.node.another_node_with(settings).await).await
    }

    /// The application.
    #[must_use]
    pub fn app(&self) -> &App {
        self.node.app()
    }

    /// The application itself, within the organisation.
    ///
    /// # Panics
    ///
    /// Never: the application has a database.
    #[must_use]
    pub fn within(&self) -> Context {
        Context::system_in(self.app(), self.organisation).expect("a database")
    }

    /// A person with a role that has these permissions.
    ///
    /// # Panics
    ///
    /// When the person can't be made.
    pub async fn person(&self, name: &str, permissions: &[&str]) -> (UserId, RoleId) {
        let ctx = self.within();
        let role = roles::NewRole {
            name: format!("Role of {name}"),
            permissions: permissions.iter().map(ToString::to_string).collect(),
            ..roles::NewRole::default()
        };
        let role = roles::create(&ctx, role).await.expect("a role");
        let new = NewUser {
            email: format!("{}@example.com", name.to_lowercase()),
            display_name: name.to_owned(),
            roles: [role].into(),
            ..NewUser::default()
        };
        (users::create(&ctx, new).await.expect("a person"), role)
    }

    /// A browser that nobody is signed in with.
    #[must_use]
    pub fn browser(&self) -> Browser {
        Browser::new(self.node.anonymous(), PUBLIC_URL)
    }

    /// A browser in which a person has signed in at the provider.
    ///
    /// # Panics
    ///
    /// When the person is no member.
    pub async fn browser_of(&self, user: UserId) -> (Browser, Session) {
        let mut browser = self.browser();
        let headers = http::HeaderMap::new();
        let new = NewSession {
            user,
            organisation: self.organisation,
            methods: vec![Method::Password],
            browser: Where { headers: &headers, address: None },
        };
        let (session, cookie) = sessions::begin(self.app(), new).await.expect("a session");
        browser.take(&cookie.header().1);
        (browser, session)
    }

    /// A browser in which a person has signed in to the web client, too.
    ///
    /// # Panics
    ///
    /// When that doesn't work.
    pub async fn client_of(&self, user: UserId) -> (Browser, Session) {
        let (mut browser, session) = self.browser_of(user).await;
        browser.sign_in("/").await;
        (browser, session)
    }

    /// Lets it be asked by sockets, as far as a program of its own is when it is ready: with a key for
    /// tokens, which takes seconds to make on a busy machine, and which no browser host waits for.
    ///
    /// # Panics
    ///
    /// When it was started without `Svc:Http:Listen`.
    pub async fn listen(&self) -> SocketAddr {
        let keys = self.browser().get("/.well-known/jwks.json").await.expect(200);
        assert_eq!(keys["keys"].as_array().map(Vec::len), Some(1));
        self.node.listen().await
    }

    /// Moves the clock.
    pub fn advance(&self, by: Duration) {
        self.node.advance(by);
    }
}

async fn first_person(app: &App) -> (OrganisationId, UserId) {
    let database = app.service::<svc::database::Database>().expect("a database");
    let sql = "SELECT organisation_id, user_id FROM identity_memberships ORDER BY id";
    let rows = database.rows(database.statement(sql, [])).await.expect("a membership");
    let id = |index| rows[0].try_get_by_index(index).expect("an id");
    (OrganisationId(id(0)), UserId(id(1)))
}
