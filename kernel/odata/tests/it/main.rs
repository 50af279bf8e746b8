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
mod options;
mod payload;
mod printing;
mod resource;
mod robustness;
mod rules;
mod shop;
mod typescript;
mod values;
