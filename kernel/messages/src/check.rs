//! What is looked at when all modules have given their texts: what would fail later is refused, what isn't translated is
//! listed.

use std::collections::{BTreeMap, BTreeSet};

use fluent_syntax::ast::{Message, Resource};
use svc_core::Registry;

use crate::format::{CONVENTIONS, FUNCTIONS};
use crate::kinds;
use crate::language::Language;
use crate::source::{Source, Sources, Used, messages, terms, uses_of_message, uses_of_term};

/// The most ids that one line of `shop modules` names.
const NAMED: usize = 5;

/// Looks at all texts; for the end of the assembly.
pub(crate) fn check(registry: &mut Registry) {
    let sources = registry.part::<Sources>().all();
    let mut problems = Vec::new();
    let texts = AllTexts::read(&sources, &mut problems);
    texts.check(&mut problems);
    for (module, problem) in problems {
        registry.problem_of(&module, problem);
    }
    for (module, language, detail) in texts.listing() {
        registry.contribute_to(&module, kinds::TEXTS, language.as_str(), detail);
    }
}

/// What is wrong, with the module whose text it is.
type Problems = Vec<(String, String)>;

/// A text with the module that gave it.
type Given<T> = BTreeMap<&'static str, (String, T)>;

#[derive(Default)]
struct AllTexts {
    languages: BTreeMap<Language, Texts>,
}

#[derive(Default)]
struct Texts {
    messages: Given<Message<&'static str>>,
    /// The terms, with what they use.
    terms: Given<Vec<Used>>,
}

impl AllTexts {
    fn read(sources: &[Source], problems: &mut Problems) -> Self {
        let mut all = Self::default();
        for source in sources {
            let (resource, faults) = source.read();
            for fault in faults {
                let (language, line, error) = (&source.language, fault.line, fault.error);
                let problem = format!("its texts in `{language}`, line {line}: {error}");
                problems.push((source.module.clone(), problem));
            }
            let texts = all.languages.entry(source.language.clone()).or_default();
            texts.add(source, &resource, problems);
        }
        all
    }

    fn english(&self) -> Option<&Texts> {
        self.languages.get(&Language::english())
    }

    fn check(&self, problems: &mut Problems) {
        for (language, texts) in &self.languages {
            texts.check_references(language, problems);
            if let Some(english) = self.english().filter(|_| *language != Language::english()) {
                texts.check_against(english, language, problems);
            }
        }
    }

    /// The modules with each of their languages, and what a person should know about it.
    fn listing(&self) -> Vec<(String, Language, String)> {
        let mut of_modules: BTreeMap<&str, BTreeSet<&'static str>> = BTreeMap::new();
        for (id, (module, _)) in self.english().iter().flat_map(|english| &english.messages) {
            of_modules.entry(module).or_default().insert(id);
        }
        let mut listing = Vec::new();
        for (module, ids) in of_modules {
            for (language, texts) in &self.languages {
                let missing: Vec<&str> =
                    ids.iter().copied().filter(|id| !texts.messages.contains_key(id)).collect();
                let detail = described(ids.len(), &missing);
                listing.push((module.to_owned(), language.clone(), detail));
            }
        }
        listing
    }
}

fn described(count: usize, missing: &[&str]) -> String {
    if missing.is_empty() {
        return count.to_string();
    }
    let named = missing[..missing.len().min(NAMED)].join(", ");
    let more = match missing.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("{} of {count}; in English only: {named}{more}", count - missing.len())
}

impl Texts {
    fn add(&mut self, source: &Source, resource: &Resource<&'static str>, problems: &mut Problems) {
        let mut refuse = |id: &str, known: Option<String>| {
            if let Some(known) = known {
                problems.push((
                    source.module.clone(),
                    format!(
                        "the text `{id}` in `{}` is given by module `{known}` already; give one another id",
                        source.language
                    ),
                ));
            }
        };
        for message in messages(resource) {
            let given = (source.module.clone(), message.clone());
            let known = self.messages.insert(message.id.name, given);
            refuse(message.id.name, known.map(|(module, _)| module));
        }
        for term in terms(resource) {
            let given = (source.module.clone(), uses_of_term(term));
            let known = self.terms.insert(term.id.name, given);
            refuse(&format!("-{}", term.id.name), known.map(|(module, _)| module));
        }
    }

    /// What a text uses must be there in its own language.
    fn check_references(&self, language: &Language, problems: &mut Problems) {
        let messages = self.messages.values();
        let messages = messages.map(|(module, message)| {
            (module, message.id.name.to_owned(), uses_of_message(message))
        });
        let terms = self.terms.iter();
        let terms = terms.map(|(id, (module, uses))| (module, format!("-{id}"), uses.clone()));
        for (module, id, uses) in messages.chain(terms) {
            for missing in uses.into_iter().filter_map(|used| self.lacks(used)) {
                let problem =
                    format!("the text `{id}` in `{language}` uses {missing}, which isn't there");
                problems.push((module.clone(), problem));
            }
        }
    }

    /// What is used, in words, where it isn't there.
    fn lacks(&self, used: Used) -> Option<String> {
        match used {
            Used::Argument(_) => None,
            Used::Message(id, attribute) => {
                let message = self.messages.get(id).map(|(_, message)| message);
                let is_there = message.is_some_and(|message| match attribute {
                    Some(name) => message.attributes.iter().any(|each| each.id.name == name),
                    None => message.value.is_some(),
                });
                let attribute = attribute.map(|name| format!(".{name}")).unwrap_or_default();
                (!is_there).then(|| format!("`{id}{attribute}`"))
            }
            Used::Term(id) => (!self.terms.contains_key(id)).then(|| format!("the term `-{id}`")),
            Used::Function(name) => {
                (!FUNCTIONS.contains(&name)).then(|| format!("the function `{name}`"))
            }
        }
    }

    /// A translation says what the English text says, with nothing else than that has.
    fn check_against(&self, english: &Self, language: &Language, problems: &mut Problems) {
        for (id, (module, message)) in &self.messages {
            let mut refuse = |problem| problems.push((module.clone(), problem));
            let Some((_, original)) = english.messages.get(id) else {
                refuse(format!("the text `{id}` is in `{language}` but not in `en`"));
                continue;
            };
            for attribute in &message.attributes {
                let name = attribute.id.name;
                if original.attributes.iter().all(|each| each.id.name != name) {
                    refuse(format!("the text `{id}.{name}` is in `{language}` but not in `en`"));
                }
            }
            if id.starts_with(CONVENTIONS) {
                continue;
            }
            let known = uses_of_message(original);
            for used in uses_of_message(message) {
                if let Used::Argument(name) = used
                    && !known.contains(&used)
                {
                    refuse(format!(
                        "the text `{id}` in `{language}` uses `${name}`, which it doesn't have in `en`"
                    ));
                }
            }
        }
    }
}
