//! Where a person is signed in, as that person recognises it: in a browser, or by a program that goes on without one.

use svc_messages::Arguments;
use time::OffsetDateTime;
use uuid::Uuid;

use super::page::Page;
use crate::own::Program;
use crate::sessions::Session;

/// A place in the list of a person.
pub(super) struct Row {
    pub(super) id: Uuid,
    /// What its id is called in the form that ends it.
    pub(super) kind: &'static str,
    pub(super) name: String,
    /// What sets it apart.
    pub(super) mark: Option<String>,
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
        let from = session.address.map(|address| address.to_string());
        Self {
            id: session.id.0,
            kind: "session",
            end_label: page.text_with("identity-session-end-label", "session", &name),
            mark: is_current.then(|| page.text("identity-session-this")),
            from: from.map(|from| page.text_with("identity-session-from", "address", &from)),
            name,
            used: used(page, if is_current { now } else { session.used_at }, now),
            is_current,
        }
    }

    /// A program; which organisation it is in says who `has_several`.
    pub(super) fn of_program(
        page: &Page,
        program: Program,
        has_several: bool,
        now: OffsetDateTime,
    ) -> Self {
        Self {
            id: program.id,
            kind: "program",
            end_label: page.text_with("identity-session-end-label", "session", &program.name),
            mark: Some(page.text("identity-session-program")),
            used: used(page, program.used_at, now),
            from: has_several.then_some(program.organisation),
            name: program.name,
            is_current: false,
        }
    }
}

/// When a place was last used, in words.
fn used(page: &Page, at: OffsetDateTime, now: OffsetDateTime) -> String {
    if now - at < time::Duration::minutes(2) {
        return page.text("identity-session-used-now");
    }
    page.texts().text_with("identity-session-used", &Arguments::new().set("at", at))
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
