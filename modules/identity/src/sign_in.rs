//! Who knows a person's password: what a page for signing in asks.

use svc_core::settings::Secret;
use svc_core::{App, Result, UserId};
use svc_data::Context;

use crate::email::Email;
use crate::password::Verdict;
use crate::service::IdentityService;
use crate::store;

/// The person with this address and password; none where either is wrong, or the person is disabled
/// or has no password. Every answer takes as long as the others, so that nobody learns which
/// addresses are known. Limits on how often may be asked are the caller's.
///
/// # Errors
///
/// A fault of the store.
pub async fn check_password(app: &App, email: &str, password: Secret) -> Result<Option<UserId>> {
    let service = app.service::<IdentityService>()?;
    // What is no address belongs to nobody, and is looked for all the same.
    let key = Email::parse(email).map_or_else(|_| email.trim().to_lowercase(), |email| email.key());
    let found = store::password_by_email(service.database(), &key).await?;
    let (user, hash) = found.map_or((None, None), |(user, hash)| (Some(user), Some(hash)));
    match (service.passwords().verify(hash, password.clone()).await?, user) {
        (Verdict::Right, Some(user)) => Ok(Some(user)),
        (Verdict::RightButOutdated, Some(user)) => {
            let hash = service.passwords().hash(password).await?;
            let ctx = Context::system(app)?;
            ctx.transact(async |uow| store::put_password(&uow, user, hash).await).await?;
            tracing::info!(user.id = %user, "a password hash was brought to the current cost");
            Ok(Some(user))
        }
        (_, _) => Ok(None),
    }
}
