use std::any::{Any, TypeId, type_name};
use std::collections::HashMap;
use std::ops::Deref;
use std::sync::{Arc, Weak};

use parking_lot::{Mutex, MutexGuard, RwLock};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::opaque::{Opaque, opaque};
use crate::settings::{Section, Settings};
use crate::worker::Supervised;
use crate::{Clock, Error, Result, Wakes, Worker, WorkerStatus};

/// A running application: its clock, settings, services, workers and wake-ups. Cheap to clone.
///
/// Services are found by type: what a part of the kernel or a module provides, others get with
/// [`App::service`]. A service that needs the application keeps a [`WeakApp`], or neither would
/// ever be dropped.
#[derive(Clone)]
pub struct App(Opaque<Inner>);

struct Inner {
    name: String,
    clock: Clock,
    settings: Settings,
    wakes: Wakes,
    services: RwLock<HashMap<TypeId, Box<dyn Any + Send + Sync>>>,
    workers: Mutex<Vec<Arc<dyn Worker>>>,
    supervised: Mutex<Vec<Arc<Supervised>>>,
    running: TaskTracker,
    stop: CancellationToken,
}

impl App {
    /// An application without services and workers yet.
    #[must_use]
    pub fn new(name: impl Into<String>, clock: Clock, settings: Settings) -> Self {
        Self(opaque(Inner {
            name: name.into(),
            clock,
            settings,
            wakes: Wakes::default(),
            services: RwLock::default(),
            workers: Mutex::default(),
            supervised: Mutex::default(),
            running: TaskTracker::new(),
            stop: CancellationToken::new(),
        }))
    }

    /// The application's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// The application's clock.
    #[must_use]
    pub fn clock(&self) -> &Clock {
        &self.0.clock
    }

    /// The whole configuration.
    #[must_use]
    pub fn all_settings(&self) -> &Settings {
        &self.0.settings
    }

    /// One section of the configuration.
    ///
    /// # Panics
    ///
    /// When no module declared the section: a fault of the program that its first start shows.
    #[must_use]
    pub fn settings<S: Section>(&self) -> Arc<S> {
        self.0.settings.section::<S>()
    }

    /// The wake-ups.
    #[must_use]
    pub fn wakes(&self) -> &Wakes {
        &self.0.wakes
    }

    /// Provides a service under its type, which may be a trait (`dyn Directory`).
    pub fn provide<T: ?Sized + Send + Sync + 'static>(&self, service: Arc<T>) {
        let mut services = self.0.services.write();
        services.insert(TypeId::of::<T>(), Box::new(service));
    }

    /// A service, where somebody provides it.
    #[must_use]
    pub fn find_service<T: ?Sized + Send + Sync + 'static>(&self) -> Option<Arc<T>> {
        let services = self.0.services.read();
        services.get(&TypeId::of::<T>())?.downcast_ref::<Arc<T>>().cloned()
    }

    /// A service that must be there.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Internal`](crate::ErrorKind::Internal) when nobody provides it.
    pub fn service<T: ?Sized + Send + Sync + 'static>(&self) -> Result<Arc<T>> {
        self.find_service().ok_or_else(|| {
            Error::internal(format!(
                "nobody provides `{}`; add the module that does",
                type_name::<T>()
            ))
        })
    }

    /// Adds a worker, which runs from [`App::start_workers`] on.
    pub fn add_worker(&self, worker: Arc<dyn Worker>) {
        self.0.workers.lock().push(worker);
    }

    /// The workers, in the order they were added.
    #[must_use]
    pub fn workers(&self) -> Vec<Arc<dyn Worker>> {
        self.0.workers.lock().clone()
    }

    /// Starts all workers; each runs until [`App::stop`].
    pub fn start_workers(&self) {
        let mut supervised = self.supervised();
        for worker in self.workers() {
            let worker = Arc::new(Supervised::new(worker));
            supervised.push(Arc::clone(&worker));
            let stop = self.stopping();
            self.0.running.spawn(async move { worker.run(stop).await });
        }
    }

    /// How the workers are doing that [`App::start_workers`] has started.
    #[must_use]
    pub fn worker_statuses(&self) -> Vec<WorkerStatus> {
        self.supervised().iter().map(|worker| worker.status()).collect()
    }

    fn supervised(&self) -> MutexGuard<'_, Vec<Arc<Supervised>>> {
        self.0.supervised.lock()
    }

    /// Does everything that is due now, again and again until nothing is left, and says how many
    /// pieces of work that was. For tests and one-off commands, in place of running workers.
    ///
    /// # Errors
    ///
    /// The first fault of a worker's store.
    pub async fn drain(&self) -> Result<usize> {
        let mut done = 0;
        loop {
            let mut round = 0;
            for worker in self.workers() {
                round += worker.drain().await?;
            }
            if round == 0 {
                return Ok(done);
            }
            done += round;
        }
    }

    /// Is cancelled when the application is asked to stop.
    #[must_use]
    pub fn stopping(&self) -> CancellationToken {
        self.0.stop.clone()
    }

    /// Asks everything to stop, and waits until the workers have finished or handed back what
    /// they were doing.
    pub async fn stop(&self) {
        self.0.stop.cancel();
        self.0.running.close();
        self.0.running.wait().await;
    }

    /// A reference that doesn't keep the application alive.
    #[must_use]
    pub fn downgrade(&self) -> WeakApp {
        WeakApp(Arc::downgrade(&self.0))
    }
}

impl std::fmt::Debug for App {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("App").field(&self.0.name).finish()
    }
}

/// A reference to an application that doesn't keep it alive; for services the application holds.
#[derive(Clone)]
pub struct WeakApp(Weak<dyn Deref<Target = Inner> + Send + Sync>);

impl WeakApp {
    /// The application, while it is there.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Unavailable`](crate::ErrorKind::Unavailable) once it has been dropped.
    pub fn get(&self) -> Result<App> {
        let inner = self.0.upgrade();
        inner.map(App).ok_or_else(|| Error::unavailable("the application has stopped"))
    }
}
