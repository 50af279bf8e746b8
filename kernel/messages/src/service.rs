//! All texts, by language.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use fluent_bundle::FluentResource;
use fluent_bundle::concurrent::FluentBundle;
use svc_core::{App, Error, Result};
use svc_data::Context;
use svc_settings::ApplicationSettings;

use crate::browser::BrowserTexts;
use crate::format::{CONVENTIONS, Conventions, equip};
use crate::language::{Language, look_up, ranges};
use crate::settings::{INTERFACE_LANGUAGE, LanguagesSettings};
use crate::source::{Source, messages};
use crate::texts::{Texts, Translation};

/// The texts of all modules in all languages; a service of the [`App`].
pub struct Messages {
    app: svc_core::WeakApp,
    languages: Vec<Language>,
    default: Language,
    translations: BTreeMap<Language, Arc<Translation>>,
    browser: BTreeMap<Language, BrowserTexts>,
    untranslated: BTreeMap<Language, BTreeSet<String>>,
}

impl Messages {
    pub(crate) fn new(app: &App, sources: &[Source]) -> Result<Self> {
        let tags: BTreeSet<&Language> = sources.iter().map(|source| &source.language).collect();
        let languages: Vec<Language> = tags.into_iter().cloned().collect();
        let wanted = &app.settings::<LanguagesSettings>().default;
        let default = look_up(wanted, &languages).cloned().ok_or_else(|| {
            let known: Vec<String> = languages.iter().map(|each| format!("`{each}`")).collect();
            Error::invalid(format!(
                "`Svc:Languages:Default` is `{wanted}`, and the texts are in {}; name one of these",
                known.join(", ")
            ))
        })?;
        let english = of_language(sources, &Language::english());
        let mut all = Self {
            app: app.downgrade(),
            languages,
            default,
            translations: BTreeMap::new(),
            browser: BTreeMap::new(),
            untranslated: BTreeMap::new(),
        };
        for language in all.languages.clone() {
            let own = of_language(sources, &language);
            let translation = translation(&language, &own, &english);
            all.untranslated.insert(language.clone(), missing(&own, &english));
            all.browser.insert(language.clone(), BrowserTexts::new(&language, &own, &english));
            all.translations.insert(language, Arc::new(translation));
        }
        Ok(all)
    }

    /// The languages that there are texts in, by their tags.
    #[must_use]
    pub fn languages(&self) -> &[Language] {
        &self.languages
    }

    /// The language for somebody who prefers one by setting, and whose browser asks for some with `Accept-Language`: the
    /// first that there are texts in, or else `Svc:Languages:Default`.
    #[must_use]
    pub fn negotiate(&self, preferred: Option<&str>, accept_language: Option<&str>) -> Language {
        let accepted = accept_language.map(ranges).unwrap_or_default();
        let mut wishes = preferred.into_iter().chain(accepted);
        let found = wishes.find_map(|wish| look_up(wish, &self.languages));
        found.unwrap_or(&self.default).clone()
    }

    /// The texts in a language; of one that there are none in, those of the nearest, or of the default.
    ///
    /// ```no_run
    /// # fn look(messages: &svc_messages::Messages) -> svc_core::Result<()> {
    /// use svc_messages::Language;
    ///
    /// let texts = messages.texts(&Language::new("de")?);
    /// let title = texts.text("library-title");
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn texts(&self, language: &Language) -> Texts {
        let found = look_up(language.as_str(), &self.languages).unwrap_or(&self.default);
        let translation = |language| Arc::clone(&self.translations[language]);
        let own = translation(found);
        let english = self.translations.get(&Language::english());
        Texts::new(Arc::clone(&own), english.cloned().unwrap_or(own))
    }

    /// The texts for the person of a context: in the language of the person's setting, or else as `accept_language` asks.
    /// Also for whoever writes to a person that doesn't call.
    ///
    /// # Errors
    ///
    /// A fault of the database.
    pub async fn texts_for(&self, ctx: &Context, accept_language: Option<&str>) -> Result<Texts> {
        let settings = self.app.get()?.service::<ApplicationSettings>()?;
        let chosen: String = settings.get(ctx, INTERFACE_LANGUAGE).await?;
        let chosen = Some(chosen.as_str()).filter(|chosen| !chosen.is_empty());
        Ok(self.texts(&self.negotiate(chosen, accept_language)))
    }

    /// All texts in a language for a browser; none where there is no such language.
    #[must_use]
    pub fn for_browser(&self, language: &str) -> Option<&BrowserTexts> {
        self.browser.values().find(|texts| texts.language().as_str().eq_ignore_ascii_case(language))
    }

    /// The ids of messages that a language has in English only.
    pub fn untranslated(&self, language: &Language) -> impl Iterator<Item = &str> {
        self.untranslated.get(language).into_iter().flatten().map(String::as_str)
    }
}

impl std::fmt::Debug for Messages {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Messages").field("languages", &self.languages).finish_non_exhaustive()
    }
}

fn of_language<'a>(sources: &'a [Source], language: &Language) -> Vec<&'a Source> {
    sources.iter().filter(|source| source.language == *language).collect()
}

fn missing(own: &[&Source], english: &[&Source]) -> BTreeSet<String> {
    let ids = |sources: &[&Source]| -> BTreeSet<String> {
        let resources = sources.iter().map(|source| source.read().0);
        resources
            .flat_map(|read| {
                messages(&read).map(|each| each.id.name.to_owned()).collect::<Vec<_>>()
            })
            .collect()
    };
    ids(english).difference(&ids(own)).cloned().collect()
}

fn translation(language: &Language, own: &[&Source], english: &[&Source]) -> Translation {
    let resource = |source: &&Source| {
        // What can't be read was refused when the modules were assembled.
        let read = FluentResource::try_new(source.text.to_owned());
        Arc::new(read.unwrap_or_else(|(readable, _)| readable))
    };
    let own: Vec<Arc<FluentResource>> = own.iter().map(resource).collect();
    let writes = |resource: &&Arc<FluentResource>| resource.source().contains(CONVENTIONS);
    let mut conventions = FluentBundle::new_concurrent(vec![language.identifier()]);
    conventions.set_use_isolating(false);
    let english: Vec<Arc<FluentResource>> = english.iter().map(resource).collect();
    for resource in own.iter().chain(&english).filter(writes) {
        // What stands in the language itself comes first and stays.
        let _ = conventions.add_resource(Arc::clone(resource));
    }
    let mut bundle = FluentBundle::new_concurrent(vec![language.identifier()]);
    equip(&mut bundle);
    for resource in own {
        // Two texts of one id were refused when the modules were assembled.
        let _ = bundle.add_resource(resource);
    }
    Translation {
        language: language.clone(),
        bundle,
        conventions: Arc::new(Conventions::new(conventions)),
    }
}
