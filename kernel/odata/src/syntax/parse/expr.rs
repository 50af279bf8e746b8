//! Expressions, by the precedence of URL Conventions 5.1.1.15.

use super::{array_or_object, member_path, primitive_literal, qualified_name, type_name};
use crate::names::closest;
use crate::syntax::ast::{
    BinaryOperator, Expr, ExprKind, Function, Path, SegmentKind, TypeName, UnaryOperator,
};
use crate::syntax::cursor::{Cursor, Parsed};
use crate::syntax::lexical;
use crate::syntax::{Position, SyntaxError, SyntaxErrorKind};

/// Operators from the loosest to the tightest, without `or` and `and`, which are loosest of all.
const LEVELS: [&[BinaryOperator]; 4] = [
    &[BinaryOperator::Equal, BinaryOperator::NotEqual],
    &[
        BinaryOperator::GreaterOrEqual,
        BinaryOperator::Greater,
        BinaryOperator::LessOrEqual,
        BinaryOperator::Less,
    ],
    &[BinaryOperator::Add, BinaryOperator::Subtract],
    &[
        BinaryOperator::Multiply,
        BinaryOperator::DivideBy,
        BinaryOperator::Divide,
        BinaryOperator::Modulo,
    ],
];

/// Any expression.
pub(crate) fn expression(cursor: &mut Cursor<'_>) -> Parsed<Expr> {
    cursor.nested(disjunction)
}

/// Operands joined by `or`, as one node however many there are.
fn disjunction(cursor: &mut Cursor<'_>) -> Parsed<Expr> {
    let at = cursor.position();
    let first = conjunction(cursor)?;
    if !cursor.eat_operator("or") {
        return Ok(first);
    }
    cursor.count_node()?;
    let mut operands = vec![first, conjunction(cursor)?];
    while cursor.eat_operator("or") {
        operands.push(conjunction(cursor)?);
    }
    Ok(Expr { at, kind: ExprKind::Or(operands) })
}

/// Operands joined by `and`, as one node however many there are.
fn conjunction(cursor: &mut Cursor<'_>) -> Parsed<Expr> {
    let at = cursor.position();
    let first = binary(cursor, 0)?;
    if !cursor.eat_operator("and") {
        return Ok(first);
    }
    cursor.count_node()?;
    let mut operands = vec![first, binary(cursor, 0)?];
    while cursor.eat_operator("and") {
        operands.push(binary(cursor, 0)?);
    }
    Ok(Expr { at, kind: ExprKind::And(operands) })
}

/// Operands joined by operators of a level and the tighter ones, grouped from the left.
///
/// One call goes through all levels, so that nested parentheses take little of the stack: what is
/// to the left of an operator is finished when the operator is found, and only what is to the
/// right of it, up to the next operator as loose, takes a call of its own.
fn binary(cursor: &mut Cursor<'_>, loosest: usize) -> Parsed<Expr> {
    let at = cursor.position();
    let mut left = unary(cursor)?;
    // The tree grows to the left without recursion here, but not in those who walk it.
    let mut grown = 0;
    while let Some((operator, level)) = operator(cursor, loosest) {
        cursor.count_node()?;
        cursor.deepen(1)?;
        grown += 1;
        let right = binary(cursor, level + 1)?;
        left = Expr { at, kind: ExprKind::Binary(operator, Box::new(left), Box::new(right)) };
    }
    cursor.rise(grown);
    Ok(left)
}

/// An operator of a level, or of a tighter one.
fn operator(cursor: &mut Cursor<'_>, loosest: usize) -> Option<(BinaryOperator, usize)> {
    let levels = LEVELS.iter().enumerate().skip(loosest);
    let mut all = levels.flat_map(|(level, all)| all.iter().map(move |found| (*found, level)));
    all.find(|(operator, _)| cursor.eat_operator(operator.keyword()))
}

/// `not x`, `-x`, or something tighter.
fn unary(cursor: &mut Cursor<'_>) -> Parsed<Expr> {
    let at = cursor.position();
    let operator = if eat_not(cursor) {
        UnaryOperator::Not
    } else if eat_minus(cursor) {
        UnaryOperator::Negate
    } else {
        return postfix(cursor);
    };
    cursor.count_node()?;
    let operand = cursor.nested(unary)?;
    Ok(Expr { at, kind: ExprKind::Unary(operator, Box::new(operand)) })
}

/// `not` before space or a parenthesis; the standard asks for the space, many clients omit it.
fn eat_not(cursor: &mut Cursor<'_>) -> bool {
    let start = cursor.index();
    if cursor.eat_text_ignoring_case("not") {
        if cursor.peek() == Some(b'(') || cursor.skip_space() {
            return true;
        }
        cursor.reset(start);
    }
    false
}

/// A minus that does not belong to a number.
fn eat_minus(cursor: &mut Cursor<'_>) -> bool {
    let rest = cursor.rest();
    let is_number = lexical::number(rest).is_ok()
        || lexical::not_finite(rest).is_ok()
        || lexical::date(rest).is_ok();
    if is_number || !cursor.eat(b'-') {
        return false;
    }
    cursor.skip_space();
    true
}

/// An operand with `has` and `in`, which bind tighter than everything else.
fn postfix(cursor: &mut Cursor<'_>) -> Parsed<Expr> {
    let at = cursor.position();
    let mut left = primary(cursor)?;
    let mut grown = 0;
    loop {
        let kind = if cursor.eat_operator("has") {
            let right = primary(cursor)?;
            ExprKind::Binary(BinaryOperator::Has, Box::new(left), Box::new(right))
        } else if cursor.eat_operator("in") {
            let right = list(cursor)?;
            ExprKind::In(Box::new(left), Box::new(right))
        } else {
            break;
        };
        cursor.count_node()?;
        cursor.deepen(1)?;
        grown += 1;
        left = Expr { at, kind };
    }
    cursor.rise(grown);
    Ok(left)
}

/// The right side of `in`: literals in parentheses, or an expression that is a collection.
fn list(cursor: &mut Cursor<'_>) -> Parsed<Expr> {
    let start = cursor.index();
    let at = cursor.position();
    if !cursor.eat(b'(') {
        return primary(cursor);
    }
    cursor.skip_space();
    let mut items = Vec::new();
    if cursor.eat(b')') {
        return Ok(Expr { at, kind: ExprKind::List(items) });
    }
    loop {
        let at = cursor.position();
        cursor.count_node()?;
        let Some(literal) = primitive_literal(cursor)? else { break };
        items.push(Expr { at, kind: ExprKind::Literal(literal) });
        if !cursor.eat_spaced(b',') {
            break;
        }
    }
    cursor.skip_space();
    if !items.is_empty() && cursor.eat(b')') {
        return Ok(Expr { at, kind: ExprKind::List(items) });
    }
    // Not literals: an expression in parentheses, which must be a collection.
    cursor.reset(start);
    primary(cursor)
}

fn primary(cursor: &mut Cursor<'_>) -> Parsed<Expr> {
    let at = cursor.position();
    cursor.count_node()?;
    if let Some(literal) = primitive_literal(cursor)? {
        return Ok(Expr { at, kind: ExprKind::Literal(literal) });
    }
    match cursor.peek() {
        Some(b'(') => parenthesised(cursor),
        Some(b'[' | b'{') => array_or_object(cursor),
        Some(b'$' | b'@') => path(cursor),
        _ if cursor.peek_char().is_some_and(lexical::starts_identifier) => call_or_path(cursor),
        Some(b' ') => after_space(cursor),
        _ => Err(cursor.expected("an expression")),
    }
}

/// Only arrays and objects may have space in front.
fn after_space(cursor: &mut Cursor<'_>) -> Parsed<Expr> {
    cursor.skip_space();
    match cursor.peek() {
        Some(b'[' | b'{') => array_or_object(cursor),
        _ => Err(cursor.expected("an expression without space in front")),
    }
}

fn parenthesised(cursor: &mut Cursor<'_>) -> Parsed<Expr> {
    cursor.require(b'(', "`(`")?;
    cursor.skip_space();
    let inner = expression(cursor)?;
    close(cursor)?;
    Ok(inner)
}

fn close(cursor: &mut Cursor<'_>) -> Parsed<()> {
    cursor.skip_space();
    cursor.require(b')', "`)` or an operator")
}

fn path(cursor: &mut Cursor<'_>) -> Parsed<Expr> {
    let path = member_path(cursor)?;
    refuse_type_alone(cursor, &path)?;
    Ok(Expr { at: path.at, kind: ExprKind::Path(path) })
}

/// A qualified name alone is a type, and a type alone has no value.
fn refuse_type_alone(cursor: &Cursor<'_>, path: &Path) -> Parsed<()> {
    match path.segments.as_slice() {
        [segment] => match &segment.kind {
            SegmentKind::Name { name, arguments: None }
                if name.contains('.') && !is_before_aggregation(cursor) =>
            {
                Err(cursor.expected("`/` and a property, or `(` and parameters"))
            }
            _ => Ok(()),
        },
        _ => Ok(()),
    }
}

/// Whether ` with ` follows: aggregation methods of a service work on whole instances.
fn is_before_aggregation(cursor: &Cursor<'_>) -> bool {
    cursor.rest().trim_start_matches([' ', '\t']).starts_with("with ")
}

/// A function of the standard, or a path.
fn call_or_path(cursor: &mut Cursor<'_>) -> Parsed<Expr> {
    let start = cursor.index();
    let at = cursor.position();
    let name = qualified_name(cursor)?;
    if cursor.peek() != Some(b'(') {
        cursor.reset(start);
        return path(cursor);
    }
    let kind = if let Some(function) = Function::from_name(name) {
        cursor.nested(|cursor| arguments(cursor, function))?
    } else if name.eq_ignore_ascii_case("case") {
        cursor.nested(cases)?
    } else if name.eq_ignore_ascii_case("cast") {
        let (operand, type_name) = cursor.nested(operand_and_type)?;
        ExprKind::Cast(operand, type_name)
    } else if name.eq_ignore_ascii_case("isof") {
        let (operand, type_name) = cursor.nested(operand_and_type)?;
        ExprKind::IsOf(operand, type_name)
    } else if ["any", "all", "aggregate"].iter().any(|word| name.eq_ignore_ascii_case(word)) {
        return Err(cursor.expected("`/` (this works on a collection, as in `Items/any(…)`)"));
    } else {
        let name = name.to_owned();
        cursor.reset(start);
        return path(cursor).map_err(|error| misspelt_function(error, at, &name));
    };
    Ok(Expr { at, kind })
}

/// The same error, unless a function was meant: its arguments look like a wrong key.
fn misspelt_function(error: SyntaxError, at: Position, name: &str) -> SyntaxError {
    let known = Function::ALL.iter().map(|function| function.name());
    match closest(name, known) {
        Some(meant) if matches!(error.kind, SyntaxErrorKind::Expected { .. }) => {
            let found = format!("`{name}`; did you mean `{meant}`?");
            let kind = SyntaxErrorKind::Expected { expected: "a function of OData", found };
            SyntaxError { at, kind, ..error }
        }
        _ => error,
    }
}

fn arguments(cursor: &mut Cursor<'_>, function: Function) -> Parsed<ExprKind> {
    cursor.require(b'(', "`(`")?;
    cursor.skip_space();
    let arity = function.arity();
    let mut arguments = Vec::with_capacity(*arity.end());
    while arguments.len() < *arity.end() {
        arguments.push(expression(cursor)?);
        if arguments.len() == *arity.end() || !cursor.eat_spaced(b',') {
            break;
        }
    }
    cursor.skip_space();
    if arguments.len() < *arity.start() {
        return Err(cursor.expected("`,` and a further argument"));
    }
    cursor.require(b')', "`)` or an operator")?;
    Ok(ExprKind::Call(function, arguments))
}

fn cases(cursor: &mut Cursor<'_>) -> Parsed<ExprKind> {
    cursor.require(b'(', "`(`")?;
    cursor.skip_space();
    let mut cases = Vec::new();
    loop {
        let condition = expression(cursor)?;
        if !cursor.eat_spaced(b':') {
            return Err(cursor.expected("`:` and the result"));
        }
        cases.push((condition, expression(cursor)?));
        if !cursor.eat_spaced(b',') {
            break;
        }
    }
    close(cursor)?;
    Ok(ExprKind::Case(cases))
}

/// `(Type)` or `(operand,Type)`.
fn operand_and_type(cursor: &mut Cursor<'_>) -> Parsed<(Option<Box<Expr>>, TypeName)> {
    cursor.require(b'(', "`(`")?;
    cursor.skip_space();
    let start = cursor.index();
    if let Ok(type_name) = type_name(cursor) {
        cursor.skip_space();
        if cursor.eat(b')') {
            return Ok((None, type_name));
        }
    }
    cursor.reset(start);
    let operand = expression(cursor)?;
    if !cursor.eat_spaced(b',') {
        return Err(cursor.expected("`,` and a type"));
    }
    let type_name = type_name(cursor)?;
    close(cursor)?;
    Ok((Some(Box::new(operand)), type_name))
}
