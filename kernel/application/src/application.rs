use std::sync::Arc;

use svc_client::ClientModule;
use svc_core::settings::{LoadOptions, SettingsBuilder, SettingsError};
use svc_core::{
    App, Assembly, AssemblyError, Clock, Command, Error, Module, PermissionCatalogue, Registry,
    Result,
};
use svc_data::DataModule;
use svc_database::{Database, Pending};
use svc_events::EventsModule;
use svc_http::{HttpModule, OpenApiDocument};
use svc_jobs::JobsModule;
use svc_live::LiveModule;
use svc_messages::MessagesModule;
use svc_sets_http::ODataModule;
use svc_settings::SettingsModule;

use crate::metadata::Metadata;
use crate::operations::{Modules, OperationsModule};
use crate::running::Running;

/// The modules of an application, in the order they were added.
pub struct Application {
    name: String,
    version: &'static str,
    modules: Vec<Box<dyn Module>>,
}

impl Application {
    /// An application that has the kernel's parts and nothing else yet. Its name is that of its
    /// default SQLite file, and stands in logs.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        let kernel: Vec<Box<dyn Module>> = vec![
            Box::new(DataModule),
            Box::new(ClientModule),
            Box::new(EventsModule),
            Box::new(JobsModule),
            Box::new(SettingsModule),
            Box::new(MessagesModule),
            Box::new(HttpModule),
            Box::new(ODataModule),
            Box::new(LiveModule),
            Box::new(OperationsModule),
        ];
        Self { name: name.into(), version: "0.0.0", modules: kernel }
    }

    /// Sets the application's version, which `--version` and its API description tell; usually
    /// `env!("CARGO_PKG_VERSION")`.
    #[must_use]
    pub fn version(self, version: &'static str) -> Self {
        Self { version, ..self }
    }

    /// Adds a module.
    #[must_use]
    pub fn module(mut self, module: impl Module) -> Self {
        self.modules.push(Box::new(module));
        self
    }

    /// Sorts and configures the modules.
    ///
    /// # Errors
    ///
    /// As [`Registry::assemble`].
    pub fn assemble(self) -> Result<Assembled, AssemblyError> {
        let mut assembly = Registry::assemble(self.modules)?;
        let commands = assembly.take();
        Ok(Assembled { name: self.name, version: self.version, assembly, commands })
    }
}

/// Modules that fit together.
pub struct Assembled {
    name: String,
    version: &'static str,
    assembly: Assembly,
    commands: Vec<Command>,
}

impl Assembled {
    /// The application's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The application's version.
    #[must_use]
    pub fn version(&self) -> &'static str {
        self.version
    }

    /// What the modules add.
    #[must_use]
    pub fn assembly(&self) -> &Assembly {
        &self.assembly
    }

    /// The commands that modules add to the program.
    #[must_use]
    pub fn commands(&self) -> &[Command] {
        &self.commands
    }

    /// Reads the settings that the modules declare.
    ///
    /// # Errors
    ///
    /// Every setting that is wrong, with where it was written and what is expected.
    pub fn configure(
        self,
        options: &LoadOptions,
        clock: Clock,
    ) -> Result<Configured, SettingsError> {
        let mut builder = SettingsBuilder::load(options);
        builder.declare_all(self.assembly.sections().iter().copied());
        let settings = builder.finish()?;
        let Self { name, version, mut assembly, commands } = self;
        let app = App::new(name, clock, settings);
        app.provide(Arc::new(PermissionCatalogue::of(&assembly)));
        app.provide(Arc::new(Modules(assembly.modules().to_vec())));
        svc_events::provide_events(&mut assembly, &app);
        let data = svc_data::Prepared::from_assembly(&mut assembly);
        let http = svc_http::PreparedHost::from_assembly(&mut assembly);
        Ok(Configured { app, version, assembly, commands, data, http })
    }
}

/// An application with its settings.
pub struct Configured {
    app: App,
    version: &'static str,
    assembly: Assembly,
    commands: Vec<Command>,
    data: svc_data::Prepared,
    http: svc_http::PreparedHost,
}

impl Configured {
    /// The application, without database and services.
    #[must_use]
    pub fn app(&self) -> &App {
        &self.app
    }

    /// What the modules add.
    #[must_use]
    pub fn assembly(&self) -> &Assembly {
        &self.assembly
    }

    /// Takes the commands that modules add to the program.
    #[must_use]
    pub fn take_commands(&mut self) -> Vec<Command> {
        std::mem::take(&mut self.commands)
    }

    /// All migrations of the application.
    #[must_use]
    pub fn migrations(&self) -> &svc_database::Migrations {
        self.data.migrations()
    }

    /// The entity sets, described. Needs no database and begins nothing.
    ///
    /// # Errors
    ///
    /// None that a caller could cause.
    pub fn metadata(&self) -> Result<Metadata> {
        self.data.provide_catalogue(&self.app);
        svc_sets::provide(&self.app)?;
        Ok(Metadata::of(self.app.service()?))
    }

    /// The OpenAPI description of the API as indented JSON, the same that a running application
    /// serves. Needs no database.
    ///
    /// # Errors
    ///
    /// As [`svc_http::PreparedHost::build`].
    pub fn openapi(mut self) -> Result<String> {
        self.data.provide_catalogue(&self.app);
        svc_sets::provide(&self.app)?;
        self.http.provide(&self.app);
        self.http.build(&self.app, self.version)?;
        Ok(self.app.service::<OpenApiDocument>()?.to_json().to_owned())
    }

    /// Connects to the database, waiting for one that is not up yet.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Unavailable`](svc_core::ErrorKind::Unavailable) after the last attempt.
    pub async fn connect(self) -> Result<Connected> {
        let database = self.data.connect(&self.app).await?;
        Ok(Connected { configured: self, database })
    }
}

/// An application with its database.
pub struct Connected {
    configured: Configured,
    database: Database,
}

impl Connected {
    /// The migrations that a start would apply. Changes nothing.
    ///
    /// # Errors
    ///
    /// As [`svc_database::Migrations::pending`].
    pub async fn pending_migrations(&self) -> Result<Vec<Pending>> {
        self.configured.migrations().pending(&self.database).await
    }

    /// Applies the pending migrations, and says which these were.
    ///
    /// # Errors
    ///
    /// As [`svc_database::Migrations::apply`].
    pub async fn migrate(&self) -> Result<Vec<Pending>> {
        let clock = self.configured.app.clock();
        self.configured.migrations().apply(&self.database, clock).await
    }

    /// The SQL that brings the tables to what the entities say, as a beginning of a migration; empty
    /// where they are the same. Changes nothing.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Conflict`](svc_core::ErrorKind::Conflict) while migrations are pending, which may
    /// bring some of it; a fault of the database.
    pub async fn draft_migration(&self) -> Result<String> {
        match self.pending_migrations().await?.len() {
            0 => self.configured.data.draft(&self.database).await,
            count => Err(Error::conflict(format!(
                "{count} migrations are pending, which may bring some of it; run `{} migrate` first",
                self.configured.app.name()
            ))),
        }
    }

    /// Takes the database for this process, before anything in it is changed.
    ///
    /// # Errors
    ///
    /// As [`Database::take_for_this_process`].
    pub fn take_for_this_process(&self) -> Result<()> {
        self.database.take_for_this_process()
    }

    /// Closes the database again.
    pub async fn close(self) {
        self.database.close().await;
    }

    /// Brings the schema up to date and builds every module's services. Workers and the HTTP
    /// host don't run yet.
    ///
    /// # Errors
    ///
    /// The migration or the module's hook that failed.
    pub async fn start(self) -> Result<Running> {
        let Self { configured, database } = self;
        let Configured { app, version, mut assembly, data, mut http, .. } = configured;
        data.migrate(&app, &database).await?;
        data.provide(&app, database.clone());
        svc_sets::provide(&app)?;
        http.provide(&app);
        assembly.build(&app).await?;
        let host = http.build(&app, version)?;
        Ok(Running::new(app, host, database))
    }
}
