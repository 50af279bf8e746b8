//! A session as its person recognises it.

use svc_messages::Arguments;
use time::OffsetDateTime;
use uuid::Uuid;

use super::page::Page;
use crate::sessions::Session;

/// A session in the list of a person.
pub(super) struct Row {
    pub(super) id: Uuid,
    pub(super) name: String,
    pub(super) used: String,
    pub(super) from: Option<String>,
    pub(super) end_label: String,
    pub(super) is_current: bool,
}

impl Row {
    pub(super) fn new(
        page: &Page,
        session: &Session,
        current: &Session,
        now: OffsetDateTime,
    ) -> Self {
        let name = name(page, session);
        let is_current = session.id == current.id;
        let just_now = is_current || now - session.used_at < time::Duration::minutes(2);
        let used = if just_now {
            page.text("identity-session-used-now")
        } else {
            let at = Arguments::new().set("at", session.used_at);
            page.texts().text_with("identity-session-used", &at)
        };
        let from = session.address.map(|address| address.to_string());
        Self {
            id: session.id.0,
            end_label: page.text_with("identity-session-end-label", "session", &name),
            from: from.map(|from| page.text_with("identity-session-from", "address", &from)),
            name,
            used,
            is_current,
        }
    }
}

fn name(page: &Page, session: &Session) -> String {
    match (session.browser(), session.system()) {
        (Some(browser), Some(system)) => {
            let arguments = Arguments::new().set("browser", browser).set("system", system);
            page.texts().text_with("identity-session-on", &arguments)
        }
        (Some(one), None) | (None, Some(one)) => one.to_owned(),
        (None, None) => page.text("identity-session-unknown"),
    }
}
