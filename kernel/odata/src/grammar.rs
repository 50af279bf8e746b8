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
    let result = url(&rule, input)
        .or_else(|| header::check(&rule, input))
        .or_else(|| expression(&rule, input))
        .or_else(|| literals(&rule, input))
        .or_else(|| names(&rule, input))?;
    Some(result.map_err(|error| error.at.offset()))
}

/// URLs, their parts, and what query options are made of.
fn url(rule: &str, input: &str) -> Option<Parsed<()>> {
    Some(match rule {
        "odatauri" => uri::absolute(input),
        "odatarelativeuri" => uri::relative(input, 0),
        "resourcepath" | "actionimportcall" | "crossjoin" | "functionimportcallnoparens" => {
            uri::path(input, 0)
        }
        rule if rule.ends_with("functionimportcall") => uri::path(input, 0),
        "queryoptions" | "queryoption" | "aliasandvalue" | "nameandvalue" => uri::options(input, 0),
        "batchoptions" | "batchoption" | "metadataoptions" | "metadataoption" => {
            uri::allowed_options(input, 0, &["$format"])
        }
        "entityoptions" => uri::entity_options(input, 0, false),
        "entitycastoptions" => uri::entity_options(input, 0, true),
        "systemqueryoption" => uri::system_option(input, None),
        "customqueryoption" => uri::custom_option(input),
        "inlinecount" => uri::system_option(input, Some("$count")),
        "compute" | "expand" | "filter" | "orderby" | "search" | "select" | "skip" | "top"
        | "index" | "format" | "apply" | "schemaversion" | "skiptoken" | "deltatoken" | "id" => {
            uri::system_option(input, Some(&format!("${rule}")))
        }
        "levels" => whole(input, |cursor| parse::levels_option(cursor).map(drop)),
        "expanditem" | "expandpath" => whole(input, |cursor| parse::expand(cursor).map(drop)),
        "selectitem" | "selectproperty" | "selectpath" => {
            whole(input, |cursor| parse::select(cursor).map(drop))
        }
        "orderbyitem" => whole(input, |cursor| parse::order_by(cursor).map(drop)),
        "computeitem" | "computeexpr" => whole(input, |cursor| parse::compute(cursor).map(drop)),
        "searchexpr"
        | "searchexpr-incomplete"
        | "searchparenexpr"
        | "searchnegateexpr"
        | "searchphrase"
        | "searchword" => whole(input, |cursor| parse::search(cursor).map(drop)),
        "context" => context::context(input),
        "contextfragment" => context::fragment(input, 0),
        "applyexpr" | "applytrafo" | "customfunction" => {
            whole(input, |cursor| parse::apply(cursor).map(drop))
        }
        rule if rule.ends_with("trafo") || rule.ends_with("trafos") => {
            whole(input, |cursor| parse::apply(cursor).map(drop))
        }
        _ => return None,
    })
}

/// Expressions and their parts.
fn expression(rule: &str, input: &str) -> Option<Parsed<()>> {
    Some(match rule {
        "commonexpr"
        | "boolcommonexpr"
        | "parametervalue"
        | "valueinurl"
        | "castexpr"
        | "isofexpr"
        | "rootexpr"
        | "arrayorobject"
        | "array"
        | "object"
        | "parenexpr"
        | "negateexpr"
        | "notexpr"
        | "isdefinedexpr"
        | "collectionexpr"
        | "lambdapredicateexpr" => whole(input, |cursor| parse::expression(cursor).map(drop)),
        rule if rule.ends_with("methodcallexpr") => {
            whole(input, |cursor| parse::expression(cursor).map(drop))
        }
        "firstmemberexpr"
        | "memberexpr"
        | "propertypathexpr"
        | "functionexpr"
        | "boundfunctionexpr"
        | "annotationexpr"
        | "directmemberexpr"
        | "currcollectionexpr"
        | "inscopevariableexpr"
        | "implicitvariableexpr" => member(input),
        "anyexpr" => lambda(input, "any", true),
        "allexpr" => lambda(input, "all", false),
        "functionparameter" | "keyvaluepair" => {
            whole(input, |cursor| parse::parameter(cursor).map(drop))
        }
        "keypropertyvalue" => whole(input, |cursor| parse::key_value(cursor).map(drop)),
        "keypredicate" | "simplekey" | "compoundkey" | "functionparameters" => {
            whole(input, |cursor| parse::path_arguments(cursor).map(drop))
        }
        _ => return None,
    })
}

/// Literals of URLs.
fn literals(rule: &str, input: &str) -> Option<Parsed<()>> {
    let number = |digits: usize| {
        move |literal: &Literal| match literal {
            Literal::Number(text) => {
                let text = text.trim_start_matches(['+', '-']);
                text.len() <= digits && text.bytes().all(|byte| byte.is_ascii_digit())
            }
            _ => false,
        }
    };
    Some(match rule {
        "primitiveliteral" => literal(input, |_| true),
        "enumliteral" => whole(input, |cursor| parse::enum_literal(cursor).map(drop)),
        "stringliteral" => whole(input, |cursor| parse::quoted(cursor).map(drop)),
        "binaryliteral" => literal(input, |literal| matches!(literal, Literal::Binary(_))),
        "durationliteral" => duration(input),
        "datetimeoffsetliteral" | "datetimeoffsetvalueinurl" => {
            literal(input, |literal| matches!(literal, Literal::DateTimeOffset(_)))
        }
        "timeofdayliteral" => literal(input, |literal| matches!(literal, Literal::TimeOfDay(_))),
        "decimalliteral" | "doubleliteral" | "singleliteral" => {
            literal(input, |literal| matches!(literal, Literal::Number(_)))
        }
        "sbyteliteral" => literal(input, number(3)),
        "int16literal" => literal(input, number(5)),
        "int32literal" => literal(input, number(10)),
        "int64literal" => literal(input, number(19)),
        "null" => literal(input, |literal| *literal == Literal::Null),
        "boolean" => literal(input, |literal| matches!(literal, Literal::Boolean(_))),
        rule if rule.starts_with("geography") || rule.starts_with("geometry") => {
            literal(input, |literal| matches!(literal, Literal::Geo { .. }))
        }
        _ => return None,
    })
}

/// Names; every rule that is nothing but an identifier.
fn names(rule: &str, input: &str) -> Option<Parsed<()>> {
    const KINDS: [&str; 9] = [
        "identifier",
        "name",
        "namepart",
        "property",
        "function",
        "import",
        "alias",
        "part",
        "qualifier",
    ];
    Some(match rule {
        "namespace" => whole(input, |cursor| parse::qualified_name(cursor).map(drop)),
        "parameteralias" => whole(input, |cursor| {
            cursor.require(b'@', "`@`")?;
            parse::identifier(cursor).map(drop)
        }),
        "annotationinquery" => whole(input, |cursor| parse::annotation(cursor).map(drop)),
        rule if rule.ends_with("annotationinquery") => {
            whole(input, |cursor| parse::annotation(cursor).map(drop))
        }
        rule if rule.starts_with("qualified") && rule.ends_with("name") => whole(input, |cursor| {
            let name = parse::type_name(cursor)?;
            if name.name.contains('.') { Ok(()) } else { Err(cursor.expected("`.`")) }
        }),
        rule if rule.starts_with("optionallyqualified") || rule == "primitivetypename" => {
            whole(input, |cursor| parse::type_name(cursor).map(drop))
        }
        "action" | "singletonentity" | "enumerationmember" | "customaggregate"
        | "lambdavariableexpr" => whole(input, |cursor| parse::identifier(cursor).map(drop)),
        rule if KINDS.iter().any(|kind| rule.ends_with(kind)) => {
            whole(input, |cursor| parse::identifier(cursor).map(drop))
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
