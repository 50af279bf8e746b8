use serde::Serialize;
use serde_json::Value as Json;
use svc_core::{Error, Result};
use svc_data::UnitOfWork;

use crate::catalogue::{EventKind, Events};
use crate::registration::is_name;

/// The event part's words within a unit of work.
pub trait Publish {
    /// Publishes an application event: whoever listens gets it once the unit of work is committed.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Internal`](svc_core::ErrorKind::Internal) when no module registered the type
    /// with [`EventsRegistry::event`](crate::EventsRegistry::event), or it can't be made JSON.
    fn publish<T: Serialize + 'static>(&self, event: T) -> Result<()>;

    /// Publishes an event under a name that is chosen at run time.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Invalid`](svc_core::ErrorKind::Invalid) when it is no name of an event.
    fn publish_as(&self, name: &str, data: Json) -> Result<()>;

    /// Raises a domain event for other modules.
    ///
    /// # Errors
    ///
    /// As [`Publish::publish`], with
    /// [`EventsRegistry::domain_event`](crate::EventsRegistry::domain_event).
    fn raise_domain<T: Serialize + 'static>(&self, event: T) -> Result<()>;
}

impl Publish for UnitOfWork {
    fn publish<T: Serialize + 'static>(&self, event: T) -> Result<()> {
        raise(self, &event, EventKind::Application)
    }

    fn publish_as(&self, name: &str, data: Json) -> Result<()> {
        if !is_name(name) {
            return Err(Error::invalid(format!(
                "`{}` isn't an event name; use 1 to 100 letters, digits, `.`, `_` and `-`",
                name.escape_debug()
            )));
        }
        self.raise(name, data);
        Ok(())
    }

    fn raise_domain<T: Serialize + 'static>(&self, event: T) -> Result<()> {
        raise(self, &event, EventKind::Domain)
    }
}

fn raise<T: Serialize + 'static>(uow: &UnitOfWork, event: &T, kind: EventKind) -> Result<()> {
    let events = uow.context().app().service::<Events>()?;
    let name = events.name_of::<T>(kind)?;
    let data = serde_json::to_value(event).map_err(|error| {
        Error::internal(format!("the event `{name}` can't be made JSON")).caused_by(error)
    })?;
    uow.raise(name, data);
    Ok(())
}
