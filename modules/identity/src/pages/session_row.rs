//! A session as its person recognises it.

use svc_messages::Arguments;
use time::OffsetDateTime;
use uuid::Uuid;

use super::page::Page;
use crate::sessions::Session;

/// Browsers, by what stands in the description that they give of themselves. Several claim to be others
/// too, so the first that is found counts.
const BROWSERS: [(&str, &str); 7] = [
    ("Edg/", "Edge"),
    ("OPR/", "Opera"),
    ("SamsungBrowser/", "Samsung Internet"),
    ("Firefox/", "Firefox"),
    ("FxiOS/", "Firefox"),
    ("Chrome/", "Chrome"),
    ("Safari/", "Safari"),
];

/// Systems, likewise.
const SYSTEMS: [(&str, &str); 8] = [
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Android", "Android"),
    ("CrOS", "ChromeOS"),
    ("Windows", "Windows"),
    ("Macintosh", "macOS"),
    ("Linux", "Linux"),
    ("X11", "Unix"),
];

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
        let name = name(page, &session.user_agent);
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

fn name(page: &Page, user_agent: &str) -> String {
    let found = |known: &[(&str, &'static str)]| {
        known.iter().find(|(mark, _)| user_agent.contains(mark)).map(|(_, name)| *name)
    };
    match (found(&BROWSERS), found(&SYSTEMS)) {
        (Some(browser), Some(system)) => {
            let arguments = Arguments::new().set("browser", browser).set("system", system);
            page.texts().text_with("identity-session-on", &arguments)
        }
        (Some(one), None) | (None, Some(one)) => one.to_owned(),
        (None, None) => page.text("identity-session-unknown"),
    }
}
