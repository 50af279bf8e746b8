//! The order of modules: each after those that it requires, otherwise as they were added.

use std::collections::{BTreeMap, BTreeSet};

use super::Module;
use crate::names::snake_case;

/// Sorts modules so that each comes after those it requires.
///
/// The error has a line for each duplicate and each missing requirement, or one for a circle.
pub(super) fn sort(modules: Vec<Box<dyn Module>>) -> Result<Vec<Box<dyn Module>>, Vec<String>> {
    let mut problems = Vec::new();
    let mut names = BTreeSet::new();
    for module in &modules {
        if !names.insert(module.name().into_owned()) {
            problems.push(format!(
                "module `{}` is added twice; add it once, or give one of them another name",
                module.name()
            ));
        }
    }
    for module in &modules {
        for required in module.requires() {
            if !names.contains(*required) {
                problems.push(format!(
                    "module `{}` requires the module `{required}`, which is not there; add it to \
                     the application",
                    module.name()
                ));
            }
        }
    }
    if problems.is_empty() { place(modules) } else { Err(problems) }
}

fn place(mut waiting: Vec<Box<dyn Module>>) -> Result<Vec<Box<dyn Module>>, Vec<String>> {
    let mut placed: Vec<Box<dyn Module>> = Vec::with_capacity(waiting.len());
    let mut done = BTreeSet::new();
    while !waiting.is_empty() {
        let ready = |module: &dyn Module| module.requires().iter().all(|r| done.contains(*r));
        let Some(index) = waiting.iter().position(|module| ready(module.as_ref())) else {
            return Err(vec![describe_circle(&waiting)]);
        };
        let module = waiting.remove(index);
        done.insert(module.name().into_owned());
        placed.push(module);
    }
    Ok(placed)
}

/// Follows requirements among modules that all wait for another until one comes twice.
fn describe_circle(waiting: &[Box<dyn Module>]) -> String {
    let next: BTreeMap<String, String> = waiting
        .iter()
        .filter_map(|module| {
            let blocked =
                module.requires().iter().find(|r| waiting.iter().any(|w| w.name() == **r));
            Some((module.name().into_owned(), (*blocked?).to_owned()))
        })
        .collect();
    let mut path = vec![waiting[0].name().into_owned()];
    loop {
        let following = next[path.last().expect("the path begins with a module")].clone();
        if let Some(start) = path.iter().position(|name| *name == following) {
            path.push(following);
            return format!(
                "modules require each other in a circle: `{}`; take one of the requirements out",
                path[start..].join("` → `")
            );
        }
        path.push(following);
    }
}

/// The name of a type without its path: `svc_webhooks::Webhooks` becomes `webhooks`, `a::PriceLists` becomes
/// `price_lists`.
pub(super) fn name_of_type(type_name: &str) -> String {
    let name = type_name.split('<').next().unwrap_or(type_name);
    snake_case(name.rsplit("::").next().unwrap_or(name))
}
