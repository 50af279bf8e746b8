//! A library whose texts are in two languages, and a translator who adds a third.

use std::sync::Arc;

use svc_core::{Module, Registry};
use svc_messages::{Language, Messages, MessagesRegistry as _, Texts};
use svc_testing::{Application, Backend, TestApp};

pub(crate) const ENGLISH: &str = r#"
-brand = Svc
library-title = Library of { -brand }
    .description = What can be lent
library-hits = { $count ->
    [one] One book
   *[other] { $count } books
 }
library-lent = Lent to { $name } until { DATETIME($until, dateStyle: "long") }
library-seen = Seen { DATETIME($at, dateStyle: "medium", timeStyle: "short") }
library-share = { NUMBER($share, maximumFractionDigits: 1, minimumFractionDigits: 1) } percent
library-plain = { $at }
library-new = New here
    .hint = Only in English
"#;

pub(crate) const GERMAN: &str = r#"
### Für die Bibliothek
-brand = Svc
# Ein Kommentar
library-title = Bibliothek von { -brand }
library-hits = { $count ->
    [one] Ein Buch
   *[other] { $count } Bücher
 }
library-lent = Bis { DATETIME($until, dateStyle: "long") } an { $name } verliehen
library-seen = Gesehen { DATETIME($at, dateStyle: "full", timeStyle: "medium") }
library-share = { NUMBER($share, maximumFractionDigits: 1, minimumFractionDigits: 1) } Prozent
library-plain = { $at }
"#;

pub(crate) struct Library;

impl Module for Library {
    fn requires(&self) -> &'static [&'static str] {
        &["messages"]
    }

    fn configure(&self, registry: &mut Registry) {
        registry.messages([("en", ENGLISH), ("de", GERMAN)]);
    }
}

/// Adds a language to what others have written.
pub(crate) struct Translator;

impl Module for Translator {
    fn requires(&self) -> &'static [&'static str] {
        &["library"]
    }

    fn configure(&self, registry: &mut Registry) {
        let french = "library-hits = { $count ->\n    [one] { $count } livre\n   *[other] { $count } livres\n }";
        registry.messages([("fr", french)]);
    }
}

pub(crate) async fn start(backend: Backend) -> TestApp {
    let make = || Application::new("library").module(Library).module(Translator);
    TestApp::builder(make).start(backend).await
}

pub(crate) fn messages(app: &TestApp) -> Arc<Messages> {
    app.app().service().unwrap()
}

pub(crate) fn texts(app: &TestApp, language: &str) -> Texts {
    messages(app).texts(&Language::new(language).unwrap())
}
