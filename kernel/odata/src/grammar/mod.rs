//! The parsers under the names of the standard's ABNF rules, to hold them against lists of cases.
//!
//! [`check`] says whether a text is what a rule describes. The rules that name kinds of things
//! (`entitySetName`, `primitiveProperty`) are all alike here: what a name stands for is known only
//! with a model.

mod context;
mod header;
mod uri;
mod value;

use crate::syntax::ParseLimits;
use crate::syntax::cursor::{Budget, Cursor, Parsed};
use crate::syntax::parse;
use crate::syntax::text::Text;
use crate::syntax::{ExprKind, Literal, PathRoot, SegmentKind};

/// Whether `input` is what the ABNF rule `rule` describes; if not, the offset in bytes where that
/// shows. None for a rule that is not known here.
#[must_use]
pub fn check(rule: &str, input: &str) -> Option<Result<(), usize>> {
    let rule = rule.to_ascii_lowercase();
    if let Some(result) = value::check(&rule, input) {
        return Some(result);
    }
    let parse = parser(&rule)?;
    Some(parse(input).map_err(|error| error.at.offset()))
}

type Parse = fn(&str) -> Parsed<()>;

/// What reads the text of a rule, by its name in lower case.
fn parser(rule: &str) -> Option<Parse> {
    Some(match rule {
        "odatauri" => uri::absolute,
        "odatarelativeuri" => |input| uri::relative(input, 0),
        "resourcepath" => |input| uri::path(input, 0),
        "queryoptions" => |input| uri::options(input, 0),
        "systemqueryoption" | "queryoption" | "compute" | "expand" | "filter" | "orderby"
        | "search" | "select" | "skip" | "top" | "index" | "format" | "inlinecount" | "apply"
        | "schemaversion" | "skiptoken" | "deltatoken" | "id" => uri::system_option,
        "customqueryoption" => uri::custom_option,
        "aliasandvalue" => |input| uri::options(input, 0),
        "levels" => |input| nested(input, "levels"),
        "context" => context::context,
        "header" => header::header,
        "preference"
        | "includeannotationspreference"
        | "maxpagesizepreference"
        | "callbackpreference"
        | "continueonerrorpreference"
        | "omitvaluespreference"
        | "respondasyncpreference"
        | "returnpreference"
        | "trackchangespreference"
        | "waitpreference"
        | "allowentityreferencespreference" => header::preference,
        "request-id" => header::request_id,
        "commonexpr" | "boolcommonexpr" | "parametervalue" | "methodcallexpr"
        | "boolmethodcallexpr" | "castexpr" | "isofexpr" | "rootexpr" | "arrayorobject"
        | "parenexpr" | "negateexpr" | "notexpr" => {
            |input| whole(input, |cursor| parse::expression(cursor).map(drop))
        }
        "firstmemberexpr" | "memberexpr" | "propertypathexpr" | "functionexpr"
        | "boundfunctionexpr" | "annotationexpr" | "directmemberexpr" => member,
        "anyexpr" => |input| lambda(input, "any", true),
        "allexpr" => |input| lambda(input, "all", false),
        "searchexpr" => |input| whole(input, |cursor| parse::search(cursor).map(drop)),
        "functionparameter" => |input| whole(input, |cursor| parse::parameter(cursor).map(drop)),
        "keypredicate" | "simplekey" | "compoundkey" | "functionparameters" => {
            |input| whole(input, |cursor| parse::path_arguments(cursor).map(drop))
        }
        "odataidentifier" | "entitysetname" | "singletonentity" | "entitytypename"
        | "complextypename" | "parametername" | "namespacepart" => {
            |input| whole(input, |cursor| parse::identifier(cursor).map(drop))
        }
        "namespace" | "qualifiedentitytypename" | "qualifiedcomplextypename" => {
            |input| whole(input, |cursor| parse::qualified_name(cursor).map(drop))
        }
        "primitiveliteral" => primitive_literal,
        "enumliteral" => |input| whole(input, |cursor| parse::enum_literal(cursor).map(drop)),
        "stringliteral" => |input| whole(input, |cursor| parse::quoted(cursor).map(drop)),
        "binaryliteral" => |input| literal(input, |literal| matches!(literal, Literal::Binary(_))),
        "durationliteral" => duration,
        "datetimeoffsetliteral" => {
            |input| literal(input, |literal| matches!(literal, Literal::DateTimeOffset(_)))
        }
        "timeofdayliteral" => {
            |input| literal(input, |literal| matches!(literal, Literal::TimeOfDay(_)))
        }
        "decimalliteral" | "doubleliteral" | "singleliteral" | "sbyteliteral" | "int16literal"
        | "int32literal" | "int64literal" => {
            |input| literal(input, |literal| matches!(literal, Literal::Number(_)))
        }
        "null" => |input| literal(input, |literal| *literal == Literal::Null),
        "boolean" => |input| literal(input, |literal| matches!(literal, Literal::Boolean(_))),
        rule if rule.starts_with("geography") || rule.starts_with("geometry") => {
            |input| literal(input, |literal| matches!(literal, Literal::Geo { .. }))
        }
        _ => return None,
    })
}

/// Reads a percent-encoded text from its first to its last character.
fn whole(input: &str, parse: impl FnOnce(&mut Cursor<'_>) -> Parsed<()>) -> Parsed<()> {
    let text = Text::percent_decoded(input, 0)?;
    let mut budget = Budget::new(ParseLimits::default());
    parse::whole(&text, &mut budget, parse)
}

fn primitive_literal(input: &str) -> Parsed<()> {
    literal(input, |_| true)
}

/// A primitive literal of one kind.
fn literal(input: &str, is_kind: impl Fn(&Literal) -> bool) -> Parsed<()> {
    whole(input, |cursor| match parse::primitive_literal(cursor)? {
        Some(literal) if is_kind(&literal) => Ok(()),
        Some(_) => {
            cursor.reset(0);
            Err(cursor.expected("another kind of literal"))
        }
        None => Err(cursor.expected("a literal")),
    })
}

/// Here the prefix can be left out.
fn duration(input: &str) -> Parsed<()> {
    if input.starts_with('\'') {
        let inner = input.trim_matches('\'');
        return match value::check("durationvalue", inner) {
            Some(Ok(())) => Ok(()),
            _ => whole(input, |cursor| Err(cursor.expected("a duration"))),
        };
    }
    literal(input, |literal| matches!(literal, Literal::Duration(_)))
}

/// A path that is no literal and no function of the standard.
fn member(input: &str) -> Parsed<()> {
    whole(input, |cursor| {
        let expr = parse::expression(cursor)?;
        let is_path = match &expr.kind {
            ExprKind::Path(path) => {
                path.root != PathRoot::Root
                    && !path.segments.iter().any(|s| matches!(s.kind, SegmentKind::Count(Some(_))))
            }
            _ => false,
        };
        if is_path {
            return Ok(());
        }
        cursor.reset(0);
        Err(cursor.expected("a path"))
    })
}

fn lambda(input: &str, keyword: &str, may_be_empty: bool) -> Parsed<()> {
    whole(input, |cursor| {
        if !cursor.eat_text_ignoring_case(keyword) {
            return Err(cursor.expected("`any` or `all`"));
        }
        parse::lambda(cursor, may_be_empty).map(drop)
    })
}

fn nested(input: &str, _: &str) -> Parsed<()> {
    whole(input, |cursor| parse::levels_option(cursor).map(drop))
}
