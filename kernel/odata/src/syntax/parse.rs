//! The parser: recursive descent, a file for each part of the grammar.

mod apply;
mod expand;
mod expr;
mod json;
mod literal;
mod options;
mod path;
mod resource;
mod search;
mod select;

pub(crate) use apply::apply;
pub(crate) use expand::expand;
pub(crate) use expr::expression;
pub(crate) use json::array_or_object;
pub(crate) use literal::{
    enum_literal, geo, identifier, primitive_literal, qualified_name, quoted, type_name,
};
pub(crate) use options::{
    Duplicates, compute, levels_option, order_by, query_options, system_option_name, whole,
};
pub(crate) use path::{annotation, lambda, member_path};
pub(crate) use resource::{key_value, parameter, path_arguments, resource_path};
pub(crate) use search::search;
pub(crate) use select::select;
