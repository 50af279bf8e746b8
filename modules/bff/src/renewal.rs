//! Renewing tokens at an issuer in another process, where the statement that stores them and the answer of the
//! issuer can't be one.
//!
//! | Step | Who | What a crash leaves |
//! | --- | --- | --- |
//! | claim: the row says until when somebody renews | other nodes look again, until the tokens are newer or the claim is over | a claim that ends by itself |
//! | ask the issuer | a task of its own: a browser that goes away meanwhile doesn't stop it | tokens of which the issuer has used one up: the person signs in again |
//! | store, give the claim back, call the topic `bff` | every node forgets the old ones | the new tokens |
//!
//! No connection to the database is held while the issuer is asked.

use std::sync::Arc;
use std::time::Duration;

use svc_core::{App, Error, Result};
use svc_data::Context;
use tracing::Instrument as _;

use crate::names::TOPIC;
use crate::service::Host;
use crate::session::{Session, SessionHash};
use crate::store;

/// How long a claim lasts: longer than an issuer is waited for, twice.
const CLAIM_US: i64 = 30_000_000;

/// How long who waits for another node looks away.
const PAUSE: Duration = Duration::from_millis(100);

/// Renews the tokens of a session, or takes over those of whoever was first; none where it is over.
pub(crate) async fn renew(
    host: &Arc<Host>,
    app: &App,
    old: &Session,
) -> Result<Option<Arc<Session>>> {
    loop {
        let now_us = host.clock.now_us();
        if store::claim(&host.database, old, now_us, now_us + CLAIM_US).await? {
            let (host, app, id) = (Arc::clone(host), app.clone(), old.id);
            let asking = async move { ask(&host, &app, &id).await };
            let asked = tokio::spawn(asking.in_current_span()).await;
            return asked.map_err(|error| Error::internal("a renewal ended").caused_by(error))?;
        }
        match store::find(&host.database, &host.ring, &old.id).await? {
            None => return Ok(None),
            Some(session) if session.generation > old.generation => {
                return Ok(Some(Arc::new(session)));
            }
            Some(_) => tokio::time::sleep(PAUSE).await,
        }
    }
}

async fn ask(host: &Host, app: &App, id: &SessionHash) -> Result<Option<Arc<Session>>> {
    let Some(mut session) = store::find(&host.database, &host.ring, id).await? else {
        return Ok(None);
    };
    let renewed = match host.ask_for_tokens(&mut session).await {
        Ok(renewed) => renewed,
        Err(error) => {
            store::give_back(&host.database, id).await?;
            return Err(error);
        }
    };
    Context::system(app)?
        .transact(async |uow| {
            if renewed {
                store::put_tokens(&uow, &host.ring, &session).await?;
            } else {
                store::delete(&uow, id).await?;
            }
            uow.wake_after_commit(TOPIC);
            Ok(())
        })
        .await?;
    Ok(renewed.then(|| Arc::new(session)))
}
