//! What is written of an entity, from values that are no request: of a restore, an import, a tool.
//!
//! What was made here goes where the body of a request goes, to [`Sets::create`] and
//! [`Sets::change`], and so under the same permissions, row filters, checks and versions. The names
//! are those that the principal knows: a hidden property is as unknown as a misspelt one.

use serde_json::{Map, Value as Json};
use svc_core::{Error, ErrorKind, Result};
use svc_data::value::to_column;
use svc_data::{Context, Record};
use svc_odata::json::{PayloadError, PayloadOptions, Purpose, parse_entity};
use svc_odata::model::{PropertyType, Schema as _, SetIndex};
use svc_odata::value::{Value as Literal, parse_enum};

use super::entity_input::EntityInput;
use super::model::Sets;
use super::seen::Seen;
use super::write::Verb;

impl Sets {
    /// The properties of an entity as JSON, as a body of a request has them, for [`Sets::create`]
    /// or [`Sets::change`] by the verb. What that verb can't set is passed over.
    ///
    /// # Errors
    ///
    /// As the body of a request: [`ErrorKind::Malformed`], by name, for what is no property that the
    /// context's principal knows; [`ErrorKind::Invalid`], by property, for a value of another type,
    /// and for one that is missing where the verb needs all;
    /// [`ErrorKind::NotImplemented`] for related entities within it.
    pub fn input_of_json(
        &self,
        ctx: &Context,
        set: SetIndex,
        properties: &Map<String, Json>,
        verb: Verb,
    ) -> Result<EntityInput> {
        let purpose = match verb {
            Verb::Create => Purpose::Create,
            Verb::Replace => Purpose::Replace,
            Verb::Change | Verb::Delete => Purpose::Update,
        };
        let options =
            PayloadOptions { purpose, ieee754_compatible: false, depth: 1, items: usize::MAX };
        let seen = Seen::with_all_sets(self, ctx.principal());
        let body = serde_json::to_vec(properties)
            .map_err(|error| Error::internal("properties can't be written").caused_by(error))?;
        let payload = parse_entity(&seen, self.entity_type_of(set), &body, options)
            .map_err(refused_payload)?;
        if payload.navigations.is_empty() {
            return Ok(payload.properties.into());
        }
        Err(Error::not_implemented(
            "related entities are not written here; set the property that refers to them",
        ))
    }

    /// The values of an entity by the names of its properties. A member of an enumeration is given
    /// by its name, as [`ValueRows`](super::ValueRows) has it.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Malformed`], by name, for what is no property that the context's principal
    /// knows; [`ErrorKind::Invalid`], by property, for a value of another type.
    pub fn input_of_values<'n>(
        &self,
        ctx: &Context,
        set: SetIndex,
        values: impl IntoIterator<Item = (&'n str, Literal)>,
    ) -> Result<EntityInput> {
        let entity_type = self.entity_type_of(set);
        let described = self.model().entity_type(entity_type);
        let seen = Seen::new(self, ctx.principal());
        let mut input = EntityInput::default();
        let (mut unknown, mut wrong) =
            (problems(ErrorKind::Malformed), problems(ErrorKind::Invalid));
        for (name, value) in values {
            let Some(property) = seen.find_property(entity_type, name) else {
                let meant = seen.closest_member(entity_type, name);
                let meant = meant.map(|meant| format!("; did you mean `{meant}`?"));
                let owner = &described.name;
                let problem =
                    format!("is not a property of `{owner}`{}", meant.unwrap_or_default());
                unknown = unknown.field(name, problem);
                continue;
            };
            let value = match (described.property(property).ty, value) {
                (PropertyType::Enum(members), Literal::String(text)) => {
                    match parse_enum(self.model(), members, &text) {
                        Ok(member) => member,
                        Err(problem) => {
                            wrong = wrong.field(name, format!("is refused: {problem}"));
                            continue;
                        }
                    }
                }
                (_, value) => value,
            };
            if to_column(self.served(set).kind_of(property), &value).is_none() {
                wrong = wrong.field(name, "can't be stored in this form");
                continue;
            }
            input.properties.push((property, value));
        }
        match (unknown.fields().is_empty(), wrong.fields().is_empty()) {
            (false, _) => Err(unknown),
            (true, false) => Err(wrong),
            (true, true) => Ok(input),
        }
    }

    /// The values of a record as it was at some moment, as far as the context's principal sees them.
    /// Those that only the application sets are passed over where they are written.
    ///
    /// # Errors
    ///
    /// As [`Sets::input_of_values`], where a record holds what is a member no more.
    pub fn input_of_record(
        &self,
        ctx: &Context,
        set: SetIndex,
        record: &Record,
    ) -> Result<EntityInput> {
        let served = self.served(set);
        let columns = served.properties().map(|(_, column)| column);
        let stored = columns.filter(|column| {
            served.entity.virtual_property(*column).is_none()
                && served.entity.is_visible(*column, ctx.principal())
        });
        let values = stored.map(|column| {
            let value = served.kind(column).to_literal(record.value(column));
            (served.name(column), value)
        });
        self.input_of_values(ctx, set, values)
    }
}

/// Why the body of an entity is refused, by property.
#[must_use]
pub fn refused_payload(error: PayloadError) -> Error {
    let kind = match error.status() {
        400 => ErrorKind::Malformed,
        501 => ErrorKind::NotImplemented,
        _ => ErrorKind::Invalid,
    };
    match error {
        PayloadError::Invalid(issues) => issues.into_iter().fold(problems(kind), |error, issue| {
            error.field(issue.target, issue.problem.to_string())
        }),
        PayloadError::TooMuch { .. } => {
            Error::new(kind, format!("{error} (`Svc:OData:MaxBodyItems`); send less at once"))
        }
        other => Error::new(kind, other.to_string()),
    }
}

fn problems(kind: ErrorKind) -> Error {
    Error::new(kind, "the entity is not valid")
}
