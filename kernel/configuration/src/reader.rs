//! Walks a section's fields over what the sources gave, and collects problems on the way.

use crate::bounds::Bounds;
use crate::declare::SettingType;
use crate::effective::Effective;
use crate::given::Given;
use crate::problem::{MASK, SettingProblem, suggestion};
use crate::source::Source;
use crate::tree::{Content, Node, Scalar};

/// Reads the fields of a section: knows which key it is at, and keeps problems and values.
#[derive(Debug, Default)]
pub struct Reader {
    path: Vec<String>,
    /// The limits of the current field, in words, for the messages about its values.
    bounds: String,
    /// Sections below the one being read; their names are not unknown keys of it.
    nested_sections: Vec<String>,
    problems: Vec<SettingProblem>,
    effective: Vec<Effective>,
}

impl Reader {
    /// A reader at the key `section`.
    pub(crate) fn at(section: &str, nested_sections: Vec<String>) -> Self {
        Self { path: vec![section.to_owned()], nested_sections, ..Self::default() }
    }

    pub(crate) fn into_results(self) -> (Vec<SettingProblem>, Vec<Effective>) {
        (self.problems, self.effective)
    }

    pub(crate) fn problems(&self) -> &[SettingProblem] {
        &self.problems
    }

    pub(crate) fn effective(&self) -> &[Effective] {
        &self.effective
    }

    pub(crate) fn report(&mut self, problem: SettingProblem) {
        self.problems.push(problem);
    }

    /// The full key that is being read.
    pub(crate) fn key(&self) -> String {
        self.path.join(":")
    }

    /// Reads a field: its value from the sources when they gave one, else its default. None when
    /// that is no value, which is then reported.
    ///
    /// Used by the code that [`settings_section!`](crate::settings_section) writes.
    pub fn field<T: SettingType>(
        &mut self,
        given: &Given<'_>,
        key: &str,
        doc: &str,
        default: Option<&T>,
        bounds: &[Bounds<T::Element>],
    ) -> Option<T> {
        let table = given.source();
        let given = given.child(key);
        let descriptions: Vec<&str> = bounds.iter().map(Bounds::description).collect();
        let outer_bounds = std::mem::replace(&mut self.bounds, descriptions.join(" and "));
        self.path.push(key.to_owned());

        let value = self.value(&given, default, bounds, &table);
        if let (2, Some(value)) = (self.path.len(), &value) {
            self.record(&given, doc, default, value);
        }

        self.path.pop();
        self.bounds = outer_bounds;
        value
    }

    /// Reads the value of a field. A wrong one counts as its default, so that the fields after it
    /// are read as well.
    fn value<T: SettingType>(
        &mut self,
        given: &Given<'_>,
        default: Option<&T>,
        bounds: &[Bounds<T::Element>],
        table: &Source,
    ) -> Option<T> {
        if let Some(default) = default {
            self.check_default(default, bounds);
        }
        // A table without a value of its own is entered, because its fields have defaults to check.
        if given.is_empty() && (default.is_none() || !T::MERGES) {
            if default.is_none() {
                let message = format!("required; expected {}", T::expected(&self.bounds));
                self.report(SettingProblem::of_key(self.key(), table, message));
            }
            return default.cloned();
        }
        let value = T::read(given, default, self);
        if let Some(value) = &value {
            self.check_bounds(given, value, bounds);
        }
        value.or_else(|| default.cloned())
    }

    fn check_default<T: SettingType>(&mut self, default: &T, bounds: &[Bounds<T::Element>]) {
        for (_, element) in default.elements() {
            if bounds.iter().any(|bounds| !bounds.contains(element)) {
                let expected = T::Element::expected(&self.bounds);
                let message = format!("the declared default breaks its own bounds: {expected}");
                let problem = SettingProblem::of_key(self.key(), &Source::Default, message);
                self.report(problem.with_value(&element.show()));
            }
        }
    }

    fn check_bounds<T: SettingType>(
        &mut self,
        given: &Given<'_>,
        value: &T,
        bounds: &[Bounds<T::Element>],
    ) {
        for (part, element) in value.elements() {
            // An element that no source gave is one of the default, which was checked as such.
            let place = part.as_ref().map_or_else(|| given.clone(), |part| given.child(part));
            if place.is_empty() || bounds.iter().all(|bounds| bounds.contains(element)) {
                continue;
            }
            let key = match part {
                Some(part) => format!("{}:{part}", self.key()),
                None => self.key(),
            };
            let message = format!("expected {}", T::Element::expected(&self.bounds));
            let problem = SettingProblem::of_key(key, &place.source(), message);
            self.report(problem.with_value(&element.show()));
        }
    }

    fn record<T: SettingType>(
        &mut self,
        given: &Given<'_>,
        doc: &str,
        default: Option<&T>,
        value: &T,
    ) {
        let source = match given.nodes() {
            [] => Source::Default.to_string(),
            nodes if T::MERGES => {
                let places: Vec<String> =
                    nodes.iter().map(|node| node.source.to_string()).collect();
                places.join(", ")
            }
            _ => given.source().to_string(),
        };
        self.effective.push(Effective {
            section: self.path[0].clone(),
            key: self.key(),
            value: value.show(),
            source,
            default: default.map(SettingType::show).unwrap_or_default(),
            expected: T::expected(&self.bounds),
            doc: doc.to_owned(),
        });
    }

    /// Reads a part of the current value: an item of a list, an entry of a map.
    pub(crate) fn part<T: SettingType>(
        &mut self,
        key: &str,
        node: &Node,
        default: Option<&T>,
    ) -> Option<T> {
        self.path.push(key.to_owned());
        let value = T::read(&Given::one(node), default, self);
        self.path.pop();
        value
    }

    /// Checks that every source gave a table whose keys are all known; false when one gave none.
    ///
    /// Used by the code that [`settings_section!`](crate::settings_section) writes.
    pub fn enter_table(&mut self, given: &Given<'_>, known: &[String]) -> bool {
        let mut all_tables = true;
        for node in given.nodes() {
            if !matches!(node.content, Content::Table(_)) {
                all_tables = false;
                let message = format!("expected a table with the keys {}", quoted_list(known));
                self.report(SettingProblem::of_key(self.key(), &node.source, message));
            }
        }
        let nested = std::mem::take(&mut self.nested_sections);
        let accepted: Vec<String> = known.iter().cloned().chain(nested).collect();
        for (key, node) in given.unknown_keys(&accepted) {
            let owner = format!("`{}`", self.key());
            let message = format!("unknown key; {}", suggestion(key, &accepted, &owner));
            let full_key = format!("{}:{}", self.key(), key);
            // Without its value, which may be that of a misspelt secret.
            self.report(SettingProblem::of_key(full_key, &node.source, message));
        }
        all_tables
    }

    /// Reads a value that is written as a text; `parse` returns none for one it does not accept.
    pub fn text<T: SettingType>(
        &mut self,
        given: &Given<'_>,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> Option<T> {
        self.scalar(given, |scalar| scalar.as_text().and_then(parse))
    }

    pub(crate) fn scalar<T: SettingType>(
        &mut self,
        given: &Given<'_>,
        parse: impl FnOnce(&Scalar) -> Option<T>,
    ) -> Option<T> {
        let value = given.scalar().and_then(parse);
        if value.is_none() {
            self.report_wrong_value::<T>(given);
        }
        value
    }

    /// Reports that the winning value is not one of type `T`.
    pub(crate) fn report_wrong_value<T: SettingType>(&mut self, given: &Given<'_>) {
        let hint = given.scalar().map_or("", quotation_hint::<T>);
        self.report_wrong_value_hinting::<T>(given, hint);
    }

    /// Reports that the winning value is not one of type `T`, and how one would be written.
    pub(crate) fn report_wrong_value_hinting<T: SettingType>(
        &mut self,
        given: &Given<'_>,
        hint: &str,
    ) {
        let Some(node) = given.winner() else { return };
        let mut message = format!("expected {}", T::expected(&self.bounds));
        let shown = match &node.content {
            Content::Value(scalar) => {
                message.push_str(hint);
                Some(if T::SECRET { MASK.to_owned() } else { scalar.to_string() })
            }
            Content::List(_) => {
                message.push_str(", not a list");
                None
            }
            Content::Table(_) => {
                message.push_str(", not a table");
                None
            }
        };
        let problem = SettingProblem::of_key(self.key(), &node.source, message);
        self.report(match shown {
            Some(value) => problem.with_value(&value),
            None => problem,
        });
    }
}

/// What to do about the quotes in a file, where they decide over the type.
fn quotation_hint<T: SettingType>(scalar: &Scalar) -> &'static str {
    match scalar {
        Scalar::Untyped(_) => "",
        Scalar::Text(_) if T::TEXTUAL || T::MERGES => "",
        Scalar::Text(_) => ", without quotes",
        _ if T::TEXTUAL => ", in quotes",
        _ => "",
    }
}

fn quoted_list(names: &[String]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    quoted.join(", ")
}
