use std::borrow::Cow;
use std::sync::Arc;

use parking_lot::Mutex;
use svc_core::{Module, Registry};
use svc_data::DataRegistry as _;
use svc_database::Migration;
use svc_events::{EventsRegistry as _, Subscription, WhichSets};
use svc_http::HttpRegistry as _;

use crate::log::Logging;
use crate::node::{Live, LiveWorker};
use crate::settings::LiveSettings;
use crate::tell::{LiveTold, MARK};
use crate::topics::{Declared, LiveTopic};
use crate::{api, errors, kinds};

const MIGRATIONS: [Migration; 1] =
    [Migration::new("0001_live", include_str!("../migrations/0001_live.sql"))];

/// Live pages, as a module named `live`.
pub struct LiveModule;

impl Module for LiveModule {
    fn name(&self) -> Cow<'static, str> {
        "live".into()
    }

    fn requires(&self) -> &'static [&'static str] {
        &["events", "jobs", "http"]
    }

    fn configure(&self, registry: &mut Registry) {
        registry.settings::<LiveSettings>();
        registry.errors(errors::ALL);
        registry.migrations(MIGRATIONS);
        registry.domain_event::<LiveTold>("A module tells pages of something", |event| event);
        let heard = Subscription::new().changes(WhichSets::Marked(MARK)).event("LiveTold");
        registry.handler("live.log", heard, Arc::new(Logging));
        registry.routes(api::routes());
        let topics = registry.part::<Topics>().clone();
        registry.on_build(move |app| async move {
            let live = Live::new(&app, topics.take()).await?;
            app.provide(Arc::new(live));
            Ok(())
        });
        registry.worker("live", "reads what happened for the streams of this node", |app| {
            Ok(Some(Arc::new(LiveWorker(app.service::<Live>()?))))
        });
    }
}

/// What modules declare, until the application is built.
#[derive(Clone, Default)]
struct Topics(Arc<Mutex<Declared>>);

impl Topics {
    fn take(&self) -> Declared {
        std::mem::take(&mut *self.0.lock())
    }
}

/// The word for topics, in a module's `configure`.
pub trait LiveRegistry {
    /// Declares a topic that pages can hear of.
    fn live_topic(&mut self, topic: LiveTopic);
}

impl LiveRegistry for Registry {
    fn live_topic(&mut self, topic: LiveTopic) {
        if matches!(topic.name, "set" | "job") || topic.name.contains([':', ',']) {
            let name = topic.name;
            self.problem(format!(
                "`{name}` can't be a live topic; say a name such as `library.loans`"
            ));
        }
        let detail = match topic.permission {
            Some(permission) => format!("{} (needs {permission})", topic.description),
            None => topic.description.to_owned(),
        };
        self.contribute(kinds::TOPIC, topic.name, detail);
        if let Some(permission) = topic.permission {
            self.asks_for_permission(permission, format!("the live topic `{}`", topic.name));
        }
        let topics = self.part::<Topics>().clone();
        topics.0.lock().insert(topic.name, topic);
    }
}
