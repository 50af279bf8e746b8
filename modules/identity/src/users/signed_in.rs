//! Where a member is signed in, for whoever manages people: in browsers, and by programs that go on without one.
//!
//! A session is the person's, and in one organisation at a time: the one that the person has chosen. Here show,
//! and end, those that are in the organisation that is acted in, which is no more than taking the person out
//! of it ends. What the person does elsewhere is nobody's business here.

use std::collections::BTreeSet;

use svc_core::{Error, Result, UserId, micros};
use svc_data::Context;
use time::OffsetDateTime;
use uuid::Uuid;

use super::require_changeable;
use super::rows::find_membership;
use crate::acting::actor;
use crate::audit;
use crate::ids::{ClientId, SessionId};
use crate::permissions::MANAGE;
use crate::provider::grants;
use crate::sessions::{self, Session, Which};

/// A place where a member is signed in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignedIn {
    /// The session, or what a client was given for longer than one.
    pub id: Uuid,
    /// The browser; none where it is a client that goes on without one.
    pub session: Option<Session>,
    /// The clients that the person has signed in to with the session; or the one that goes on.
    pub clients: BTreeSet<ClientId>,
    /// Since when.
    pub created_at: OffsetDateTime,
    /// When it was last used: a browser to the minute, a client whenever it renewed its tokens.
    pub used_at: OffsetDateTime,
    /// When it ends, however much it is used.
    pub ends_at: OffsetDateTime,
}

/// Where a member is signed in, in the organisation that is acted in: browsers, and then the clients that go on
/// without one, each the youngest first.
///
/// # Errors
///
/// [`ErrorKind::Forbidden`](svc_core::ErrorKind::Forbidden) without `Identity.Manage`;
/// [`ErrorKind::NotFound`](svc_core::ErrorKind::NotFound) for who is unknown or no member.
pub async fn signed_in(ctx: &Context, id: UserId) -> Result<Vec<SignedIn>> {
    ctx.require(MANAGE)?;
    find_membership(ctx, id).await?;
    let (here, now_us) = (ctx.organisation()?, ctx.clock().now_us());
    let given = grants::given_by(ctx.database(), id, here, now_us).await?;
    let (going_on, bound): (Vec<_>, Vec<_>) = given.into_iter().partition(|one| one.is_offline);
    let in_browser = |session: Session| {
        let with_it = bound.iter().filter(|one| one.session == session.id);
        SignedIn {
            id: session.id.0,
            clients: with_it.map(|one| one.client).collect(),
            created_at: session.created_at,
            used_at: session.used_at,
            ends_at: session.ends_at,
            session: Some(session),
        }
    };
    let sessions = sessions::list(ctx.app(), id).await?;
    let sessions = sessions.into_iter().filter(|session| session.organisation == here);
    let mut found: Vec<SignedIn> = sessions.map(in_browser).collect();
    found.extend(going_on.into_iter().map(|one| SignedIn {
        id: one.id,
        session: None,
        clients: [one.client].into(),
        created_at: micros::to_time(one.created_at_us),
        used_at: micros::to_time(one.used_at_us),
        ends_at: micros::to_time(one.ends_at_us),
    }));
    Ok(found)
}

/// Signs a member out in one of the places that [`signed_in`] names.
///
/// # Errors
///
/// As [`signed_in`]; [`ErrorKind::Forbidden`](svc_core::ErrorKind::Forbidden) for who may do more than the
/// caller; [`ErrorKind::NotFound`](svc_core::ErrorKind::NotFound) for a place that isn't there.
pub async fn sign_out(ctx: &Context, id: UserId, place: Uuid) -> Result<()> {
    if end(ctx, id, Which::One(SessionId(place))).await? == 0 {
        return Err(Error::not_found("there is no such session"));
    }
    Ok(())
}

/// Signs a member out everywhere in the organisation that is acted in, but for the session `except`, and says in
/// how many places it was.
///
/// # Errors
///
/// As [`signed_in`]; [`ErrorKind::Forbidden`](svc_core::ErrorKind::Forbidden) for who may do more than the
/// caller.
pub async fn sign_out_everywhere(
    ctx: &Context,
    id: UserId,
    except: Option<SessionId>,
) -> Result<usize> {
    end(ctx, id, Which::AllBut(except)).await
}

async fn end(ctx: &Context, id: UserId, which: Which) -> Result<usize> {
    ctx.require(MANAGE)?;
    ctx.transact(async |uow| {
        require_changeable(&uow, id).await?;
        let only = match which {
            Which::One(place) => Some(place.0),
            Which::AllBut(_) => None,
        };
        let sessions = sessions::end_here(&uow, id, which).await?;
        let mut ended: Vec<Uuid> = sessions.into_iter().map(|session| session.0).collect();
        ended.extend(grants::end_offline(&uow, id, Some(ctx.organisation()?), only).await?);
        let (places, actor) = (ended.len(), actor(ctx));
        if places == 0 {
            return Ok(0);
        }
        audit::signed_out(&uow, id, ended)?;
        uow.after_commit(move || {
            tracing::info!(user.id = %id, actor.id = actor, places, "a person was signed out");
        });
        Ok(places)
    })
    .await
}
