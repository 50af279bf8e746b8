//! What `cargo xtask test --only <what>` means.
//!
//! - A step: `build`, `shell-e2e`.
//! - A crate, all its tests or those whose name contains something: `svc-data`, `svc-data::sets::page`.
//! - A folder or file: `kernel/data`, `kernel/data/tests/it/sets.rs`, `shell`.
//!
//! Each brings the step that sees to what it needs on the machine. Crates bring the step that builds their tests, what
//! runs through npm the one that installs its packages, and so do programs that carry the web client: without it they serve less.

use crate::failure::{Failure, Result};
use crate::steps::{self, Action, NPM_FOLDERS, Step};
use crate::workspace::{Package, Workspace};

/// The program that end-to-end tests drive is built from this crate.
pub(crate) const SHOP: &str = "shop";

/// The folder of the applications, which carry the web client.
const EXAMPLES: &str = "examples/";

/// The smallest example, which the web client is played in front of, too.
const LENDING: &str = "lending";

/// The example of what generated apps are told in Rust, which the web client is played in front of, too.
const OFFICE: &str = "office";

/// The steps that are meant, in their usual order; all when nothing is named.
pub(crate) fn steps(workspace: &Workspace, wanted: &[String]) -> Result<Vec<Step>> {
    let all = steps::all(workspace);
    if wanted.is_empty() {
        return Ok(all);
    }
    let mut chosen: Vec<Step> = Vec::new();
    for name in wanted {
        for step in meant(workspace, &all, name)? {
            match chosen.iter_mut().find(|other| other.name == step.name) {
                Some(other) => join(other, step),
                None => chosen.push(step),
            }
        }
    }
    let is_needed = |step: &&Step| match step.action {
        Action::Prerequisites => true,
        Action::Client => chosen.iter().any(needs_client),
        _ => false,
    };
    let is_missing = |step: &&Step| chosen.iter().all(|it| it.name != step.name);
    let needed: Vec<Step> = all.iter().filter(is_needed).filter(is_missing).cloned().collect();
    chosen.extend(needed);
    let position = |name: &str| all.iter().position(|step| step.name == name);
    chosen.sort_by_key(|step| position(&step.name));
    insert_build(&mut chosen);
    Ok(chosen)
}

/// Whether a step needs the web client, or the packages that it is built of.
fn needs_client(step: &Step) -> bool {
    match &step.action {
        Action::Npm { .. } | Action::NpmWithShop { .. } => true,
        Action::Crate { package, .. } => {
            package.folder.starts_with(EXAMPLES) || steps::is_end_to_end(package)
        }
        _ => false,
    }
}

/// What one name means.
fn meant(workspace: &Workspace, all: &[Step], name: &str) -> Result<Vec<Step>> {
    let step = |name: &str| all.iter().find(|step| step.name == name);
    if let Some(found) = step(name) {
        return Ok(vec![found.clone()]);
    }
    let (package, filter) = name.split_once("::").unwrap_or((name, ""));
    if let Some(found) = step(package) {
        if let Action::Crate { package, .. } = &found.action {
            return Ok(vec![filtered(package, filter)]);
        }
    } else if workspace.has(name) {
        return of_path(workspace, all, name.trim_end_matches('/'));
    }
    let names: Vec<&str> = all.iter().map(|step| step.name.as_str()).collect();
    Err(Failure::new(format!(
        "`{name}` isn't a step, crate, folder or file; the steps are {}; of a crate's tests some are \
         chosen with `<crate>::<part of their name>`",
        names.join(", ")
    )))
}

/// The tests of a folder or file.
fn of_path(workspace: &Workspace, all: &[Step], path: &str) -> Result<Vec<Step>> {
    let is_below = |folder: &str| path == folder || path.starts_with(&format!("{folder}/"));
    for folder in NPM_FOLDERS {
        let browser_tests = is_below(&format!("e2e/{folder}"));
        if is_below(folder) || browser_tests {
            let is_npm = |step: &&Step| match step.action {
                Action::Npm { folder: of, .. } | Action::NpmWithShop { folder: of, .. } => {
                    of == folder
                }
                _ => false,
            };
            // What runs in browsers needs what is built before.
            return Ok(all.iter().filter(is_npm).cloned().collect());
        }
    }
    let package = workspace.packages.iter().filter(|package| is_below(&package.folder));
    if let Some(package) = package.max_by_key(|package| package.folder.len()) {
        let rest = path.strip_prefix(&package.folder).unwrap_or_default().trim_start_matches('/');
        return Ok(vec![filtered(package, &module(rest))]);
    }
    let prefix = format!("{path}/");
    let packages = workspace.packages.iter().filter(|package| package.folder.starts_with(&prefix));
    let steps: Vec<Step> = packages
        .filter(|package| package.name != steps::FEATURES)
        .map(|package| filtered(package, ""))
        .collect();
    if steps.is_empty() {
        return Err(Failure::new(format!(
            "no crate lies in `{path}`, and nothing there is tested"
        )));
    }
    Ok(steps)
}

/// The path of a file's module within its crate, as its tests' names have it: `sets::page` for
/// `src/sets/page.rs`, nothing for what is the crate itself.
fn module(file: &str) -> String {
    let inner = file.strip_prefix("src/").or_else(|| {
        file.strip_prefix("tests/").and_then(|rest| rest.split_once('/')).map(|it| it.1)
    });
    let Some(inner) = inner.and_then(|path| path.strip_suffix(".rs")) else { return String::new() };
    let path = inner.strip_suffix("/mod").unwrap_or(inner);
    if matches!(path, "lib" | "main") { String::new() } else { path.replace('/', "::") }
}

fn filtered(package: &Package, filter: &str) -> Step {
    let filters = if filter.is_empty() { Vec::new() } else { vec![filter.to_owned()] };
    Step { name: package.name.clone(), action: Action::Crate { package: package.clone(), filters } }
}

/// Two wishes for one step: all of it, when one of them is for all.
fn join(step: &mut Step, other: Step) {
    if let (Action::Crate { filters, .. }, Action::Crate { filters: more, .. }) =
        (&mut step.action, other.action)
    {
        if filters.is_empty() || more.is_empty() {
            filters.clear();
        } else {
            filters.extend(more);
        }
    }
}

fn insert_build(chosen: &mut Vec<Step>) {
    let mut packages = Vec::new();
    let mut first = None;
    for (index, step) in chosen.iter().enumerate() {
        match &step.action {
            Action::Build { .. } => return,
            Action::Crate { package, .. } => {
                first.get_or_insert(index);
                packages.push(package.name.clone());
                if steps::is_end_to_end(package) {
                    packages.push(SHOP.to_owned());
                }
            }
            Action::NpmWithShop { .. } => {
                first.get_or_insert(index);
                packages.extend([SHOP, LENDING, OFFICE].map(str::to_owned));
            }
            _ => {}
        }
    }
    packages.sort_unstable();
    packages.dedup();
    if let Some(first) = first {
        let names: Vec<&str> = packages.iter().map(String::as_str).collect();
        chosen.insert(first, steps::build(&names));
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn workspace() -> Workspace {
        Workspace::of_packages(&[
            ("svc-core", "kernel/core"),
            ("svc-data", "kernel/data"),
            ("shop", "examples/shop"),
            ("e2e-odata", "e2e/odata"),
        ])
    }

    fn chosen(wanted: &[&str]) -> Result<Vec<String>> {
        chosen_in(&workspace(), wanted)
    }

    fn chosen_in(workspace: &Workspace, wanted: &[&str]) -> Result<Vec<String>> {
        let wanted: Vec<String> = wanted.iter().map(|&each| each.to_owned()).collect();
        let steps = steps(workspace, &wanted)?;
        Ok(steps.iter().map(described).collect())
    }

    fn described(step: &Step) -> String {
        match &step.action {
            Action::Build { packages } => format!("build {}", packages.join(" ")),
            Action::Crate { filters, .. } if !filters.is_empty() => {
                format!("{} ({})", step.name, filters.join(" "))
            }
            _ => step.name.clone(),
        }
    }

    #[test]
    fn steps_and_crates_keep_their_order() {
        assert_eq!(chosen(&["doc", "format"]).unwrap(), ["prerequisites", "format", "doc"]);
        let expected =
            ["prerequisites", "format", "build svc-core svc-data", "svc-core", "svc-data"];
        assert_eq!(chosen(&["svc-data", "svc-core", "format"]).unwrap(), expected);
    }

    #[test]
    fn some_tests_of_a_crate() {
        let expected = ["prerequisites", "build svc-data", "svc-data (sets::page writes)"];
        assert_eq!(chosen(&["svc-data::sets::page", "svc-data::writes"]).unwrap(), expected);
        let expected = ["prerequisites", "build svc-data", "svc-data"];
        assert_eq!(chosen(&["svc-data::sets", "svc-data"]).unwrap(), expected);
    }

    #[test]
    fn end_to_end_tests_bring_the_program() {
        assert_eq!(
            chosen(&["e2e-odata"]).unwrap(),
            ["prerequisites", "build e2e-odata shop", "e2e-odata"]
        );
    }

    #[test]
    fn programs_that_carry_the_web_client_bring_it() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let workspace = Workspace { root, ..workspace() };
        for (wanted, expected) in [
            ("shop", &["prerequisites", "client", "build shop", "shop"][..]),
            ("e2e-odata", &["prerequisites", "client", "build e2e-odata shop", "e2e-odata"]),
            ("svc-data", &["prerequisites", "build svc-data", "svc-data"]),
        ] {
            assert_eq!(chosen_in(&workspace, &[wanted]).unwrap(), expected);
        }
    }

    #[test]
    fn files_are_modules() {
        assert_eq!(module("src/sets/page.rs"), "sets::page");
        assert_eq!(module("src/grammar/mod.rs"), "grammar");
        assert_eq!(module("tests/it/kills/chance.rs"), "kills::chance");
        for whole in ["src/lib.rs", "tests/it/main.rs", "Cargo.toml", "README.md", ""] {
            assert_eq!(module(whole), "", "{whole}");
        }
    }

    #[test]
    fn what_is_unknown_is_refused() {
        for unknown in ["lint", "svc-date", "doc::sets"] {
            assert!(chosen(&[unknown]).is_err(), "{unknown}");
        }
    }
}
