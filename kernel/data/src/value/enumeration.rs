//! Enumerations: what the values of a column are called outside of the database.
//!
//! A member has three forms. The *name* is what JSON, URLs and metadata say; the *number* is what it
//! is compared and sorted by; the *stored* value is what the database holds: the number itself, or a
//! text. A stored value that is no member was written past the framework. It is told as it is, a
//! number as text, so that one such row doesn't break the page that it stands on.

use std::any::{TypeId, type_name};
use std::collections::BTreeMap;

use parking_lot::Mutex;
use sea_orm::sea_query::ColumnType;
use sea_orm::{ActiveEnum, Value};
use serde::Serialize;
use svc_odata::syntax::is_identifier;

use super::ValueKind;
use crate::names::pascal_case;

/// What the values of a column are called: one for each Rust type.
#[derive(Debug, PartialEq, Eq)]
pub struct Enumeration {
    name: String,
    storage: ValueKind,
    members: Vec<Member>,
}

/// A member of an enumeration.
#[derive(Debug, PartialEq, Eq)]
pub struct Member {
    /// What it is called outside of the database: as serde writes it.
    pub name: String,
    /// What it is compared and sorted by: the stored number, or the place of a stored text.
    pub number: i64,
    text: Option<String>,
}

impl Enumeration {
    /// The enumeration of a Rust type; the errors say what is wrong with which member.
    ///
    /// Kinds are copied everywhere, so it lives as long as the process, however often an
    /// application is made.
    pub(crate) fn of<T>() -> Result<&'static Self, Vec<String>>
    where
        T: ActiveEnum + Serialize + 'static,
    {
        static KNOWN: Mutex<BTreeMap<TypeId, &'static Enumeration>> = Mutex::new(BTreeMap::new());
        let mut known = KNOWN.lock();
        if let Some(found) = known.get(&TypeId::of::<T>()) {
            return Ok(found);
        }
        let made: &'static Self = Box::leak(Box::new(Self::describe::<T>()?));
        known.insert(TypeId::of::<T>(), made);
        Ok(made)
    }

    fn describe<T: ActiveEnum + Serialize>() -> Result<Self, Vec<String>> {
        let name = pascal_case(&T::name().to_string());
        let rust = type_name::<T>();
        let Some(storage) = storage_of(T::db_type().get_column_type()) else {
            return Err(vec![format!(
                "`{rust}` is stored as what isn't an enumeration on both databases; use a `db_type` of \
                 `String`, `SmallInteger`, `Integer` or `BigInteger`"
            )]);
        };
        let mut problems = Vec::new();
        if !is_identifier(&name) {
            problems.push(format!(
                "`{name}`, the name of `{rust}`, isn't a name in OData; set another with \
                 `#[sea_orm(enum_name = \"…\")]`"
            ));
        }
        let mut members: Vec<Member> = Vec::new();
        for (place, member) in (0..).zip(T::iter()) {
            let found = describe_member(rust, &member, place).and_then(|found| {
                let other = members.iter().find(|known| found.clashes(known));
                match other {
                    Some(other) => Err(format!(
                        "`{rust}` has two members that can't be told apart: `{}`, stored as `{}`, \
                         and `{}`, stored as `{}`",
                        other.name,
                        other.stored_text(),
                        found.name,
                        found.stored_text()
                    )),
                    None => Ok(found),
                }
            });
            match found {
                Ok(found) => members.push(found),
                Err(problem) => problems.push(problem),
            }
        }
        if members.is_empty() && problems.is_empty() {
            problems.push(format!("`{rust}` has no members"));
        }
        if problems.is_empty() { Ok(Self { name, storage, members }) } else { Err(problems) }
    }

    /// The name of the type over OData, without namespace: `SeaORM`'s `enum_name` in Pascal case.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The members, as the Rust type has them.
    #[must_use]
    pub fn members(&self) -> &[Member] {
        &self.members
    }

    /// The kind of what the database holds: text or a whole number.
    #[must_use]
    pub fn storage(&self) -> ValueKind {
        self.storage
    }

    /// What is stored for the member with a number; none where there is no such member.
    #[must_use]
    pub fn stored(&self, number: i64) -> Option<Value> {
        let member = self.members.iter().find(|member| member.number == number)?;
        Some(match (&member.text, self.storage) {
            (Some(text), _) => text.clone().into(),
            (None, ValueKind::Int16) => i16::try_from(number).ok()?.into(),
            (None, ValueKind::Int32) => i32::try_from(number).ok()?.into(),
            (None, _) => number.into(),
        })
    }

    /// Whether what is to be stored is a member.
    pub(crate) fn holds(&self, value: &Value) -> bool {
        self.members.iter().any(|member| self.stored(member.number).as_ref() == Some(value))
    }

    /// The name of what is stored as a text.
    #[must_use]
    pub fn name_of_text<'t>(&'t self, text: &'t str) -> &'t str {
        let member = self.members.iter().find(|member| member.text.as_deref() == Some(text));
        member.map_or(text, |member| &member.name)
    }

    /// The name of what is stored as a number; none where it is no member.
    #[must_use]
    pub fn name_of_number(&self, number: i64) -> Option<&str> {
        let member = self.members.iter().find(|member| member.number == number);
        member.map(|member| member.name.as_str())
    }

    /// What a stored value is called; none for null.
    pub(crate) fn name_of(&self, value: &Value) -> Option<String> {
        let number = match value {
            Value::String(text) => return text.as_deref().map(|it| self.name_of_text(it).into()),
            Value::SmallInt(number) => i64::from((*number)?),
            Value::Int(number) => i64::from((*number)?),
            Value::BigInt(number) => (*number)?,
            _ => return None,
        };
        Some(self.name_of_number(number).map_or_else(|| number.to_string(), str::to_owned))
    }

    /// What is wrong with a column that is to hold the members.
    pub(crate) fn problem_with(&self, column: ValueKind) -> Option<String> {
        match (column, self.storage) {
            (ValueKind::Text { max }, ValueKind::Text { .. }) => {
                let most = usize::try_from(max?).unwrap_or(usize::MAX);
                let long = self.texts().find(|text| text.chars().count() > most)?;
                Some(format!("can't hold `{long}` of `{}`: it has more characters", self.name))
            }
            (column, storage) if column == storage => None,
            _ => Some(format!("can't hold `{}`: it is of another type", self.name)),
        }
    }

    fn texts(&self) -> impl Iterator<Item = &str> {
        self.members.iter().filter_map(|member| member.text.as_deref())
    }

    /// The stored texts with the numbers that they are sorted by; nothing where numbers are stored.
    pub fn ranks(&self) -> impl Iterator<Item = (&str, i64)> {
        self.texts().zip(self.members.iter().map(|member| member.number))
    }
}

impl Member {
    fn clashes(&self, other: &Self) -> bool {
        let same_text = self.text.is_some() && self.text == other.text;
        self.name == other.name || self.number == other.number || same_text
    }

    fn stored_text(&self) -> String {
        self.text.clone().unwrap_or_else(|| self.number.to_string())
    }
}

/// The kind of what is stored, where that can be the members of an enumeration.
fn storage_of(column_type: &ColumnType) -> Option<ValueKind> {
    use ValueKind as Kind;
    let kind = ValueKind::of(column_type).ok()?;
    matches!(kind, Kind::Text { .. } | Kind::Int16 | Kind::Int32 | Kind::Int64).then_some(kind)
}

fn describe_member<T>(rust: &str, member: &T, place: i64) -> Result<Member, String>
where
    T: ActiveEnum + Serialize,
{
    let (number, text) = match member.to_value().into() {
        Value::String(Some(text)) => (place, Some(text)),
        Value::SmallInt(Some(number)) => (number.into(), None),
        Value::Int(Some(number)) => (number.into(), None),
        Value::BigInt(Some(number)) => (number, None),
        other => return Err(format!("`{rust}` is stored as `{other:?}`, which isn't a member")),
    };
    let name = match serde_json::to_value(member) {
        Ok(serde_json::Value::String(name)) if is_identifier(&name) => name,
        named => {
            let name = named.unwrap_or_default();
            return Err(format!(
                "`{rust}` has a member that serde writes as `{name}`, which isn't a name in OData: a \
                 letter, then letters, digits and underscores; rename it with \
                 `#[serde(rename = \"…\")]`"
            ));
        }
    };
    Ok(Member { name, number, text })
}
