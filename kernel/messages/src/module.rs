use std::borrow::Cow;
use std::sync::Arc;

use svc_core::{Module, Registry};
use svc_settings::{ApplicationSetting, SettingsRegistry as _};

use crate::check::check;
use crate::language::Language;
use crate::service::Messages;
use crate::settings::{INTERFACE_LANGUAGE, LanguagesSettings};
use crate::source::{Source, Sources};

/// Texts in several languages, as a module named `messages`.
///
/// It provides the service [`Messages`].
pub struct MessagesModule;

impl Module for MessagesModule {
    fn name(&self) -> Cow<'static, str> {
        "messages".into()
    }

    fn requires(&self) -> &'static [&'static str] {
        &["settings"]
    }

    fn configure(&self, registry: &mut Registry) {
        registry.settings::<LanguagesSettings>();
        let language = ApplicationSetting::text(
            INTERFACE_LANGUAGE,
            "The language to be spoken to in, such as `de`; empty leaves it to the browser.",
            35,
            "",
        );
        registry.application_setting(language.of_person());
        registry.messages([
            ("en", include_str!("../messages/en.ftl")),
            ("de", include_str!("../messages/de.ftl")),
        ]);
        let sources = registry.part::<Sources>().clone();
        registry.on_build(move |app| async move {
            app.provide(Arc::new(Messages::new(&app, &sources.all())?));
            Ok(())
        });
    }
}

/// The word for texts, in a module's `configure`.
pub trait MessagesRegistry {
    /// Gives texts: each a language's tag and the content of a Fluent file, usually by `include_str!`.
    fn messages(&mut self, files: impl IntoIterator<Item = (&'static str, &'static str)>);
}

impl MessagesRegistry for Registry {
    fn messages(&mut self, files: impl IntoIterator<Item = (&'static str, &'static str)>) {
        for (tag, text) in files {
            match Language::new(tag) {
                Ok(language) => {
                    let source = Source { module: self.module().to_owned(), language, text };
                    self.part::<Sources>().add(source);
                }
                Err(error) => self.problem(error),
            }
        }
        self.at_end(check);
    }
}
