//! Which entity an event is about: what its deliveries are found by, and what keeps them in order.

use std::sync::Arc;

use aws_lc_rs::digest::{SHA256, digest};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::Value as Json;
use svc_core::Result;
use svc_data::{Context, EntityModel};
use svc_events::{Message, Payload};
use svc_sets::Sets;
use uuid::Uuid;

/// Bytes of a type and of a key by which deliveries are found. Keys of records are far shorter;
/// what an application event says may be of any length.
pub(crate) const MAX_NAME: usize = 200;

/// An entity, as events name it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entity {
    /// The name of its set; where no set has it, the type without what spellings differ in.
    pub(crate) kind: String,
    /// Its key as text.
    pub(crate) id: String,
}

impl Entity {
    /// The entity that somebody names: by its set or its type, in any spelling.
    pub(crate) fn named(context: &Context, kind: &str, id: &Json) -> Result<Self> {
        let kind = match set_named(context, kind)?.as_ref().and_then(|model| model.set.as_ref()) {
            Some(set) => set.name.clone(),
            None => plain(last_part(kind)),
        };
        Ok(Self { kind, id: text(id) })
    }

    /// The entity that an event is about; none where it is about nothing in particular.
    pub(crate) fn of(context: &Context, message: &Message) -> Result<Option<Self>> {
        match &message.payload {
            Payload::Change(change) => {
                Ok(Some(Self { kind: change.set.clone(), id: text(&change.key) }))
            }
            Payload::Application(data) | Payload::Domain(data) => match subject(data) {
                Subject::Entity(kind, id) => Self::named(context, kind, id).map(Some),
                Subject::None | Subject::Half => Ok(None),
            },
        }
    }

    /// A text that tells entities apart, short enough for an index.
    pub(crate) fn order_key(&self) -> String {
        let whole = format!("{}/{}", self.kind, self.id);
        if self.is_short() {
            return whole;
        }
        URL_SAFE_NO_PAD.encode(digest(&SHA256, whole.as_bytes()))
    }

    /// Whether it can be stored, and found by.
    pub(crate) fn is_short(&self) -> bool {
        // PostgreSQL refuses U+0000 in text.
        [&self.kind, &self.id].iter().all(|one| one.len() <= MAX_NAME && !one.contains('\0'))
    }
}

/// A key as text, an identifier in one spelling.
fn text(key: &Json) -> String {
    match key {
        Json::String(key) => {
            Uuid::try_parse(key).map_or_else(|_| key.clone(), |id| id.hyphenated().to_string())
        }
        key => key.to_string(),
    }
}

/// The set that somebody names by its name, the name of its events or of its type.
pub(crate) fn set_named(context: &Context, kind: &str) -> Result<Option<Arc<EntityModel>>> {
    let sets = context.app().service::<Sets>()?;
    let kind = plain(last_part(kind));
    let named = |model: &&Arc<EntityModel>| {
        let Some(set) = &model.set else { return false };
        let singular = sets.find(&set.name).ok().map(|index| {
            let described = sets.model();
            described.entity_type(described.set(index).entity_type).name.clone()
        });
        let names = [Some(set.name.as_str()), Some(set.event_name.as_str()), singular.as_deref()];
        names.into_iter().flatten().any(|name| plain(name) == kind)
    };
    Ok(context.catalogue().sets().find(named).cloned())
}

/// A type without the namespace before it.
fn last_part(kind: &str) -> &str {
    kind.rsplit(['.', ':']).next().unwrap_or(kind)
}

/// What a domain event says that it is about.
#[derive(Debug, PartialEq)]
pub(crate) enum Subject<'a> {
    /// Nothing in particular.
    None,
    /// An entity of which the type or the identifier is missing.
    Half,
    /// An entity: its type and its identifier.
    Entity(&'a str, &'a Json),
}

/// The entity that a domain event names by `EntityType` and `EntityId`, however these are written.
pub(crate) fn subject(data: &Json) -> Subject<'_> {
    let member = |name: &str| {
        let members = data.as_object()?;
        members.iter().find(|(key, _)| plain(key) == name).map(|(_, value)| value)
    };
    let (kind, id) = (member("entitytype"), member("entityid"));
    match (kind, id) {
        (None | Some(Json::Null), None | Some(Json::Null)) => Subject::None,
        (Some(Json::String(kind)), Some(id)) if !id.is_null() => Subject::Entity(kind, id),
        _ => Subject::Half,
    }
}

/// A name without what spellings differ in: `entity_type`, `EntityType` and `entity-type` are one.
fn plain(name: &str) -> String {
    name.chars()
        .filter(|one| !matches!(one, '_' | '-' | ' '))
        .flat_map(char::to_lowercase)
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_entity_is_found_however_it_is_written() {
        for names in
            [["entityType", "entityId"], ["entity_type", "entity_id"], ["EntityType", "EntityId"]]
        {
            let [kind, id] = names;
            let data = json!({kind: "Product", id: 7});
            assert_eq!(subject(&data), Subject::Entity("Product", &json!(7)), "{names:?}");
        }
        assert_eq!(subject(&json!({"entityType": "Product"})), Subject::Half);
        assert_eq!(subject(&json!({"entity_id": 7})), Subject::Half);
        assert_eq!(subject(&json!({"entityType": 1, "entityId": 7})), Subject::Half);
        assert_eq!(subject(&json!({"entityType": null, "entityId": null})), Subject::None);
        assert_eq!(subject(&json!("text")), Subject::None);
    }

    #[test]
    fn a_key_has_one_text_and_a_bounded_place_in_an_order() {
        let upper = json!("01934A1C-7A3E-7DEF-8123-456789ABCDEF");
        assert_eq!(text(&upper), "01934a1c-7a3e-7def-8123-456789abcdef");
        assert_eq!((text(&json!(7)), text(&json!("A/7"))), ("7".to_owned(), "A/7".to_owned()));
        let entity = |id: &str| Entity { kind: "Products".to_owned(), id: id.to_owned() };
        assert_eq!(entity("7").order_key(), "Products/7");
        let long = [entity(&"7".repeat(5_000)), entity(&"7".repeat(5_001)), entity("7\0")];
        let keys: Vec<String> = long.iter().map(Entity::order_key).collect();
        assert!(keys.iter().all(|key| key.len() == 43 && !key.contains('\0')), "{keys:?}");
        assert!(keys[0] != keys[1] && long.iter().all(|one| !one.is_short()));
    }
}
