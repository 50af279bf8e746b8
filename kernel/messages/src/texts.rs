use std::fmt;
use std::sync::Arc;

use fluent_bundle::FluentResource;
use fluent_bundle::concurrent::FluentBundle;

use crate::arguments::Arguments;
use crate::format::{Conventions, values};
use crate::language::Language;

/// What there is in one language.
pub(crate) struct Translation {
    pub(crate) language: Language,
    pub(crate) bundle: FluentBundle<Arc<FluentResource>>,
    pub(crate) conventions: Arc<Conventions>,
}

impl fmt::Debug for Translation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Translation").field("language", &self.language).finish_non_exhaustive()
    }
}

/// The texts in one language, with English for what isn't translated. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Texts {
    own: Arc<Translation>,
    english: Arc<Translation>,
}

impl Texts {
    pub(crate) fn new(own: Arc<Translation>, english: Arc<Translation>) -> Self {
        Self { own, english }
    }

    /// The language.
    #[must_use]
    pub fn language(&self) -> &Language {
        &self.own.language
    }

    /// A text. One that is in no language is a fault, which is logged; it reads as its id in braces.
    #[must_use]
    pub fn text(&self, id: &str) -> String {
        self.text_with(id, &Arguments::new())
    }

    /// A text, completed with arguments. One that it uses and isn't given is a fault, which is logged; it reads as its
    /// name in braces.
    #[must_use]
    pub fn text_with(&self, id: &str, arguments: &Arguments<'_>) -> String {
        let found = self.find(id, None, arguments);
        found.unwrap_or_else(|| unknown(id))
    }

    /// An attribute of a text, such as `description`; as [`Texts::text`] in all else.
    #[must_use]
    pub fn attribute(&self, id: &str, name: &str) -> String {
        let found = self.find(id, Some(name), &Arguments::new());
        found.unwrap_or_else(|| unknown(&format!("{id}.{name}")))
    }

    /// A text that needn't be there, such as the label of a property.
    #[must_use]
    pub fn find_text(&self, id: &str) -> Option<String> {
        self.find(id, None, &Arguments::new())
    }

    /// An attribute that needn't be there, such as the description of a property.
    #[must_use]
    pub fn find_attribute(&self, id: &str, name: &str) -> Option<String> {
        self.find(id, Some(name), &Arguments::new())
    }

    fn find(&self, id: &str, attribute: Option<&str>, arguments: &Arguments<'_>) -> Option<String> {
        let own = self.own.write(id, attribute, arguments);
        own.or_else(|| self.english.write(id, attribute, arguments))
    }
}

impl Translation {
    fn write(&self, id: &str, attribute: Option<&str>, given: &Arguments<'_>) -> Option<String> {
        let message = self.bundle.get_message(id)?;
        let pattern = match attribute {
            Some(name) => message.get_attribute(name)?.value(),
            None => message.value()?,
        };
        let arguments = values(given, &self.conventions);
        let mut faults = Vec::new();
        let text = self.bundle.format_pattern(pattern, Some(&arguments), &mut faults).into_owned();
        if !faults.is_empty() {
            tracing::error!(id, language = %self.language, ?faults, "a text can't be completed");
        }
        Some(text)
    }
}

fn unknown(id: &str) -> String {
    tracing::error!(id, "there is no such text; register it with `registry.messages(…)`");
    format!("{{{id}}}")
}
