//! Query options: at the top of a URL, and nested in `$expand`, `$select` and `$count`.

use super::{apply, expand, expression, identifier, search, select};
use crate::names;
use crate::syntax::ast::{
    Alias, ComputeItem, CustomOption, ExpandOptions, Format, Levels, OrderByItem, QueryOptions,
};
use crate::syntax::cursor::{Budget, Cursor, Parsed};
use crate::syntax::text::{Text, is_form_encoded};
use crate::syntax::{Position, SyntaxError, SyntaxErrorKind};
use crate::value::echo;

/// A system query option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SystemOption {
    /// One that can also be nested.
    Nested(NestedOption),
    DeltaToken,
    Format,
    Id,
    Index,
    SchemaVersion,
    SkipToken,
}

/// A system query option that can be nested.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NestedOption {
    Alias,
    Apply,
    Compute,
    Count,
    Expand,
    Filter,
    Levels,
    OrderBy,
    Search,
    Select,
    Skip,
    Top,
}

impl NestedOption {
    /// Names and options; an alias has a name of its own.
    const NAMES: [(&str, Self); 11] = [
        ("$apply", Self::Apply),
        ("$compute", Self::Compute),
        ("$count", Self::Count),
        ("$expand", Self::Expand),
        ("$filter", Self::Filter),
        ("$levels", Self::Levels),
        ("$orderby", Self::OrderBy),
        ("$search", Self::Search),
        ("$select", Self::Select),
        ("$skip", Self::Skip),
        ("$top", Self::Top),
    ];
}

impl SystemOption {
    const NAMES: [(&str, Self); 6] = [
        ("$deltatoken", Self::DeltaToken),
        ("$format", Self::Format),
        ("$id", Self::Id),
        ("$index", Self::Index),
        ("$schemaversion", Self::SchemaVersion),
        ("$skiptoken", Self::SkipToken),
    ];

    /// The option of this name at the top of a URL.
    fn names() -> impl Iterator<Item = (&'static str, Self)> {
        let own = Self::NAMES.into_iter();
        let nested = NestedOption::NAMES
            .into_iter()
            .filter(|(_, option)| *option != NestedOption::Levels)
            .map(|(name, option)| (name, Self::Nested(option)));
        own.chain(nested)
    }

    fn from_name(name: &str) -> Option<(&'static str, Self)> {
        Self::names().find(|(known, option)| match option {
            // Tokens are written by services, so only with their dollar.
            Self::DeltaToken | Self::SkipToken => known.eq_ignore_ascii_case(name),
            _ => is_named(known, name),
        })
    }
}

/// Whether `name` is `known` in any case and with or without `$`, as 4.01 allows.
fn is_named(known: &str, name: &str) -> bool {
    let bare = name.strip_prefix('$').unwrap_or(name);
    known[1..].eq_ignore_ascii_case(bare)
}

/// The canonical name of a system query option, `$filter` for `FILTER`.
pub(crate) fn system_option_name(name: &str) -> Option<&'static str> {
    SystemOption::from_name(name).map(|(name, _)| name)
}

/// Whether a system query option may be given twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Duplicates {
    /// As the protocol wants it.
    Refuse,
    /// As the grammar alone allows; the last one counts.
    Allow,
}

/// The options of a URL, split at `&`.
pub(crate) fn query_options(
    query: &str,
    base: usize,
    budget: &mut Budget,
    duplicates: Duplicates,
) -> Parsed<QueryOptions> {
    let mut parser = OptionsParser {
        form: is_form_encoded(query),
        duplicates,
        budget,
        seen: Vec::new(),
        nested: ExpandOptions::default(),
        options: QueryOptions::default(),
    };
    let mut at = base;
    for piece in query.split('&') {
        // An empty piece (`a=1&&b=2`, a trailing `&`) says nothing.
        if !piece.is_empty() {
            parser.option(piece, at)?;
        }
        at += piece.len() + 1;
    }
    Ok(parser.finish())
}

struct OptionsParser<'b> {
    form: bool,
    duplicates: Duplicates,
    budget: &'b mut Budget,
    seen: Vec<&'static str>,
    nested: ExpandOptions,
    options: QueryOptions,
}

impl OptionsParser<'_> {
    fn text(&self, piece: &str, at: usize) -> Parsed<Text> {
        if self.form { Text::form_decoded(piece, at) } else { Text::percent_decoded(piece, at) }
    }

    fn option(&mut self, piece: &str, at: usize) -> Parsed<()> {
        let (raw_name, raw_value) = match piece.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (piece, None),
        };
        let name = self.text(raw_name, at)?;
        let name = name.as_str();
        let value_at = at + raw_name.len() + 1;
        let position = Position::new(at);
        if name.starts_with('@') {
            return self.alias(raw_name, raw_value, at);
        }
        let Some((known, option)) = SystemOption::from_name(name) else {
            if name.starts_with('$') || name.is_empty() {
                let known = SystemOption::names().map(|(known, _)| known);
                let closest = names::closest(name, known);
                let kind = SyntaxErrorKind::UnknownOption { name: echo(name), closest };
                return Err(SyntaxError::new(position, kind));
            }
            let value = self.text(raw_value.unwrap_or_default(), value_at)?.as_str().to_owned();
            self.options.custom.push(CustomOption { at: position, name: name.to_owned(), value });
            return Ok(());
        };
        let within = |error: SyntaxError| SyntaxError { within: Some(known.to_owned()), ..error };
        if self.seen.contains(&known) && self.duplicates == Duplicates::Refuse {
            let kind = SyntaxErrorKind::DuplicateOption(known.to_owned());
            return Err(SyntaxError::new(position, kind));
        }
        self.seen.push(known);
        let Some(raw_value) = raw_value else {
            let kind = SyntaxErrorKind::Expected {
                expected: "`=` and a value",
                found: "the end".to_owned(),
            };
            return Err(within(SyntaxError::new(Position::new(value_at - 1), kind)));
        };
        let text = self.text(raw_value, value_at).map_err(within)?;
        self.value(option, &text).map_err(|error| in_value(known, &text, error))
    }

    fn alias(&mut self, raw_name: &str, raw_value: Option<&str>, at: usize) -> Parsed<()> {
        let name = self.text(raw_name, at)?;
        let mut cursor = Cursor::new(&name, self.budget);
        cursor.advance(1);
        let alias = identifier(&mut cursor)?.to_owned();
        cursor.require_end("`=` and a value")?;
        let within =
            |error: SyntaxError| SyntaxError { within: Some(format!("@{alias}")), ..error };
        let position = Position::new(at);
        if self.nested.aliases.iter().any(|other| other.name == alias)
            && self.duplicates == Duplicates::Refuse
        {
            let kind = SyntaxErrorKind::DuplicateOption(format!("@{alias}"));
            return Err(SyntaxError::new(position, kind));
        }
        let Some(raw_value) = raw_value else {
            return Err(within(cursor.expected("`=` and a value")));
        };
        let text = self.text(raw_value, at + raw_name.len() + 1).map_err(within)?;
        let value = whole(&text, self.budget, expression)
            .map_err(|error| in_value(&format!("@{alias}"), &text, error))?;
        self.nested.aliases.push(Alias { at: position, name: alias, value });
        Ok(())
    }

    fn value(&mut self, option: SystemOption, text: &Text) -> Parsed<()> {
        let mut cursor = Cursor::new(text, self.budget);
        match option {
            SystemOption::Nested(option) => {
                nested_value(&mut cursor, option, &mut self.nested)?;
                cursor.require_end("an operator or the end")
            }
            SystemOption::Format => {
                self.options.format = Some(format(&mut cursor)?);
                cursor.require_end("the end")
            }
            SystemOption::Index => {
                let start = cursor.index();
                cursor.eat(b'-');
                cursor.digits()?;
                let index = cursor.since(start).parse().map_err(|_| {
                    cursor.reset(start);
                    cursor.expected("a smaller number")
                })?;
                self.options.index = Some(index);
                cursor.require_end("the end")
            }
            SystemOption::DeltaToken => {
                opaque(&cursor).map(|token| self.options.delta_token = Some(token))
            }
            SystemOption::SkipToken => {
                opaque(&cursor).map(|token| self.options.skip_token = Some(token))
            }
            SystemOption::Id => opaque(&cursor).map(|id| self.options.id = Some(id)),
            SystemOption::SchemaVersion => {
                opaque(&cursor)?;
                let version = cursor
                    .take_while(|next| next.is_ascii_alphanumeric() || "-._~*".contains(next));
                self.options.schema_version = Some(version.to_owned());
                cursor.require_end("a version")
            }
        }
    }

    fn finish(self) -> QueryOptions {
        let ExpandOptions {
            apply,
            compute,
            filter,
            order_by,
            select,
            expand,
            search,
            top,
            skip,
            count,
            levels: _,
            aliases,
        } = self.nested;
        QueryOptions {
            apply,
            compute,
            filter,
            order_by,
            select,
            expand,
            search,
            top,
            skip,
            count,
            aliases,
            ..self.options
        }
    }
}

/// An error in the value of an option.
fn in_value(option: &str, value: &Text, error: SyntaxError) -> SyntaxError {
    let character = Some(value.character(error.at));
    SyntaxError { within: Some(option.to_owned()), character, ..error }
}

fn opaque(cursor: &Cursor<'_>) -> Parsed<String> {
    let text = cursor.rest();
    if text.is_empty() { Err(cursor.expected("a value")) } else { Ok(text.to_owned()) }
}

/// Parses a text from its first to its last character.
pub(crate) fn whole<T>(
    text: &Text,
    budget: &mut Budget,
    parse: impl FnOnce(&mut Cursor<'_>) -> Parsed<T>,
) -> Parsed<T> {
    let mut cursor = Cursor::new(text, budget);
    let parsed = parse(&mut cursor)?;
    cursor.require_end("an operator or the end")?;
    Ok(parsed)
}

/// One nested option, which must be among `allowed` and not have been given before.
pub(crate) fn nested_option(
    cursor: &mut Cursor<'_>,
    options: &mut ExpandOptions,
    allowed: &[NestedOption],
) -> Parsed<()> {
    cursor.count_node()?;
    let start = cursor.index();
    let at = cursor.position();
    if cursor.peek() == Some(b'@') {
        if !allowed.contains(&NestedOption::Alias) {
            return Err(cursor.expected("an option that is possible here"));
        }
        cursor.advance(1);
        let name = identifier(cursor)?.to_owned();
        cursor.require(b'=', "`=` and a value")?;
        if options.aliases.iter().any(|other| other.name == name) {
            cursor.reset(start);
            return Err(cursor.error(SyntaxErrorKind::DuplicateOption(format!("@{name}"))));
        }
        let value = expression(cursor)?;
        options.aliases.push(Alias { at, name, value });
        return Ok(());
    }
    let name = cursor.take_while(|next| next == '$' || next.is_ascii_alphabetic());
    let known = NestedOption::NAMES.into_iter().find(|(known, _)| is_named(known, name));
    let Some((name, option)) = known.filter(|(_, option)| allowed.contains(option)) else {
        cursor.reset(start);
        return Err(cursor.expected("an option that is possible here"));
    };
    if is_given(options, option) {
        cursor.reset(start);
        return Err(cursor.error(SyntaxErrorKind::DuplicateOption(name.to_owned())));
    }
    cursor.require(b'=', "`=` and a value")?;
    cursor.nested(|cursor| nested_value(cursor, option, options))
}

fn is_given(options: &ExpandOptions, option: NestedOption) -> bool {
    match option {
        NestedOption::Alias => false,
        NestedOption::Apply => options.apply.is_some(),
        NestedOption::Compute => !options.compute.is_empty(),
        NestedOption::Count => options.count.is_some(),
        NestedOption::Expand => options.expand.is_some(),
        NestedOption::Filter => options.filter.is_some(),
        NestedOption::Levels => options.levels.is_some(),
        NestedOption::OrderBy => !options.order_by.is_empty(),
        NestedOption::Search => options.search.is_some(),
        NestedOption::Select => options.select.is_some(),
        NestedOption::Skip => options.skip.is_some(),
        NestedOption::Top => options.top.is_some(),
    }
}

fn nested_value(
    cursor: &mut Cursor<'_>,
    option: NestedOption,
    options: &mut ExpandOptions,
) -> Parsed<()> {
    match option {
        NestedOption::Alias => return Err(cursor.expected("an option")),
        NestedOption::Apply => options.apply = Some(apply(cursor)?),
        NestedOption::Compute => options.compute = compute(cursor)?,
        NestedOption::Count => options.count = Some(boolean(cursor)?),
        NestedOption::Expand => options.expand = Some(expand(cursor)?),
        NestedOption::Filter => options.filter = Some(expression(cursor)?),
        NestedOption::Levels => options.levels = Some(levels(cursor)?),
        NestedOption::OrderBy => options.order_by = order_by(cursor)?,
        NestedOption::Search => {
            cursor.skip_space();
            options.search = Some(search(cursor)?);
        }
        NestedOption::Select => options.select = Some(select(cursor)?),
        NestedOption::Skip => options.skip = Some(cursor.number()?),
        NestedOption::Top => options.top = Some(cursor.number()?),
    }
    Ok(())
}

fn boolean(cursor: &mut Cursor<'_>) -> Parsed<bool> {
    if cursor.eat_text_ignoring_case("true") {
        Ok(true)
    } else if cursor.eat_text_ignoring_case("false") {
        Ok(false)
    } else {
        Err(cursor.expected("`true` or `false`"))
    }
}

fn levels(cursor: &mut Cursor<'_>) -> Parsed<Levels> {
    if cursor.eat_text_ignoring_case("max") {
        return Ok(Levels::Max);
    }
    if cursor.peek() == Some(b'0') {
        return Err(cursor.expected("a number from 1, or `max`"));
    }
    cursor.number().map(Levels::Exactly)
}

/// `$levels=2`, name included.
pub(crate) fn levels_option(cursor: &mut Cursor<'_>) -> Parsed<Option<Levels>> {
    let mut options = ExpandOptions::default();
    nested_option(cursor, &mut options, &[NestedOption::Levels])?;
    Ok(options.levels)
}

/// `expression as Name,…`.
pub(crate) fn compute(cursor: &mut Cursor<'_>) -> Parsed<Vec<ComputeItem>> {
    let mut items = Vec::new();
    loop {
        let at = cursor.position();
        let expr = expression(cursor)?;
        let name = alias_name(cursor)?;
        items.push(ComputeItem { at, expr, name });
        if !cursor.eat_spaced(b',') {
            return Ok(items);
        }
    }
}

/// ` as Name`.
pub(crate) fn alias_name(cursor: &mut Cursor<'_>) -> Parsed<String> {
    if !cursor.eat_operator("as") {
        return Err(cursor.expected("` as ` and a name"));
    }
    identifier(cursor).map(str::to_owned)
}

/// `expression desc,…`.
pub(crate) fn order_by(cursor: &mut Cursor<'_>) -> Parsed<Vec<OrderByItem>> {
    let mut items = Vec::new();
    loop {
        let expr = expression(cursor)?;
        let descending = direction(cursor);
        items.push(OrderByItem { expr, descending });
        if !cursor.eat_spaced(b',') {
            return Ok(items);
        }
    }
}

fn direction(cursor: &mut Cursor<'_>) -> bool {
    let start = cursor.index();
    if cursor.skip_space() {
        if cursor.eat_text_ignoring_case("desc") {
            return true;
        }
        if cursor.eat_text_ignoring_case("asc") {
            return false;
        }
    }
    cursor.reset(start);
    false
}

/// A format's short name or media type.
pub(crate) fn format(cursor: &mut Cursor<'_>) -> Parsed<Format> {
    let text = cursor.take_while(|_| true);
    if text.is_empty() {
        return Err(cursor.expected("a format such as `json`"));
    }
    Ok(match text.to_ascii_lowercase().as_str() {
        "json" => Format::Json,
        "xml" => Format::Xml,
        "atom" => Format::Atom,
        _ => Format::MediaType(text.to_owned()),
    })
}
