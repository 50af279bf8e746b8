//! The steps of `cargo xtask test`, cheap and likely failures first.
//!
//! What tests crates is one build of all test programs, which lints them too, and then a step for each crate, which runs the
//! programs of that crate: cargo is asked once, with one selection, so nothing is compiled twice. The
//! steps through npm stand in a lane of their own and run beside the others.

use crate::workspace::{Package, Workspace};

/// The package that makes cargo choose features as for the whole workspace.
pub(crate) const FEATURES: &str = "features";

/// Folders with a `package.json` of their own that is checked, built and tested through npm.
pub(crate) const NPM_FOLDERS: [&str; 2] = ["shell", "web"];

/// What npm does in such a folder, once the step `client` has installed its packages: the end of the
/// step's name, and npm's arguments.
const NPM_STEPS: [(&str, &[&str]); 5] = [
    ("check", &["run", "check"]),
    ("build", &["run", "build"]),
    ("test", &["test"]),
    ("e2e", &["run", "e2e"]),
    ("e2e-firefox", &["run", "e2e", "--", "--browser", "firefox"]),
];

/// The folder whose pages are played in front of the shop.
const CLIENT: &str = "web";

/// What npm does in it once the shop is built, in place of the steps of browsers above: each browser on
/// a database of its own, so that two runs try both of both.
const CLIENT_STEPS: [(&str, &[&str]); 2] = [
    ("e2e", &["run", "e2e"]),
    ("e2e-firefox", &["run", "e2e", "--", "--browser", "firefox", "--database", "postgres"]),
];

/// What npm does in the folder of the desktop once the shop is built: it signs in there.
const DESKTOP_STEPS: [(&str, &[&str]); 2] = [
    ("shell-e2e-shop", &["run", "e2e", "--", "shop:"]),
    ("shell-e2e-shop-firefox", &["run", "e2e", "--", "shop:", "--browser", "firefox"]),
];

/// One thing that must hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Step {
    /// The name for `--only` and the summary; for the tests of a crate the crate's.
    pub(crate) name: String,
    /// What is done.
    pub(crate) action: Action,
}

/// What a step does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Action {
    /// Sees to the programs that the other steps need.
    Prerequisites,
    /// Runs the project's own checks.
    Conventions,
    /// Runs cargo.
    Cargo(CargoCall),
    /// Builds the test programs of these crates, or of all when none is named, and lints them.
    Build {
        /// The crates' names.
        packages: Vec<String>,
    },
    /// Runs the test programs of a crate.
    Crate {
        /// The crate.
        package: Package,
        /// Tests whose name contains one of these, or all when there is none.
        filters: Vec<String>,
    },
    /// Builds the web client, which the programs carry.
    Client,
    /// Runs npm in a folder.
    Npm {
        /// The folder, relative to the root.
        folder: &'static str,
        /// What npm shall do.
        arguments: &'static [&'static str],
    },
    /// Runs npm in a folder once the shop is built, with its program and a PostgreSQL server.
    NpmWithShop {
        /// The folder, relative to the root.
        folder: &'static str,
        /// What npm shall do.
        arguments: &'static [&'static str],
    },
}

/// A call of cargo.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CargoCall {
    /// Cargo's arguments.
    pub(crate) arguments: Vec<String>,
    /// Whether it tries examples: it goes on with what the step `build` made, has a PostgreSQL server, and writes the pages
    /// of the documentation, too.
    pub(crate) tries_examples: bool,
}

impl CargoCall {
    fn new(line: &str) -> Self {
        let arguments = line.split_whitespace().map(str::to_owned).collect();
        Self { arguments, tries_examples: false }
    }

    fn with_examples(self) -> Self {
        Self { tries_examples: true, ..self }
    }
}

/// All steps of the project as it is in this checkout, in the order in which they run.
pub(crate) fn all(workspace: &Workspace) -> Vec<Step> {
    let mut steps = vec![
        step("prerequisites", Action::Prerequisites),
        step("format", Action::Cargo(CargoCall::new("fmt --all --check"))),
        step("conventions", Action::Conventions),
    ];
    if workspace.has(&format!("{CLIENT}/package.json")) {
        steps.push(step("client", Action::Client));
    }
    let doc = CargoCall::new("test --workspace --doc --no-fail-fast").with_examples();
    steps.push(build(&[]));
    let tested = workspace.packages.iter().filter(|package| package.name != FEATURES);
    let (end_to_end, crates): (Vec<_>, Vec<_>) = tested.partition(|package| is_end_to_end(package));
    steps.extend(crates.into_iter().map(of_crate));
    steps.push(step("doc", Action::Cargo(doc)));
    steps.extend(end_to_end.into_iter().map(of_crate));
    for folder in NPM_FOLDERS {
        if workspace.has(&format!("{folder}/package.json")) {
            let is_client = folder == CLIENT;
            let own = NPM_STEPS
                .into_iter()
                .filter(|(name, _)| !is_client || matches!(*name, "check" | "test"));
            steps.extend(own.map(|(name, arguments)| {
                step(&format!("{folder}-{name}"), Action::Npm { folder, arguments })
            }));
        }
    }
    if workspace.has("shell/package.json") {
        steps.extend(DESKTOP_STEPS.map(|(name, arguments)| {
            step(name, Action::NpmWithShop { folder: "shell", arguments })
        }));
    }
    if workspace.has(&format!("{CLIENT}/package.json")) {
        steps.extend(CLIENT_STEPS.map(|(name, arguments)| {
            step(&format!("{CLIENT}-{name}"), Action::NpmWithShop { folder: CLIENT, arguments })
        }));
    }
    steps
}

/// The step that builds the test programs of these crates, or of all.
pub(crate) fn build(packages: &[&str]) -> Step {
    let packages = packages.iter().map(|&name| name.to_owned()).collect();
    step("build", Action::Build { packages })
}

/// Whether the crate drives the program from outside, with scripts in other languages.
pub(crate) fn is_end_to_end(package: &Package) -> bool {
    package.folder.starts_with("e2e/")
}

fn of_crate(package: &Package) -> Step {
    step(&package.name, Action::Crate { package: package.clone(), filters: Vec::new() })
}

fn step(name: &str, action: Action) -> Step {
    Step { name: name.to_owned(), action }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cheap_steps_come_first_and_end_to_end_comes_last() {
        let steps = all(&Workspace::of_packages(&[
            ("e2e-main-job", "e2e/main-job"),
            ("svc-core", "kernel/core"),
            (FEATURES, "xtask/features"),
        ]));
        let names: Vec<&str> = steps.iter().map(|step| step.name.as_str()).collect();
        let expected =
            ["prerequisites", "format", "conventions", "build", "svc-core", "doc", "e2e-main-job"];
        assert_eq!(names, expected);
    }

    #[test]
    fn cargo_compiles_with_one_selection() {
        for step in all(&Workspace::of_packages(&[("svc-core", "kernel/core")])) {
            if let Action::Cargo(call) = &step.action
                && call.arguments[0] != "fmt"
            {
                assert_eq!(call.arguments[1], "--workspace", "{}", step.name);
                assert!(!call.arguments.iter().any(|each| each.starts_with("--exclude")));
            }
        }
    }
}
