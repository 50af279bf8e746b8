//! From registered parts to a database that is ready.

use std::sync::Arc;

use svc_core::{App, Assembly, Error, Module, ProtectionSettings, Registry, Result, Worker};
use svc_database::{
    Backend, Database, DatabaseSettings, FollowClock, MigrationSettings, Migrations,
};

use crate::context::Data;
use crate::errors;
use crate::protection;
use crate::registration::{DataParts, DataRegistry as _};
use crate::settings::DataSettings;
use crate::tables;
use crate::unit_of_work::{Forgetting, REMOVED_VERSIONS};

/// The data part as a module: its settings and its own tables.
pub struct DataModule;

impl Module for DataModule {
    fn name(&self) -> std::borrow::Cow<'static, str> {
        "data".into()
    }

    fn configure(&self, registry: &mut Registry) {
        registry.settings::<DatabaseSettings>();
        registry.settings::<DataSettings>();
        registry.settings::<MigrationSettings>();
        registry.settings::<ProtectionSettings>();
        registry.errors(errors::ALL);
        registry.migrations([protection::MIGRATION, REMOVED_VERSIONS]);
        registry.worker("clock", "keeps the clock at PostgreSQL's", |app| {
            let database = app.service::<Database>()?.as_ref().clone();
            let clock = app.clock().clone();
            let follows = database.backend() == Backend::Postgres && !clock.is_manual();
            Ok(follows.then(|| Arc::new(FollowClock::new(database, clock)) as Arc<dyn Worker>))
        });
        registry.worker(
            "removed versions",
            "forgets the versions of what was removed long ago",
            |app| Ok(Some(Arc::new(Forgetting::new(app)) as Arc<dyn Worker>)),
        );
        registry.on_build(protection::provide_keys);
    }
}

/// The registered entities and migrations, before there is a database.
pub struct Prepared {
    parts: DataParts,
    migrations: Migrations,
}

impl Prepared {
    /// Takes what modules have registered.
    #[must_use]
    pub fn from_assembly(assembly: &mut Assembly) -> Self {
        let mut parts: DataParts = assembly.take();
        parts.catalogue.add_deleted_sets();
        let migrations = Migrations::new(std::mem::take(&mut parts.migrations));
        Self { parts, migrations }
    }

    /// Provides the application with the catalogue of its entities, which needs no database.
    pub fn provide_catalogue(&self, app: &App) {
        app.provide(Arc::new(self.parts.catalogue.clone()));
    }

    /// All migrations of the application.
    #[must_use]
    pub fn migrations(&self) -> &Migrations {
        &self.migrations
    }

    /// Connects to the database, waiting for one that is not up yet.
    ///
    /// # Errors
    ///
    /// As [`Database::connect_patiently`].
    pub async fn connect(&self, app: &App) -> Result<Database> {
        let settings = app.settings::<DatabaseSettings>();
        let attempts = app.settings::<MigrationSettings>().attempts;
        let url = settings.url_for(app.name());
        let database = Database::connect_patiently(&url, &settings, attempts).await?;
        database.synchronise(app.clock()).await?;
        Ok(database)
    }

    /// Brings the schema up to date, or insists that it is, as the settings say; then the tables must be
    /// what the entities say.
    ///
    /// # Errors
    ///
    /// As [`Migrations::apply`]; [`ErrorKind::Conflict`](svc_core::ErrorKind::Conflict) when
    /// something is pending that a start may not apply, or with all that differs.
    pub async fn migrate(&self, app: &App, database: &Database) -> Result<()> {
        if app.settings::<MigrationSettings>().on_start {
            self.migrations.apply(database, app.clock()).await?;
        } else {
            match self.migrations.pending(database).await?.len() {
                0 => {}
                count => {
                    return Err(Error::conflict(format!(
                        "{count} migrations are pending; run `{} migrate`",
                        app.name()
                    )));
                }
            }
        }
        tables::check(&self.parts.catalogue, database).await?;
        database.gather_statistics().await
    }

    /// The SQL that brings the tables to what the entities say, as a beginning of a migration;
    /// empty where they are the same. Changes nothing.
    ///
    /// # Errors
    ///
    /// A fault of the database.
    pub async fn draft(&self, database: &Database) -> Result<String> {
        tables::draft(&self.parts.catalogue, database).await
    }

    /// Provides the application with its data.
    pub fn provide(self, app: &App, database: Database) {
        self.provide_catalogue(app);
        let catalogue = self.parts.catalogue;
        app.provide(Arc::new(database.clone()));
        app.provide(Arc::new(Data { database, catalogue, commit_hooks: self.parts.commit_hooks }));
    }
}
