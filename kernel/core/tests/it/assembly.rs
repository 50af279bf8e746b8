use std::borrow::Cow;

use svc_core::{Kind, Module, Registry};

const EVENT: Kind = Kind::new("events");

struct Named {
    name: &'static str,
    requires: &'static [&'static str],
    events: &'static [&'static str],
}

impl Module for Named {
    fn name(&self) -> Cow<'static, str> {
        self.name.into()
    }

    fn requires(&self) -> &'static [&'static str] {
        self.requires
    }

    fn configure(&self, registry: &mut Registry) {
        for event in self.events {
            registry.contribute(EVENT, *event, "something happened");
        }
    }
}

fn module(name: &'static str, requires: &'static [&'static str]) -> Box<dyn Module> {
    Box::new(Named { name, requires, events: &[] })
}

fn problem(modules: Vec<Box<dyn Module>>) -> String {
    Registry::assemble(modules).unwrap_err().to_string()
}

#[test]
fn a_module_comes_after_those_it_requires() {
    let assembly = Registry::assemble(vec![
        module("shop", &["webhooks", "identity"]),
        module("webhooks", &["jobs"]),
        module("identity", &[]),
        module("jobs", &[]),
    ])
    .unwrap();
    let names: Vec<&str> = assembly.modules().iter().map(|info| info.name.as_str()).collect();
    assert_eq!(names, ["identity", "jobs", "webhooks", "shop"]);
}

#[test]
fn a_module_s_name_is_its_type_s() {
    struct PriceLists;
    impl Module for PriceLists {
        fn configure(&self, _: &mut Registry) {}
    }
    assert_eq!(PriceLists.name(), "price_lists");
}

#[test]
fn a_missing_requirement_is_named() {
    assert_eq!(
        problem(vec![module("webhooks", &["jobs"])]),
        "module `webhooks` requires the module `jobs`, which is not there; add it to the \
         application"
    );
}

#[test]
fn a_circle_is_shown_from_beginning_to_end() {
    assert_eq!(
        problem(vec![
            module("shop", &["chat"]),
            module("chat", &["files"]),
            module("files", &["search"]),
            module("search", &["chat"]),
        ]),
        "modules require each other in a circle: `chat` → `files` → `search` → `chat`; take one of \
         the requirements out"
    );
}

#[test]
fn a_module_that_is_added_twice_is_refused() {
    assert_eq!(
        problem(vec![module("jobs", &[]), module("jobs", &[])]),
        "module `jobs` is added twice; add it once, or give one of them another name"
    );
}

#[test]
fn two_things_of_one_kind_can_not_share_a_name() {
    let modules: Vec<Box<dyn Module>> = vec![
        Box::new(Named { name: "shop", requires: &[], events: &["stock.low"] }),
        Box::new(Named { name: "stock", requires: &[], events: &["stock.low"] }),
    ];
    assert_eq!(
        problem(modules),
        "module `stock`: `stock.low` is already among the events of module `shop`; give one of \
         them another name"
    );
}
