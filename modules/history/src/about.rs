//! Events that are about a record, such as a step in its workflow: its history tells them between its changes.
//!
//! They are named by `Svc:History:RecordEvents`, and say by `entityType` and `entityId` which record they are about. Nothing can be taken
//! back of them, so they lie apart from the changes of the record: under their own name, at the place that its last change has.

use serde_json::Value as Json;
use svc_core::Result;
use svc_data::value::to_text;
use svc_data::{Captured, RaisedEvent, UnitOfWork};

use crate::entry::{key_of_events, key_value};
use crate::set;
use crate::settings::HistorySettings;
use crate::store::{self, Row};

/// The set and the key of the record that an event is about, where its history is kept.
fn about(uow: &UnitOfWork, event: &RaisedEvent) -> Option<(String, String)> {
    let text = |name: &str| event.data.get(name).and_then(Json::as_str);
    let model = set::find(uow.context().catalogue(), text("entityType")?)?;
    // Of a record that belongs to all organisations each would tell of another.
    if !model.is_organisation_scoped() {
        return None;
    }
    let key = key_value(model, text("entityId")?)?;
    Some((model.name().to_owned(), to_text(&key)))
}

/// What is stored of the events about records.
pub(crate) async fn rows(uow: &UnitOfWork, captured: &Captured) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    if captured.events.is_empty() {
        return Ok(rows);
    }
    let settings = uow.context().app().settings::<HistorySettings>();
    for event in captured.events.iter().filter(|it| settings.record_events.contains(&it.name)) {
        let (Some(organisation), Some((set, key))) = (event.organisation, about(uow, event)) else {
            continue;
        };
        let last = store::last_position(uow.context(), organisation.0, &set, &key).await?;
        rows.push(Row {
            key: key_of_events(&set, &key),
            position: last.unwrap_or(0),
            ..Row::of_event(uow, organisation, event)
        });
    }
    Ok(rows)
}
