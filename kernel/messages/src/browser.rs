//! Texts as a browser reads them: one resource with everything, so that it asks once.

use std::collections::BTreeMap;

use fluent_syntax::ast::{Entry, Message, Resource};
use fluent_syntax::serializer::serialize;
use sha2::{Digest as _, Sha256};
use svc_core::hex;

use crate::language::Language;
use crate::source::Source;

/// The texts of all modules in one language, for a browser.
#[derive(Clone, Debug)]
pub struct BrowserTexts {
    language: Language,
    resource: String,
    hash: String,
}

impl BrowserTexts {
    /// `english` completes what isn't translated.
    pub(crate) fn new(language: &Language, own: &[&Source], english: &[&Source]) -> Self {
        let read = |sources: &[&Source]| -> Vec<Entry<&'static str>> {
            sources.iter().flat_map(|source| source.read().0.body).collect()
        };
        let resource = serialize(&Resource { body: completed(read(own), read(english)) });
        let hash = hex(&Sha256::digest(resource.as_bytes())[..16]);
        Self { language: language.clone(), resource, hash }
    }

    /// The language.
    #[must_use]
    pub fn language(&self) -> &Language {
        &self.language
    }

    /// The texts as a Fluent resource.
    #[must_use]
    pub fn resource(&self) -> &str {
        &self.resource
    }

    /// Names this content and no other, in hexadecimal digits.
    #[must_use]
    pub fn hash(&self) -> &str {
        &self.hash
    }
}

/// The entries without their comments, and behind them what they lack.
fn completed(
    own: Vec<Entry<&'static str>>,
    english: Vec<Entry<&'static str>>,
) -> Vec<Entry<&'static str>> {
    let mut whole: Vec<Entry<&'static str>> = own.into_iter().filter_map(bare).collect();
    let known: BTreeMap<(bool, &str), usize> =
        whole.iter().enumerate().filter_map(|(place, entry)| Some((name(entry)?, place))).collect();
    for entry in english.into_iter().filter_map(bare) {
        let translated = name(&entry).and_then(|name| known.get(&name));
        match (translated, entry) {
            (None, entry) => whole.push(entry),
            (Some(place), Entry::Message(original)) => complete(&mut whole[*place], original),
            (Some(_), _) => {}
        }
    }
    whole
}

/// Adds to a translated message what only the English one has.
fn complete(entry: &mut Entry<&'static str>, original: Message<&'static str>) {
    let Entry::Message(message) = entry else { return };
    if message.value.is_none() {
        message.value = original.value;
    }
    for attribute in original.attributes {
        if message.attributes.iter().all(|known| known.id != attribute.id) {
            message.attributes.push(attribute);
        }
    }
}

/// A message or term without its comment.
fn bare(entry: Entry<&'static str>) -> Option<Entry<&'static str>> {
    match entry {
        Entry::Message(mut message) => {
            message.comment = None;
            Some(Entry::Message(message))
        }
        Entry::Term(mut term) => {
            term.comment = None;
            Some(Entry::Term(term))
        }
        _ => None,
    }
}

/// The name of an entry, and whether it is a term's.
fn name(entry: &Entry<&'static str>) -> Option<(bool, &'static str)> {
    match entry {
        Entry::Message(message) => Some((false, message.id.name)),
        Entry::Term(term) => Some((true, term.id.name)),
        _ => None,
    }
}
