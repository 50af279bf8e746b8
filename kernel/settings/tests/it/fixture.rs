//! An application with settings of both kinds, and people who call.

use std::sync::Arc;

use async_trait::async_trait;
use parking_lot::Mutex;
use serde_json::Value;
use svc_core::{Module, OrganisationId, Principal, Registry, Result, UserId};
use svc_data::{Context, DataRegistry as _, UnitOfWork};
use svc_events::{EventsRegistry as _, Handler, Message, Payload, Subscription};
use svc_settings::{ApplicationSetting, ApplicationSettings, Profiles, SettingsRegistry as _};
use svc_testing::{Application, Backend, TestApp};
use uuid::Uuid;

pub(crate) const MAX_ITEMS: &str = "Shelf.MaxItems";
pub(crate) const COLOUR: &str = "Shelf.Colour";
pub(crate) const CHIME: &str = "Shelf.Chime";

/// What was heard of changes.
pub(crate) type Heard = Arc<Mutex<Vec<Value>>>;

struct Shelf(Heard);

impl Module for Shelf {
    fn requires(&self) -> &'static [&'static str] {
        &["settings"]
    }

    fn configure(&self, registry: &mut Registry) {
        let items =
            ApplicationSetting::integer(MAX_ITEMS, "How many items a shelf holds.", 1..=100, 20);
        registry.application_setting(items);
        let colour = ApplicationSetting::text(COLOUR, "The colour of shelves.", 20, "white");
        registry.permission("Shelf.Paint", "paint the shelf");
        registry.application_setting(colour.changed_with("Shelf.Paint"));
        let chime = ApplicationSetting::boolean(CHIME, "Whether shelves sound.", true);
        registry.application_setting(chime.of_person());
        let listener = Arc::new(Listener(Arc::clone(&self.0)));
        registry.handler("shelf.listener", Subscription::new().domain_events(), listener);
    }
}

struct Listener(Heard);

#[async_trait]
impl Handler for Listener {
    async fn handle(&self, _: &UnitOfWork, messages: &[Message]) -> Result<()> {
        for message in messages {
            if let Payload::Domain(data) = &message.payload {
                self.0.lock().push(data.clone());
            }
        }
        Ok(())
    }
}

pub(crate) struct Fixture {
    pub(crate) app: TestApp,
    pub(crate) heard: Heard,
}

impl Fixture {
    pub(crate) async fn start(backend: Backend, settings: &[(&str, u32)]) -> Self {
        let heard = Heard::default();
        let shelf = Arc::clone(&heard);
        let make = move || Application::new("shelf").module(Shelf(Arc::clone(&shelf)));
        let mut builder = TestApp::builder(make);
        for (key, value) in settings {
            builder = builder.setting(key, value);
        }
        Self { app: builder.start(backend).await, heard }
    }

    /// Somebody in an organisation.
    pub(crate) fn person(&self, user: u128, organisation: u128, permissions: &[&str]) -> Context {
        person(&self.app, user, organisation, permissions)
    }

    pub(crate) fn settings(&self) -> Arc<ApplicationSettings> {
        self.app.app().service().unwrap()
    }

    pub(crate) fn profiles(&self) -> Arc<Profiles> {
        self.app.app().service().unwrap()
    }

    pub(crate) async fn max_items(&self, ctx: &Context) -> u32 {
        self.settings().get(ctx, MAX_ITEMS).await.unwrap()
    }
}

pub(crate) fn person(
    app: &TestApp,
    user: u128,
    organisation: u128,
    permissions: &[&str],
) -> Context {
    let principal = Principal::user(
        UserId(Uuid::from_u128(user)),
        "Ada",
        OrganisationId(Uuid::from_u128(organisation)),
        permissions.iter().copied().collect(),
    );
    Context::new(app.app(), Arc::new(principal), Uuid::from_u128(1)).unwrap()
}
