//! Whose rights decide what an endpoint gets, and whether they still hold.
//!
//! The owner is whoever saved the endpoint last: a person, or a person through an API key. Through a
//! key an endpoint gets no more than the key may read, and nothing once it is revoked or has ended.
//!
//! What is judged when an event is fanned out is what the owner may see; the bytes made then are
//! those that are sent, also again. What is judged anew before anything is sent is whether the owner is
//! still there ([`crate::standings`]).

use std::sync::Arc;

use svc_core::{
    App, Directory, Error, Means, OrganisationId, Principal, PrincipalKind, Result, UserId,
};
use svc_data::Context;
use uuid::Uuid;

use crate::errors;
use crate::model::endpoint;

/// Who owns an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Owner {
    pub(crate) organisation: OrganisationId,
    pub(crate) user: UserId,
    /// The API key with which the endpoint was saved.
    pub(crate) key: Option<Uuid>,
}

/// Whether an owner is still there.
#[derive(Clone, Debug)]
pub(crate) enum Standing {
    /// With the rights that hold now.
    Here(Arc<Principal>),
    /// The person is disabled, or has left the organisation.
    Gone,
    /// The person is there, and the API key is revoked or has ended.
    KeyEnded,
}

impl Owner {
    /// Who calls, as the owner of what is saved.
    pub(crate) fn calling(ctx: &Context) -> Result<Self> {
        let principal = ctx.principal();
        let user = principal.user_id().ok_or_else(|| {
            Error::forbidden("an endpoint belongs to a person; the system can't own one")
        })?;
        let key = match (principal.means(), principal.kind()) {
            (Means::ApiKey(key), _) => Some(key),
            // The rights of this caller are narrowed, and nothing says how later.
            (_, PrincipalKind::ApiKey) => {
                return Err(Error::forbidden(
                    "an endpoint is saved in a request of its own; call with the API key itself",
                ));
            }
            _ => None,
        };
        Ok(Self { organisation: ctx.organisation()?, user, key })
    }

    /// The owner of a stored endpoint.
    pub(crate) fn of(endpoint: &endpoint::Model) -> Self {
        Self {
            organisation: OrganisationId(endpoint.organisation_id),
            user: UserId(endpoint.owner_id),
            key: endpoint.owner_key_id,
        }
    }

    /// Whether the owner is there now.
    pub(crate) async fn standing(self, app: &App) -> Result<Standing> {
        let Self { organisation, user, key } = self;
        let directory = app.service::<dyn Directory>()?;
        let person = directory.principal(user, organisation).await?;
        let Some(person) = person else { return Ok(Standing::Gone) };
        let Some(key) = key else { return Ok(Standing::Here(Arc::new(person))) };
        let through = directory.principal_through(user, organisation, key).await?;
        Ok(through.map_or(Standing::KeyEnded, |through| Standing::Here(Arc::new(through))))
    }

    /// The owner with the rights that hold now; refuses one who is gone.
    pub(crate) async fn present(self, app: &App) -> Result<Arc<Principal>> {
        match self.standing(app).await? {
            Standing::Here(principal) => Ok(principal),
            gone => Err(errors::OWNER_GONE
                .error(format!("{}; save the endpoint to become its owner", gone.sentence()))),
        }
    }
}

impl Standing {
    /// The word for it, as in JSON.
    pub(crate) const fn as_str(&self) -> &'static str {
        match self {
            Self::Here(_) => "here",
            Self::Gone => "gone",
            Self::KeyEnded => "keyEnded",
        }
    }

    /// What it says, to people.
    pub(crate) const fn sentence(&self) -> &'static str {
        match self {
            Self::Here(_) => "the owner of the endpoint is there",
            Self::Gone => "the owner of the endpoint is disabled or has left the organisation",
            Self::KeyEnded => {
                "the API key that the endpoint was saved with is revoked or has ended"
            }
        }
    }
}
