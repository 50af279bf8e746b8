//! What an audit log wants to know: application events, told in the organisation that they concern.
//!
//! | Event | Told |
//! | --- | --- |
//! | `identity.signed_in` | with the session, in its transaction |
//! | `identity.sign_in_refused` | by the module's worker, within a minute: an answer takes as long for a known account as for an unknown one. A flood is told of in part: 1,000 a minute on each node |
//! | `identity.signed_out` | with the end of the sessions, in its transaction, where whoever manages people ended them |
//! | `identity.rights_changed` | with the change, in its transaction |
//! | `identity.api_key_changed` | with the key, in its transaction |
//!
//! A client that acts as a person (`actsAs`) is a change of rights, too; one that signs people in gives none.
//!
//! They carry ids, never mail addresses; who acted stands beside each event. Only whoever holds
//! `Identity.Manage` reads them, be it through an endpoint of webhooks.

use std::net::IpAddr;

use parking_lot::Mutex;
use serde::Serialize;
use svc_core::{App, Registry, Result, UserId};
use svc_data::{Context, UnitOfWork};
use svc_events::{EventsRegistry as _, Publish as _};
use svc_http::schema_of;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::ids::{ApiKeyId, ClientId};
use crate::members;
use crate::permissions::MANAGE;
use crate::sessions::session::{Method, Session};

/// Refusals that are told of in a minute.
const MOST: usize = 1_000;

/// Somebody signed in.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SignedIn {
    /// The person.
    pub user_id: Uuid,
    /// The session.
    pub session_id: Uuid,
    /// By what the person has proved who it is.
    #[schema(value_type = Vec<String>)]
    pub methods: Vec<Method>,
    /// From where, as far as it is known.
    #[schema(value_type = Option<String>)]
    pub address: Option<IpAddr>,
}

/// Whoever manages people signed a person out.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SignedOut {
    /// The person.
    pub user_id: Uuid,
    /// The sessions that were ended, and what clients were given for longer than one.
    pub session_ids: Vec<Uuid>,
}

/// Somebody tried to sign in as a person and was refused.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SignInRefused {
    /// The person whose account it is.
    pub user_id: Uuid,
    /// Why.
    #[schema(value_type = String)]
    pub reason: Refused,
    /// From where, as far as it is known.
    #[schema(value_type = Option<String>)]
    pub address: Option<IpAddr>,
}

/// Why somebody was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Refused {
    /// The password was another.
    WrongPassword,
    /// The code of the second step was wrong, or used.
    WrongCode,
    /// The passkey was another person's, or what it signed doesn't hold.
    WrongPasskey,
    /// Too many attempts had been wrong, so this one wasn't looked at.
    TooManyAttempts,
}

/// What somebody may do was changed.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RightsChanged {
    /// The person whose rights they are; none where it is a role.
    pub user_id: Option<Uuid>,
    /// The role; those who hold it have the new rights.
    pub role_id: Option<Uuid>,
    /// The client that acts as the person by its own credentials; none where the person's own rights changed.
    pub client_id: Option<Uuid>,
    /// What was done.
    #[schema(value_type = String)]
    pub change: RightsChange,
}

/// What was done to rights.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum RightsChange {
    /// A person became a member, a role was made, or a client that acts as the person.
    Added,
    /// Roles, claims or the state of a person, or the permissions of a role.
    Changed,
    /// A person is no member any more, or a role or a client is gone.
    Removed,
}

/// An API key was made or revoked.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ApiKeyChanged {
    /// The key.
    pub key_id: Uuid,
    /// The person for whom it speaks.
    pub user_id: Uuid,
    /// What was done.
    #[schema(value_type = String)]
    pub change: KeyChange,
}

/// What was done to an API key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum KeyChange {
    /// It was made.
    Made,
    /// It was revoked.
    Revoked,
}

/// Registers the events: they are for whoever may see people, their sessions and their rights.
pub(crate) fn register(registry: &mut Registry) {
    registry.event::<SignedIn>("identity.signed_in", "Somebody signed in", |event| {
        event.schema(schema_of::<SignedIn>()).permission(MANAGE)
    });
    registry.event::<SignedOut>(
        "identity.signed_out",
        "Whoever manages people signed somebody out",
        |event| event.schema(schema_of::<SignedOut>()).permission(MANAGE),
    );
    registry.event::<SignInRefused>(
        "identity.sign_in_refused",
        "Somebody tried to sign in and was refused",
        |event| event.schema(schema_of::<SignInRefused>()).permission(MANAGE),
    );
    registry.event::<RightsChanged>(
        "identity.rights_changed",
        "What somebody may do was changed",
        |event| event.schema(schema_of::<RightsChanged>()).permission(MANAGE),
    );
    registry.event::<ApiKeyChanged>(
        "identity.api_key_changed",
        "An API key was made or revoked",
        |event| event.schema(schema_of::<ApiKeyChanged>()).permission(MANAGE),
    );
}

pub(crate) fn signed_in(uow: &UnitOfWork, session: &Session) -> Result<()> {
    uow.publish(SignedIn {
        user_id: session.user.0,
        session_id: session.id.0,
        methods: session.methods.clone(),
        address: session.address,
    })
}

pub(crate) fn signed_out(uow: &UnitOfWork, user: UserId, session_ids: Vec<Uuid>) -> Result<()> {
    uow.publish(SignedOut { user_id: user.0, session_ids })
}

pub(crate) fn person_changed(uow: &UnitOfWork, user: UserId, change: RightsChange) -> Result<()> {
    uow.publish(RightsChanged { user_id: Some(user.0), role_id: None, client_id: None, change })
}

/// Tells of a client that acts as a person.
pub(crate) fn client_changed(
    uow: &UnitOfWork,
    client: ClientId,
    acts_as: UserId,
    change: RightsChange,
) -> Result<()> {
    let (user_id, client_id) = (Some(acts_as.0), Some(client.0));
    uow.publish(RightsChanged { user_id, role_id: None, client_id, change })
}

pub(crate) fn key_changed(
    uow: &UnitOfWork,
    key: ApiKeyId,
    user: UserId,
    change: KeyChange,
) -> Result<()> {
    uow.publish(ApiKeyChanged { key_id: key.0, user_id: user.0, change })
}

pub(crate) fn role_changed(uow: &UnitOfWork, role: Uuid, change: RightsChange) -> Result<()> {
    uow.publish(RightsChanged { user_id: None, role_id: Some(role), client_id: None, change })
}

/// Refusals that are still to be told of.
#[derive(Default)]
pub(crate) struct RefusedSignIns(Mutex<Vec<(UserId, Refused, Option<IpAddr>)>>);

impl RefusedSignIns {
    /// Notes a refusal. Nothing limits how often the limits refuse, so of that one is told of each person at a time.
    pub(crate) fn note(&self, user: UserId, reason: Refused, address: Option<IpAddr>) {
        let mut noted = self.0.lock();
        let is_known = reason == Refused::TooManyAttempts
            && noted.iter().any(|(whose, why, _)| (*whose, *why) == (user, reason));
        if noted.len() < MOST && !is_known {
            noted.push((user, reason, address));
        }
    }

    /// Tells of those that were noted, in each organisation of their person, and says how many they were.
    pub(crate) async fn tell(&self, app: &App) -> Result<usize> {
        let noted = std::mem::take(&mut *self.0.lock());
        for (user, reason, address) in &noted {
            for organisation in members::organisations_of(app, *user).await? {
                let ctx = Context::system_in(app, organisation.id)?;
                let refused = SignInRefused { user_id: user.0, reason: *reason, address: *address };
                ctx.transact(async |uow| uow.publish(refused)).await?;
            }
        }
        Ok(noted.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_of_attempts_that_wait_is_told_of_once() {
        let (ada, grace) = (UserId(Uuid::from_u128(1)), UserId(Uuid::from_u128(2)));
        let refused = RefusedSignIns::default();
        for (user, reason) in [
            (ada, Refused::WrongPassword),
            (ada, Refused::WrongPassword),
            (ada, Refused::TooManyAttempts),
            (ada, Refused::TooManyAttempts),
            (grace, Refused::TooManyAttempts),
        ] {
            refused.note(user, reason, None);
        }
        assert_eq!(refused.0.lock().len(), 4);
    }
}
