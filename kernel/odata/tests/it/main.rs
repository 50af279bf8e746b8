//! What the crate promises, by what it is given and what it answers.

mod apply;
mod batch;
mod bind;
mod bind_resources;
mod capabilities;
mod csdl;
mod expressions;
mod headers;
mod limits;
mod nested_payload;
mod options;
mod payload;
mod printing;
mod resource;
mod rewriting;
mod robustness;
mod rules;
mod shop;
mod typescript;
mod values;
