use std::borrow::Cow;
use std::sync::Arc;

use parking_lot::Mutex;
use svc_core::{Module, Registry};
use svc_data::DataRegistry as _;
use svc_database::Migration;
use svc_events::EventsRegistry as _;

use crate::declaration::{ApplicationSetting, MANAGE_SETTINGS, SettingScope};
use crate::profiles::{ProfileSettings, Profiles};
use crate::service::{ApplicationSettingChanged, ApplicationSettings};
use crate::{document, kinds, values};

const MIGRATIONS: [Migration; 1] =
    [Migration::new("0001_settings", include_str!("../migrations/0001_settings.sql"))];

/// Settings of organisations and persons, and profiles, as a module named `settings`.
///
/// It provides the services [`ApplicationSettings`] and [`Profiles`].
pub struct SettingsModule;

impl Module for SettingsModule {
    fn name(&self) -> Cow<'static, str> {
        "settings".into()
    }

    fn requires(&self) -> &'static [&'static str] {
        &["data", "events"]
    }

    fn configure(&self, registry: &mut Registry) {
        registry.settings::<ProfileSettings>();
        registry.migrations(MIGRATIONS);
        registry.entity::<values::Entity>();
        registry.entity::<document::Entity>();
        registry.permission(MANAGE_SETTINGS, "see and change the organisation's settings");
        registry.domain_event::<ApplicationSettingChanged>("A setting was changed", |event| event);
        let declared = registry.part::<Declared>().clone();
        registry.on_build(move |app| async move {
            app.provide(Arc::new(ApplicationSettings::new(&app, declared.take())));
            app.provide(Arc::new(Profiles::new(&app)));
            Ok(())
        });
    }
}

/// What modules declare, until the application is built. Shared, because the module that builds
/// comes before those that declare.
#[derive(Clone, Default)]
struct Declared(Arc<Mutex<Vec<ApplicationSetting>>>);

impl Declared {
    fn add(&self, setting: ApplicationSetting) {
        self.0.lock().push(setting);
    }

    fn take(&self) -> Vec<ApplicationSetting> {
        std::mem::take(&mut *self.0.lock())
    }
}

/// The word for settings that change at run time, in a module's `configure`.
pub trait SettingsRegistry {
    /// Declares a setting of organisations or persons.
    fn application_setting(&mut self, setting: ApplicationSetting);
}

impl SettingsRegistry for Registry {
    fn application_setting(&mut self, setting: ApplicationSetting) {
        if let Err(problem) = setting.check_declaration() {
            self.problem(problem);
        }
        let scope = match setting.scope() {
            SettingScope::Organisation => "",
            SettingScope::Person => " (each person's own)",
        };
        let detail = format!("{}{scope}", setting.doc());
        self.contribute(kinds::APPLICATION_SETTING, setting.name(), detail);
        if setting.scope() == SettingScope::Organisation {
            let by = format!("the setting `{}`", setting.name());
            self.asks_for_permission(setting.permission(), by);
        }
        self.part::<Declared>().add(setting);
    }
}
