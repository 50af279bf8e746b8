//! Links to a new password that people have asked for and that are still to be sent.
//!
//! They are made and sent behind the answer, by the module's worker, so that an answer takes as long for
//! an address that nobody has. What waits in a process that dies is lost; the person asks again.

use std::collections::VecDeque;

use parking_lot::{Mutex, MutexGuard};
use svc_core::{App, Mail, MailSender, Result, UserId};
use svc_data::Context;
use svc_messages::{Arguments, Texts};
use tokio::sync::Notify;

use crate::links::{self, Purpose};
use crate::settings::is_development;
use crate::store;

/// Requests that wait at most; further ones are dropped, and logged.
const MOST: usize = 1_000;

/// Somebody has asked for a new password.
pub(crate) struct Request {
    /// The address, in the form in which addresses are compared.
    pub(crate) email_key: String,
    /// The application's name, as people write it.
    pub(crate) application: String,
    /// The language of who asked.
    pub(crate) texts: Texts,
}

/// The requests that wait.
#[derive(Default)]
pub(crate) struct Resets {
    waiting: Mutex<VecDeque<Request>>,
    asked: Notify,
}

impl Resets {
    pub(crate) fn ask(&self, request: Request) {
        let mut waiting = self.waiting();
        if waiting.len() >= MOST {
            tracing::warn!(
                waiting = MOST,
                "a request for a new password was dropped: too many wait"
            );
            return;
        }
        waiting.push_back(request);
        drop(waiting);
        self.asked.notify_one();
    }

    /// Waits until somebody has asked.
    pub(crate) async fn asked(&self) {
        self.asked.notified().await;
    }

    /// Sends a link for each that waits, where the address is somebody's, and says how many waited.
    pub(crate) async fn send(&self, app: &App) -> usize {
        let mut count = 0;
        loop {
            let next = self.waiting().pop_front();
            let Some(request) = next else { return count };
            count += 1;
            if let Err(error) = send(app, request).await {
                let error = error.report();
                tracing::warn!(error, "the link to a new password could not be sent");
            }
        }
    }

    fn waiting(&self) -> MutexGuard<'_, VecDeque<Request>> {
        self.waiting.lock()
    }
}

async fn send(app: &App, request: Request) -> Result<()> {
    let Request { email_key, application, texts } = request;
    let Some((user, address)) = store::confirmed(app, &email_key).await? else { return Ok(()) };
    let ctx = Context::system(app)?;
    let link = ctx.transact(async |uow| links::make(&uow, user, Purpose::Reset).await).await?;
    let Some(sender) = app.find_service::<dyn MailSender>() else {
        tell_developer(app, user, &link);
        return Ok(());
    };
    let arguments = Arguments::new()
        .set("application", application)
        .set("minutes", Purpose::Reset.lifetime().as_secs() / 60)
        .set("link", link);
    let mail = Mail {
        to: address.into(),
        subject: texts.text_with("identity-mail-reset-subject", &arguments),
        text: texts.text_with("identity-mail-reset-text", &arguments).into(),
    };
    sender.send(mail).await
}

/// Where nobody delivers mail: in development the log has the link, and elsewhere only the fault.
fn tell_developer(app: &App, user: UserId, link: &str) {
    if is_development(app) {
        tracing::info!(user.id = %user, link, "no module delivers mail; the link to a new password");
    } else {
        tracing::warn!(
            user.id = %user,
            "somebody asked for a new password, and no module delivers mail; add one that does"
        );
    }
}
