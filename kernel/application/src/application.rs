use svc_core::settings::{LoadOptions, Settings, SettingsBuilder, SettingsError};
use svc_core::{
    App, Assembly, AssemblyError, Clock, Module, PermissionCatalogue, Registry, Result,
};
use svc_data::{DataModule, Database, Pending, Prepared};
use svc_events::EventsModule;
use svc_http::HttpModule;
use svc_jobs::JobsModule;

use crate::running::Running;

/// The modules of an application, in the order they were added.
pub struct Application {
    name: String,
    modules: Vec<Box<dyn Module>>,
}

impl Application {
    /// An application that has the kernel's parts and nothing else yet. Its name is that of its
    /// default SQLite file, and stands in logs.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        let kernel: Vec<Box<dyn Module>> = vec![
            Box::new(DataModule),
            Box::new(EventsModule),
            Box::new(JobsModule),
            Box::new(HttpModule),
        ];
        Self { name: name.into(), modules: kernel }
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
        let assembly = Registry::assemble(self.modules)?;
        Ok(Assembled { name: self.name, assembly })
    }
}

/// Modules that fit together.
pub struct Assembled {
    name: String,
    assembly: Assembly,
}

impl Assembled {
    /// What the modules add.
    #[must_use]
    pub fn assembly(&self) -> &Assembly {
        &self.assembly
    }

    /// Reads the settings that the modules declare.
    ///
    /// # Errors
    ///
    /// Every setting that is wrong, with where it was written and what is expected.
    pub fn configure(self, options: LoadOptions, clock: Clock) -> Result<Configured, SettingsError> {
        let mut builder = SettingsBuilder::load(&options);
        builder.declare_all(self.assembly.sections().iter().copied());
        let settings = builder.finish()?;
        Ok(Configured::new(self.name, self.assembly, settings, clock))
    }
}

/// An application with its settings.
pub struct Configured {
    app: App,
    assembly: Assembly,
    prepared: Prepared,
}

impl Configured {
    fn new(name: String, mut assembly: Assembly, settings: Settings, clock: Clock) -> Self {
        let app = App::new(name, clock, settings);
        app.provide(std::sync::Arc::new(PermissionCatalogue::of(&assembly)));
        let prepared = Prepared::from_assembly(&mut assembly);
        Self { app, assembly, prepared }
    }

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

    /// The registered entities and migrations.
    #[must_use]
    pub fn prepared(&self) -> &Prepared {
        &self.prepared
    }

    /// Connects to the database, waiting for one that is not up yet.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Unavailable`](svc_core::ErrorKind::Unavailable) after the last attempt.
    pub async fn connect(self) -> Result<Connected> {
        let database = self.prepared.connect(&self.app).await?;
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
    /// As [`svc_data::Migrations::pending`].
    pub async fn pending_migrations(&self) -> Result<Vec<Pending>> {
        self.configured.prepared.migrations().pending(&self.database).await
    }

    /// Applies the pending migrations, and says which these were.
    ///
    /// # Errors
    ///
    /// As [`svc_data::Migrations::apply`].
    pub async fn migrate(&self) -> Result<Vec<Pending>> {
        let clock = self.configured.app.clock();
        self.configured.prepared.migrations().apply(&self.database, clock).await
    }

    /// Brings the schema up to date and builds every module's services. Workers and the HTTP
    /// host don't run yet.
    ///
    /// # Errors
    ///
    /// The migration or the module's hook that failed.
    pub async fn start(self) -> Result<Running> {
        let Self { configured: Configured { app, mut assembly, prepared }, database } = self;
        prepared.migrate(&app, &database).await?;
        prepared.provide(&app, database.clone());
        assembly.build(&app).await?;
        Running::new(app, assembly, database)
    }
}
