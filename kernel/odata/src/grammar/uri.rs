//! URLs as a whole.

use super::context;
use crate::syntax::ParseLimits;
use crate::syntax::cursor::{Budget, Cursor, Parsed};
use crate::syntax::parse::{self, Duplicates};
use crate::syntax::text::Text;
use crate::syntax::{
    Format, Position, ResourcePath, ResourceSegmentKind, SyntaxError, SyntaxErrorKind,
};

fn error(at: usize, expected: &'static str) -> SyntaxError {
    let kind = SyntaxErrorKind::Expected { expected, found: "something else".to_owned() };
    SyntaxError::new(Position::new(at), kind)
}

/// An absolute URL: a service root, which may have any number of segments, and what follows.
pub(super) fn absolute(input: &str) -> Parsed<()> {
    let lower = input.to_ascii_lowercase();
    let scheme = ["https://", "http://"].into_iter().find(|scheme| lower.starts_with(scheme));
    let start = scheme.ok_or_else(|| error(0, "`http://` or `https://`"))?.len();
    let slash = input[start..].find('/').ok_or_else(|| error(input.len(), "`/`"))? + start;
    authority(&input[start..slash], start)?;
    // The service root ends at any slash of the path; the furthest failure is the telling one.
    let end = input[slash..].find(['?', '#']).map_or(input.len(), |end| end + slash);
    let mut furthest = error(slash, "a service root");
    for (at, _) in input[slash..end].match_indices('/') {
        let root = slash + at + 1;
        if root == input.len() {
            return Ok(());
        }
        match relative(&input[root..], root) {
            Ok(()) => return Ok(()),
            Err(found) if found.at.offset() >= furthest.at.offset() => furthest = found,
            Err(_) => {}
        }
    }
    Err(furthest)
}

/// A host and an optional port.
fn authority(text: &str, base: usize) -> Parsed<()> {
    let (host, port) = if let Some(rest) = text.strip_prefix('[') {
        let end = rest.find(']').ok_or_else(|| error(base + text.len(), "`]`"))?;
        let address = &rest[..end];
        let is_future = address.starts_with(['v', 'V']);
        if !is_future && address.parse::<std::net::Ipv6Addr>().is_err() {
            return Err(error(base + 1, "an IPv6 address"));
        }
        (end + 2, &rest[end + 1..])
    } else {
        let end = text.find(':').unwrap_or(text.len());
        (end, &text[end..])
    };
    let is_port = port.is_empty()
        || port
            .strip_prefix(':')
            .is_some_and(|port| port.bytes().all(|byte| byte.is_ascii_digit()));
    if is_port { Ok(()) } else { Err(error(base + host, "a port")) }
}

/// What follows the service root, which stood `base` bytes into the text.
pub(super) fn relative(input: &str, base: usize) -> Parsed<()> {
    if let Some((path, fragment)) = input.split_once('#') {
        self::path(path, base)?;
        return context::fragment(fragment, base + path.len() + 1);
    }
    let Some((path, query)) = input.split_once('?') else {
        let found = parse_path(input, base)?;
        let needs_id = matches!(first(&found), Some(ResourceSegmentKind::Entity));
        return if needs_id { Err(error(base + input.len(), "`?` and `$id`")) } else { Ok(()) };
    };
    let query_base = base + path.len() + 1;
    let found = parse_path(path, base)?;
    match first(&found) {
        Some(ResourceSegmentKind::Entity) => {
            entity_options(query, query_base, found.segments.len() > 1)
        }
        Some(ResourceSegmentKind::Batch | ResourceSegmentKind::Metadata) => {
            allowed_options(query, query_base, &["$format"])
        }
        _ => options(query, query_base),
    }
}

fn first(path: &ResourcePath) -> Option<&ResourceSegmentKind> {
    path.segments.first().map(|segment| &segment.kind)
}

/// `$entity` needs an id; without a cast it can't be shaped.
pub(super) fn entity_options(query: &str, base: usize, cast: bool) -> Parsed<()> {
    let allowed: &[&str] =
        if cast { &["$id", "$format", "$expand", "$select"] } else { &["$id", "$format"] };
    allowed_options(query, base, allowed)?;
    let names = query.split('&').map(|option| option.split('=').next().unwrap_or_default());
    if names.into_iter().any(|name| name.trim_start_matches('$').eq_ignore_ascii_case("id")) {
        Ok(())
    } else {
        Err(error(base + query.len(), "`$id`"))
    }
}

/// Custom options, and these system options only.
pub(super) fn allowed_options(query: &str, base: usize, allowed: &[&str]) -> Parsed<()> {
    let mut at = base;
    for option in query.split('&') {
        let name = option.split('=').next().unwrap_or_default();
        let known = parse::system_option_name(name);
        if known.is_some_and(|known| !allowed.contains(&known)) {
            return Err(error(at, "an option that is possible here"));
        }
        options(option, at)?;
        at += option.len() + 1;
    }
    Ok(())
}

/// A resource path.
pub(super) fn path(input: &str, base: usize) -> Parsed<()> {
    parse_path(input, base).map(drop)
}

fn parse_path(input: &str, base: usize) -> Parsed<ResourcePath> {
    let text = Text::percent_decoded(input, base)?;
    let mut budget = Budget::new(ParseLimits::default());
    parse::resource_path(&mut Cursor::in_path(&text, &mut budget))
}

/// Query options; the grammar alone lets them repeat, and knows no short names of formats but its
/// own.
pub(super) fn options(input: &str, base: usize) -> Parsed<()> {
    let mut budget = Budget::new(ParseLimits::default());
    let found = parse::query_options(input, base, &mut budget, Duplicates::Allow)?;
    match found.format {
        Some(Format::MediaType(text)) if !text.contains('/') => {
            Err(error(base + input.len(), "`json`, `xml`, `atom` or a media type"))
        }
        _ => Ok(()),
    }
}

/// One option with a name of the standard, or with exactly this one.
pub(super) fn system_option(input: &str, name: Option<&str>) -> Parsed<()> {
    let found = parse::system_option_name(input.split('=').next().unwrap_or_default());
    let fits = found.is_some_and(|found| name.is_none_or(|name| name == found));
    if fits { options(input, 0) } else { Err(error(0, "another query option")) }
}

/// One option with any other name.
pub(super) fn custom_option(input: &str) -> Parsed<()> {
    if input.starts_with(['$', '@']) || input.is_empty() {
        return Err(error(0, "a name that begins with neither `$` nor `@`"));
    }
    options(input, 0)
}
