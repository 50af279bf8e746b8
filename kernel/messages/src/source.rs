//! The files that modules give, read.

use std::sync::Arc;

use fluent_syntax::ast::{
    CallArguments, Entry, Expression, InlineExpression, Message, Pattern, PatternElement, Resource,
    Term,
};
use fluent_syntax::parser::{ParserError, parse};
use parking_lot::Mutex;

use crate::language::Language;

/// One file: a module's texts in a language.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    pub(crate) module: String,
    pub(crate) language: Language,
    pub(crate) text: &'static str,
}

/// What modules give, until the application is built. Shared, because the module that builds comes before those that
/// give.
#[derive(Clone, Default)]
pub(crate) struct Sources(Arc<Mutex<Vec<Source>>>);

impl Sources {
    pub(crate) fn add(&self, source: Source) {
        self.0.lock().push(source);
    }

    pub(crate) fn all(&self) -> Vec<Source> {
        self.0.lock().clone()
    }
}

/// What is wrong with a file, with the line.
pub(crate) struct Fault {
    pub(crate) line: usize,
    pub(crate) error: ParserError,
}

impl Source {
    /// What the file holds, and what of it can't be read.
    pub(crate) fn read(&self) -> (Resource<&'static str>, Vec<Fault>) {
        let line = |place: usize| self.text[..place].matches('\n').count() + 1;
        match parse(self.text) {
            Ok(resource) => (resource, Vec::new()),
            Err((resource, errors)) => {
                let faults = errors.into_iter();
                // The entry that can't be read begins where its slice does; what is expected may be lines behind.
                let place = |error: &ParserError| {
                    error.slice.as_ref().map_or(error.pos.start, |slice| slice.start)
                };
                let faults = faults.map(|error| Fault { line: line(place(&error)), error });
                (resource, faults.collect())
            }
        }
    }
}

/// The messages of a file.
pub(crate) fn messages<'a>(
    resource: &'a Resource<&'static str>,
) -> impl Iterator<Item = &'a Message<&'static str>> {
    resource.body.iter().filter_map(|entry| match entry {
        Entry::Message(message) => Some(message),
        _ => None,
    })
}

/// The terms of a file.
pub(crate) fn terms<'a>(
    resource: &'a Resource<&'static str>,
) -> impl Iterator<Item = &'a Term<&'static str>> {
    resource.body.iter().filter_map(|entry| match entry {
        Entry::Term(term) => Some(term),
        _ => None,
    })
}

/// What a text uses besides its own words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Used {
    /// An argument.
    Argument(&'static str),
    /// Another message, or an attribute of it.
    Message(&'static str, Option<&'static str>),
    /// A term.
    Term(&'static str),
    /// A function.
    Function(&'static str),
}

/// All that the texts of a message use.
pub(crate) fn uses_of_message(message: &Message<&'static str>) -> Vec<Used> {
    let attributes = message.attributes.iter().map(|attribute| &attribute.value);
    uses_of(message.value.iter().chain(attributes))
}

/// All that the texts of a term use. Its arguments are given by those who use it.
pub(crate) fn uses_of_term(term: &Term<&'static str>) -> Vec<Used> {
    let attributes = term.attributes.iter().map(|attribute| &attribute.value);
    let mut uses = uses_of(std::iter::once(&term.value).chain(attributes));
    uses.retain(|used| !matches!(used, Used::Argument(_)));
    uses
}

fn uses_of<'a>(patterns: impl Iterator<Item = &'a Pattern<&'static str>>) -> Vec<Used> {
    let mut uses = Vec::new();
    patterns.for_each(|pattern| in_pattern(pattern, &mut uses));
    uses.sort_unstable();
    uses.dedup();
    uses
}

fn in_pattern(pattern: &Pattern<&'static str>, uses: &mut Vec<Used>) {
    for element in &pattern.elements {
        if let PatternElement::Placeable { expression } = element {
            in_expression(expression, uses);
        }
    }
}

fn in_expression(expression: &Expression<&'static str>, uses: &mut Vec<Used>) {
    match expression {
        Expression::Inline(inline) => in_inline(inline, uses),
        Expression::Select { selector, variants } => {
            in_inline(selector, uses);
            for variant in variants {
                in_pattern(&variant.value, uses);
            }
        }
    }
}

fn in_inline(inline: &InlineExpression<&'static str>, uses: &mut Vec<Used>) {
    match inline {
        InlineExpression::StringLiteral { .. } | InlineExpression::NumberLiteral { .. } => {}
        InlineExpression::VariableReference { id } => uses.push(Used::Argument(id.name)),
        InlineExpression::MessageReference { id, attribute } => {
            uses.push(Used::Message(id.name, attribute.as_ref().map(|attribute| attribute.name)));
        }
        InlineExpression::TermReference { id, arguments, .. } => {
            uses.push(Used::Term(id.name));
            in_arguments(arguments.as_ref(), uses);
        }
        InlineExpression::FunctionReference { id, arguments } => {
            uses.push(Used::Function(id.name));
            in_arguments(Some(arguments), uses);
        }
        InlineExpression::Placeable { expression } => in_expression(expression, uses),
    }
}

fn in_arguments(arguments: Option<&CallArguments<&'static str>>, uses: &mut Vec<Used>) {
    let Some(CallArguments { positional, named }) = arguments else { return };
    for argument in positional.iter().chain(named.iter().map(|argument| &argument.value)) {
        in_inline(argument, uses);
    }
}
