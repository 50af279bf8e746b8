//! A depot: boxes stand on shelves, and a later release keeps signs otherwise.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use parking_lot::Mutex;
use sea_orm::entity::prelude::*;
use sea_orm::{ActiveValue::Set, IntoActiveModel as _};
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};
use svc_application::Application;
use svc_core::{Module, Registry, Result};
use svc_data::{DataRegistry as _, UnitOfWork};
use svc_database::Migration;
use svc_events::{EventsRegistry as _, Handler, Message, Payload, Subscription, WhichSets};
use svc_history::History;
use svc_jobs::{Job, JobContext, JobError, JobsRegistry as _};
use svc_messages::MessagesRegistry as _;
use svc_testing::{Backend, Client, Person, TestApp};

/// Whose key is a text.
pub(crate) mod shelf {
    use sea_orm::entity::prelude::*;

    #[sea_orm::model]
    #[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
    #[sea_orm(table_name = "shelves")]
    pub(crate) struct Model {
        #[sea_orm(primary_key, auto_increment = false, column_type = "Text")]
        pub(crate) code: String,
        pub(crate) organisation_id: Uuid,
        #[sea_orm(column_type = "Text")]
        pub(crate) name: String,
        pub(crate) version: i64,
        #[sea_orm(has_many)]
        pub(crate) boxes: HasMany<super::carton::Entity>,
    }

    impl ActiveModelBehavior for ActiveModel {}
}

pub(crate) mod carton {
    use sea_orm::entity::prelude::*;

    #[sea_orm::model]
    #[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
    #[sea_orm(table_name = "boxes")]
    pub(crate) struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub(crate) id: Uuid,
        pub(crate) organisation_id: Uuid,
        pub(crate) weight: i32,
        pub(crate) capacity: i32,
        #[sea_orm(column_type = "Text", nullable)]
        pub(crate) shelf_code: Option<String>,
        pub(crate) version: i64,
        #[sea_orm(belongs_to, from = "shelf_code", to = "code")]
        pub(crate) shelf: BelongsTo<Option<super::shelf::Entity>>,
    }

    impl ActiveModelBehavior for ActiveModel {}
}

mod sign {
    use sea_orm::entity::prelude::*;

    #[sea_orm::model]
    #[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
    #[sea_orm(table_name = "signs")]
    pub(crate) struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub(crate) id: Uuid,
        pub(crate) organisation_id: Uuid,
        #[sea_orm(column_type = "Text")]
        pub(crate) words: String,
        #[sea_orm(column_type = "Text", nullable)]
        pub(crate) colour: Option<String>,
        pub(crate) size: Option<i32>,
        pub(crate) version: i64,
    }

    impl ActiveModelBehavior for ActiveModel {}
}

/// Of a later release: without colours, and with sizes in words.
mod later_sign {
    use sea_orm::entity::prelude::*;

    #[sea_orm::model]
    #[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
    #[sea_orm(table_name = "signs")]
    pub(crate) struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub(crate) id: Uuid,
        pub(crate) organisation_id: Uuid,
        #[sea_orm(column_type = "Text")]
        pub(crate) words: String,
        #[sea_orm(column_type = "Text", nullable)]
        pub(crate) size: Option<String>,
        pub(crate) version: i64,
    }

    impl ActiveModelBehavior for ActiveModel {}
}

const TABLES: &str = "
CREATE TABLE shelves (
    code TEXT PRIMARY KEY,
    organisation_id UUID NOT NULL,
    name TEXT NOT NULL,
    version BIGINT NOT NULL,
    UNIQUE (organisation_id, code)
);
CREATE TABLE boxes (
    id UUID PRIMARY KEY,
    organisation_id UUID NOT NULL,
    weight INTEGER NOT NULL CHECK (weight >= 0),
    capacity INTEGER NOT NULL,
    shelf_code TEXT,
    version BIGINT NOT NULL,
    CONSTRAINT a_box_holds CHECK (weight <= capacity),
    FOREIGN KEY (organisation_id, shelf_code) REFERENCES shelves (organisation_id, code)
);
CREATE TABLE signs (
    id UUID PRIMARY KEY,
    organisation_id UUID NOT NULL,
    words TEXT NOT NULL,
    colour TEXT,
    size INTEGER,
    version BIGINT NOT NULL
);
";

const LATER: &str = "
ALTER TABLE signs DROP COLUMN colour;
ALTER TABLE signs DROP COLUMN size;
ALTER TABLE signs ADD COLUMN size TEXT;
";

/// What was heard: the name, with the data of an event or the row after a change.
#[derive(Clone, Default)]
pub(crate) struct Heard(Arc<Mutex<Vec<(String, Json)>>>);

impl Heard {
    pub(crate) fn take(&self) -> Vec<(String, Json)> {
        std::mem::take(&mut self.0.lock())
    }
}

#[async_trait]
impl Handler for Heard {
    async fn handle(&self, _: &UnitOfWork, messages: &[Message]) -> Result<()> {
        for message in messages {
            let data = match &message.payload {
                Payload::Change(change) => json!(change.after),
                Payload::Application(data) | Payload::Domain(data) => data.clone(),
            };
            self.0.lock().push((message.name.clone(), data));
        }
        Ok(())
    }
}

/// Makes a box heavier.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Fill {
    pub(crate) carton: Uuid,
}

impl Job for Fill {
    const NAME: &'static str = "depot.fill";
}

async fn fill(job: JobContext, Fill { carton }: Fill) -> Result<(), JobError> {
    let work = async |uow: UnitOfWork| {
        let mut carton = uow.find::<carton::Entity>(carton).await?.into_active_model();
        carton.weight = Set(9);
        uow.update(carton).await
    };
    job.transact(work).await?;
    Ok(())
}

struct Depot {
    is_later: bool,
    heard: Heard,
}

impl Module for Depot {
    fn requires(&self) -> &'static [&'static str] {
        &["history"]
    }

    fn configure(&self, registry: &mut Registry) {
        let mut migrations = vec![Migration::new("0001_depot", TABLES)];
        if self.is_later {
            migrations.push(Migration::new("0002_signs", LATER));
            registry.entity_set::<later_sign::Entity>("Signs", |set| set);
        } else {
            registry.entity_set::<sign::Entity>("Signs", |set| set);
        }
        registry.migrations(migrations);
        registry.entity_set::<shelf::Entity>("Shelves", |set| set);
        registry.entity_set::<carton::Entity>("Boxes", |set| set);
        registry.job::<Fill>(fill);
        registry.messages([
            ("en", "Boxes = Boxes\nBoxes-weight = Weight\n"),
            ("de", "Boxes = Kisten\nBoxes-weight = Gewicht\n"),
        ]);
        let wanted =
            Subscription::new().changes(WhichSets::named(["Boxes"])).event("HistoryRestored");
        registry.handler("depot.hear", wanted, Arc::new(self.heard.clone()));
    }
}

/// A started depot, in which Ada may do everything.
pub(crate) struct Yard {
    pub(crate) app: TestApp,
    pub(crate) heard: Heard,
    is_later: Arc<AtomicBool>,
}

impl Yard {
    pub(crate) async fn new(backend: Backend) -> Self {
        let (heard, is_later) = (Heard::default(), Arc::new(AtomicBool::new(false)));
        let (hearing, flag) = (heard.clone(), Arc::clone(&is_later));
        let make = move || {
            let depot = Depot { is_later: flag.load(Ordering::SeqCst), heard: hearing.clone() };
            Application::new("depot").module(History).module(depot)
        };
        Self { app: TestApp::builder(make).start(backend).await, heard, is_later }
    }

    /// The later release, on the same database.
    pub(crate) async fn later(self) -> Self {
        self.is_later.store(true, Ordering::SeqCst);
        Self { app: self.app.another_node().await, ..self }
    }

    pub(crate) fn client(&self) -> Client {
        self.app.sign_in(&Person::named("Ada"))
    }

    /// Makes a record; answers with its key.
    pub(crate) async fn make(&self, set: &str, record: Json) -> String {
        let made = self.client().post(&format!("/odata/v1/{set}"), record).await.expect(201);
        let key = if set == "Shelves" { "code" } else { "id" };
        made[key].as_str().unwrap().to_owned()
    }

    pub(crate) async fn change(&self, set: &str, id: &str, values: Json) {
        let _ = self.client().patch(&format!("/odata/v1/{set}({id})"), values).await.expect(200);
    }

    /// What happened to a record, the newest first.
    pub(crate) async fn history(&self, set: &str, id: &str) -> Vec<Json> {
        let listed = self.client().get(&format!("/api/v1/history/{set}/{id}")).await.expect(200);
        listed["items"].as_array().unwrap().clone()
    }
}
