//! Brings declared sections and sources together.

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::sync::Arc;

use crate::declare::{Section, SectionDeclaration};
use crate::effective::{Effective, render_effective};
use crate::given::Given;
use crate::load::{ConsultedFile, LoadOptions, Loaded, load};
use crate::problem::{SettingProblem, SettingsError, suggestion};
use crate::reader::Reader;
use crate::tree::{Content, Node, same_key};

/// The name under which all sections live.
const ROOT: &str = "Svc";

/// Settings in the making: sources first, then sections, then [`finish`](Self::finish).
#[derive(Debug)]
pub struct SettingsBuilder {
    loaded: Loaded,
    declarations: Vec<SectionDeclaration>,
}

impl SettingsBuilder {
    /// Reads all sources. What is wrong with them is told by [`finish`](Self::finish).
    #[must_use]
    pub fn load(options: &LoadOptions) -> Self {
        Self { loaded: load(options), declarations: Vec::new() }
    }

    /// The command line without its settings, for the parser of commands.
    #[must_use]
    pub fn arguments(&self) -> &[String] {
        &self.loaded.arguments
    }

    /// The name of the environment, when one was given.
    #[must_use]
    pub fn environment(&self) -> Option<&str> {
        self.loaded.environment.as_deref()
    }

    /// Declares a section; the same one may be declared again.
    pub fn declare<S: Section>(&mut self) -> &mut Self {
        self.declare_all([SectionDeclaration::of::<S>()])
    }

    /// Declares sections that a registry has collected.
    pub fn declare_all(
        &mut self,
        declarations: impl IntoIterator<Item = SectionDeclaration>,
    ) -> &mut Self {
        for declaration in declarations {
            let known = |other: &SectionDeclaration| other.type_id() == declaration.type_id();
            if !self.declarations.iter().any(known) {
                self.declarations.push(declaration);
            }
        }
        self
    }

    /// Reads every declared section.
    ///
    /// # Errors
    /// All problems with the sources, the declarations and the values, as far as they can be known
    /// at once.
    pub fn finish(self) -> Result<Settings, SettingsError> {
        let mut problems = self.loaded.problems.clone();
        problems.extend(self.declaration_problems());
        problems.extend(self.unknown_sections());

        let given = Given::new(self.loaded.sources.iter().collect());
        let mut sections = HashMap::new();
        let mut effective = Vec::new();
        for declaration in &self.declarations {
            let mut reader = Reader::at(declaration.name(), self.nested_in(declaration.name()));
            let section = declaration.read(&given.descend(declaration.name()), &mut reader);
            let (found, fields) = reader.into_results();
            problems.extend(found);
            effective.extend(fields);
            sections.insert(declaration.type_id(), section);
        }
        if problems.is_empty() {
            let Loaded { files, environment, .. } = self.loaded;
            Ok(Settings { sections, effective, files, environment })
        } else {
            Err(SettingsError::new(problems))
        }
    }

    /// Mistakes of developers: names that are no section names, or that two sections share.
    fn declaration_problems(&self) -> Vec<SettingProblem> {
        let mut problems = Vec::new();
        for (index, declaration) in self.declarations.iter().enumerate() {
            let name = declaration.name();
            let type_name = declaration.type_name();
            if !is_section_name(name) {
                let message = format!(
                    "the section of `{type_name}` needs a name such as `Svc:Webhooks`, in words of \
                     letters and digits that begin with a capital"
                );
                problems.push(SettingProblem { key: Some(name.to_owned()), ..blank(message) });
            }
            let mut earlier = self.declarations.iter().take(index);
            if let Some(other) = earlier.find(|other| same_key(other.name(), name)) {
                let other_type = other.type_name();
                let message =
                    format!("declared by both `{other_type}` and `{type_name}`; rename one");
                problems.push(SettingProblem { key: Some(name.to_owned()), ..blank(message) });
            }
        }
        problems
    }

    /// Names of the keys that lead from a section to the sections below it.
    fn nested_in(&self, section: &str) -> Vec<String> {
        let below = self.declarations.iter().filter_map(|declaration| {
            let (start, rest) = declaration.name().split_at_checked(section.len())?;
            let rest = rest.strip_prefix(':').filter(|_| same_key(start, section))?;
            rest.split(':').next().map(str::to_owned)
        });
        below.collect()
    }

    fn unknown_sections(&self) -> Vec<SettingProblem> {
        let mut problems = Vec::new();
        for source in &self.loaded.sources {
            let Content::Table(entries) = &source.content else { continue };
            for entry in entries {
                if same_key(&entry.key, ROOT) {
                    self.unknown_sections_below(ROOT, &entry.node, &mut problems);
                } else {
                    problems.push(self.outside_root(&entry.key, &entry.node));
                }
            }
        }
        problems
    }

    /// Looks at the keys between the root and the sections; those in a section are its own matter.
    fn unknown_sections_below(&self, path: &str, node: &Node, problems: &mut Vec<SettingProblem>) {
        let Content::Table(entries) = &node.content else {
            let message = format!("expected sections below `{path}`, not a value");
            problems.push(SettingProblem::of_key(path.to_owned(), &node.source, message));
            return;
        };
        for entry in entries {
            let key = format!("{path}:{}", entry.key);
            let is_section =
                self.declarations.iter().any(|declaration| same_key(declaration.name(), &key));
            if is_section {
                continue;
            }
            if !self.nested_in(&key).is_empty() {
                self.unknown_sections_below(&key, &entry.node, problems);
                continue;
            }
            let names = self.section_names();
            let message = match &entry.node.content {
                Content::Value(_) if is_colon_key(&entry.key) => colon_hint(&key),
                _ => format!(
                    "no module declares this section; {}",
                    suggestion(&key, &names, "the application")
                ),
            };
            problems.push(SettingProblem::of_key(key, &entry.node.source, message));
        }
    }

    /// A key beside the root, where nothing belongs.
    fn outside_root(&self, key: &str, node: &Node) -> SettingProblem {
        let qualified = format!("{ROOT}:{key}");
        let names = self.section_names();
        let message = if is_colon_key(key) && matches!(node.content, Content::Value(_)) {
            colon_hint(key)
        } else if names.iter().any(|name| same_key(name, &qualified)) {
            format!("all settings are below `{ROOT}`; write it as `{qualified}`")
        } else {
            let near = suggestion(key, &names, "the application");
            format!("all settings are below `{ROOT}`; {near}")
        };
        SettingProblem::of_key(key.to_owned(), &node.source, message)
    }

    fn section_names(&self) -> Vec<String> {
        self.declarations.iter().map(|declaration| declaration.name().to_owned()).collect()
    }
}

fn blank(message: String) -> SettingProblem {
    SettingProblem { key: None, value: None, source: None, message }
}

fn is_section_name(name: &str) -> bool {
    let is_word = |word: &str| {
        word.starts_with(|first: char| first.is_ascii_uppercase())
            && word.chars().all(|each| each.is_ascii_alphanumeric())
    };
    name.strip_prefix("Svc:").is_some_and(|rest| rest.split(':').all(is_word))
}

/// Whether a key of a file was copied from a command line or a message.
fn is_colon_key(key: &str) -> bool {
    key.contains(':')
}

/// How a key with colons is written in a file.
fn colon_hint(key: &str) -> String {
    match key.rsplit_once(':') {
        Some((section, name)) => {
            let table = section.replace(':', ".");
            format!("a file has no colons in keys; write `{name}` in the table `[{table}]`")
        }
        None => "a file has no colons in keys".to_owned(),
    }
}

/// The configuration of a running application; it never changes.
#[derive(Clone)]
pub struct Settings {
    sections: HashMap<TypeId, Arc<dyn Any + Send + Sync>>,
    effective: Vec<Effective>,
    files: Vec<ConsultedFile>,
    environment: Option<String>,
}

impl Settings {
    /// Reads all sources; the same as [`SettingsBuilder::load`].
    #[must_use]
    pub fn load(options: &LoadOptions) -> SettingsBuilder {
        SettingsBuilder::load(options)
    }

    /// The section `S`.
    ///
    /// # Panics
    /// When `S` was not declared, which is a mistake in the module that asks for it.
    #[must_use]
    pub fn section<S: Section>(&self) -> Arc<S> {
        self.declared_section().unwrap_or_else(|| {
            panic!(
                "the settings `{}` were not declared; declare `{}` in its module's `configure`",
                S::NAME,
                std::any::type_name::<S>(),
            )
        })
    }

    /// The section `S`, when a module has declared it.
    #[must_use]
    pub fn declared_section<S: Section>(&self) -> Option<Arc<S>> {
        Arc::clone(self.sections.get(&TypeId::of::<S>())?).downcast().ok()
    }

    /// All keys with the values in force, section by section.
    #[must_use]
    pub fn effective(&self) -> &[Effective] {
        &self.effective
    }

    /// All keys with the values in force, as aligned text.
    #[must_use]
    pub fn render(&self) -> String {
        render_effective(&self.effective)
    }

    /// The files that were looked for, the winning one last.
    #[must_use]
    pub fn files(&self) -> &[ConsultedFile] {
        &self.files
    }

    /// The name of the environment, when one was given.
    #[must_use]
    pub fn environment(&self) -> Option<&str> {
        self.environment.as_deref()
    }
}

impl std::fmt::Debug for Settings {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The list of values is masked; the sections are not all known to be.
        formatter
            .debug_struct("Settings")
            .field("effective", &self.effective)
            .finish_non_exhaustive()
    }
}
