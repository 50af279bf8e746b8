//! Documents that clients keep for a person.

use sea_orm::ActiveValue::Set;
use sea_orm::IntoActiveModel as _;
use sea_orm::entity::prelude::*;
use serde::de::IgnoredAny;
use svc_core::{App, Error, ErrorKind, Result, UserId};
use svc_data::Context;

use crate::document::{ActiveModel, Column, Entity, Model};

/// The most characters of a key.
const LONGEST_KEY: usize = 200;

svc_core::settings_section! {
    /// Documents that clients keep for a person, such as the desktop's.
    pub struct ProfileSettings in "Svc:Profiles" {
        /// The most bytes of one document.
        pub max_bytes: u32 = 1_048_576, within(1_024..=16_777_216);
        /// The most documents of one person in one organisation.
        pub max_count: u32 = 32, within(1..=1_000);
    }
}

/// A document of a person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profile {
    /// The document as JSON, byte for byte as it was saved.
    pub document: String,
    /// Counts the changes, from 1 on.
    pub version: i64,
}

/// What whoever saves a document expects to find.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    /// Whatever there is.
    Anything,
    /// No document yet.
    Nothing,
    /// Some document.
    Something,
    /// The document in this version.
    Version(i64),
}

/// The documents of persons; a service of the [`App`].
#[derive(Debug)]
pub struct Profiles {
    max_bytes: usize,
    max_count: u64,
}

impl Profiles {
    pub(crate) fn new(app: &App) -> Self {
        let settings = app.settings::<ProfileSettings>();
        let max_bytes = usize::try_from(settings.max_bytes).unwrap_or(usize::MAX);
        Self { max_bytes, max_count: settings.max_count.into() }
    }

    /// The most bytes of a document.
    #[must_use]
    pub fn max_bytes(&self) -> usize {
        self.max_bytes
    }

    /// A document of the person who calls.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Forbidden`] when no person calls; [`ErrorKind::Invalid`] for a key that no
    /// document can have; a fault of the database.
    pub async fn load(&self, ctx: &Context, key: &str) -> Result<Option<Profile>> {
        let found = stored(ctx, person(ctx)?, check_key(key)?).one().await?;
        Ok(found.map(|row| Profile { document: row.document, version: row.version }))
    }

    /// Saves a document of the person who calls, and answers with its version.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::TooLarge`]; [`ErrorKind::Malformed`] for what isn't JSON;
    /// [`ErrorKind::PreconditionFailed`] when there is something else than expected;
    /// [`ErrorKind::Conflict`] for one document too many, or one that somebody else has just
    /// begun; otherwise as [`Profiles::load`].
    pub async fn save(
        &self,
        ctx: &Context,
        key: &str,
        document: &str,
        expected: Expected,
    ) -> Result<i64> {
        let (user, key) = (person(ctx)?, check_key(key)?);
        self.check(document)?;
        ctx.transact(async |uow| {
            let stored = stored(uow.context(), user, key).for_update().one().await?;
            if !expected.is_met_by(stored.as_ref()) {
                return Err(Error::new(
                    ErrorKind::PreconditionFailed,
                    "the profile was changed since it was loaded; load it again",
                ));
            }
            if let Some(row) = stored {
                let mut row = row.into_active_model();
                row.document = Set(document.to_owned());
                return Ok(uow.update(row).await?.version);
            }
            let count = uow.query::<Entity>().filter(Column::UserId.eq(user.0)).count().await?;
            if count >= self.max_count {
                return Err(Error::conflict(format!(
                    "a person can have {} profiles, and has as many; save under a key that has one",
                    self.max_count
                )));
            }
            let row = ActiveModel {
                user_id: Set(user.0),
                name: Set(key.to_owned()),
                document: Set(document.to_owned()),
                ..Default::default()
            };
            Ok(uow.insert(row).await?.version)
        })
        .await
    }

    fn check(&self, document: &str) -> Result<()> {
        if document.len() > self.max_bytes {
            return Err(Error::new(
                ErrorKind::TooLarge,
                format!(
                    "the profile has {} bytes, and {} are allowed (`Svc:Profiles:MaxBytes`)",
                    document.len(),
                    self.max_bytes
                ),
            ));
        }
        let is_json = serde_json::from_str::<IgnoredAny>(document);
        is_json.map(drop).map_err(|error| {
            Error::malformed(format!("the profile is not JSON: {error}")).caused_by(error)
        })
    }
}

impl Expected {
    fn is_met_by(self, stored: Option<&Model>) -> bool {
        match self {
            Self::Anything => true,
            Self::Nothing => stored.is_none(),
            Self::Something => stored.is_some(),
            Self::Version(version) => stored.is_some_and(|row| row.version == version),
        }
    }
}

fn stored(ctx: &Context, user: UserId, key: &str) -> svc_data::Query<Entity> {
    ctx.query::<Entity>().filter(Column::UserId.eq(user.0)).filter(Column::Name.eq(key))
}

fn person(ctx: &Context) -> Result<UserId> {
    ctx.principal().user_id().ok_or_else(|| Error::forbidden("a profile is a person's"))
}

fn check_key(key: &str) -> Result<&str> {
    let length = key.chars().count();
    if length == 0 || length > LONGEST_KEY || key.chars().any(char::is_control) {
        let message = format!("must have 1 to {LONGEST_KEY} characters, none of them a control");
        return Err(Error::invalid("the key is not valid").field("key", message));
    }
    Ok(key)
}
