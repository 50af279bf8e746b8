//! The steps of `cargo xtask test`, cheap and likely failures first.

use crate::workspace::{Package, Workspace};

/// Folders with a `package.json` of their own that is checked, built and tested through npm.
const NPM_FOLDERS: [&str; 1] = ["shell"];

/// What npm does in such a folder: the end of the step's name, and npm's arguments.
const NPM_STEPS: [(&str, &[&str]); 6] = [
    ("install", &["ci", "--no-audit", "--no-fund"]),
    ("check", &["run", "check"]),
    ("build", &["run", "build"]),
    ("test", &["test"]),
    ("e2e", &["run", "e2e"]),
    ("e2e-firefox", &["run", "e2e", "--", "--browser", "firefox"]),
];

/// One thing that must hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Step {
    /// The name for `--only` and the summary.
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
    /// Runs npm in a folder.
    Npm {
        /// The folder, relative to the root.
        folder: &'static str,
        /// What npm shall do.
        arguments: &'static [&'static str],
    },
    /// Runs the tests of a crate that drives the released program from outside.
    EndToEnd(Package),
}

/// A call of cargo.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CargoCall {
    /// Cargo's arguments.
    pub(crate) arguments: Vec<String>,
    /// Variables set for it.
    pub(crate) variables: &'static [(&'static str, &'static str)],
    /// Whether it needs a PostgreSQL server.
    pub(crate) needs_postgres: bool,
}

impl CargoCall {
    fn new(line: &str) -> Self {
        let arguments = line.split_whitespace().map(str::to_owned).collect();
        Self { arguments, variables: &[], needs_postgres: false }
    }

    fn excluding(mut self, packages: &[&str]) -> Self {
        self.arguments.extend(packages.iter().map(|package| format!("--exclude={package}")));
        self
    }

    fn with_postgres(self) -> Self {
        Self { needs_postgres: true, ..self }
    }

    fn with_variables(self, variables: &'static [(&'static str, &'static str)]) -> Self {
        Self { variables, ..self }
    }
}

/// All steps of the project as it is in this checkout, in the order in which they run.
pub(crate) fn all(workspace: &Workspace) -> Vec<Step> {
    let mut steps = vec![
        step("prerequisites", Action::Prerequisites),
        step("format", Action::Cargo(CargoCall::new("fmt --all --check"))),
        step("conventions", Action::Conventions),
    ];
    steps.extend(rust_steps(workspace));
    for folder in NPM_FOLDERS {
        if workspace.has(&format!("{folder}/package.json")) {
            steps.extend(NPM_STEPS.map(|(name, arguments)| {
                step(&format!("{folder}-{name}"), Action::Npm { folder, arguments })
            }));
        }
    }
    let end_to_end = workspace.packages_below("e2e");
    steps.extend(end_to_end.map(|package| step(&package.name, Action::EndToEnd(package.clone()))));
    steps
}

fn rust_steps(workspace: &Workspace) -> [Step; 4] {
    // The tests in `e2e` need the released program and other languages' tools: they are steps of
    // their own. Doc tests are too, because cargo runs them together with all else or alone; and
    // benchmarks are compiled by clippy, not run here.
    let apart: Vec<&str> =
        workspace.packages_below("e2e").map(|package| package.name.as_str()).collect();
    let clippy = CargoCall::new("clippy --workspace --all-targets -- -D warnings");
    let test = CargoCall::new("test --workspace --lib --bins --tests --examples --no-fail-fast");
    let doc_test = CargoCall::new("test --workspace --doc --no-fail-fast");
    let doc = CargoCall::new("doc --workspace --no-deps");
    [
        step("clippy", Action::Cargo(clippy)),
        step("test", Action::Cargo(test.excluding(&apart).with_postgres())),
        step("doc-test", Action::Cargo(doc_test.excluding(&apart).with_postgres())),
        step("doc", Action::Cargo(doc.with_variables(&[("RUSTDOCFLAGS", "-Dwarnings")]))),
    ]
}

/// The steps with the given names in their usual order, or the first name that is none.
pub(crate) fn only(steps: Vec<Step>, names: &[String]) -> Result<Vec<Step>, String> {
    if let Some(unknown) = names.iter().find(|name| !steps.iter().any(|step| step.name == **name)) {
        return Err(unknown.clone());
    }
    Ok(steps.into_iter().filter(|step| names.is_empty() || names.contains(&step.name)).collect())
}

fn step(name: &str, action: Action) -> Step {
    Step { name: name.to_owned(), action }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    fn workspace() -> Workspace {
        let package = |name: &str, folder: &str| Package {
            name: name.to_owned(),
            folder: folder.to_owned(),
            ..Package::default()
        };
        Workspace {
            root: PathBuf::from("a checkout that has no shell"),
            target: PathBuf::new(),
            packages: vec![
                package("svc-core", "kernel/core"),
                package("e2e-main-job", "e2e/main-job"),
            ],
        }
    }

    fn names(steps: &[Step]) -> Vec<&str> {
        steps.iter().map(|step| step.name.as_str()).collect()
    }

    #[test]
    fn cheap_steps_come_first_and_end_to_end_comes_last() {
        let expected = [
            "prerequisites",
            "format",
            "conventions",
            "clippy",
            "test",
            "doc-test",
            "doc",
            "e2e-main-job",
        ];
        assert_eq!(names(&all(&workspace())), expected);
    }

    #[test]
    fn end_to_end_tests_run_in_their_own_step_alone() {
        for step in all(&workspace()) {
            if let Action::Cargo(call) = &step.action
                && call.arguments[0] == "test"
            {
                let line = call.arguments.join(" ");
                assert!(line.contains("--exclude=e2e-main-job"), "{line}");
            }
        }
    }

    #[test]
    fn doc_tests_run_in_one_step_alone() {
        let steps = all(&workspace());
        let with_doc_tests = steps.iter().filter(|step| match &step.action {
            Action::Cargo(call) if call.arguments[0] == "test" => {
                // Without a selection of targets, cargo runs the doc tests as well.
                call.arguments.iter().any(|each| each == "--doc")
                    || !call.arguments.iter().any(|each| each == "--tests")
            }
            _ => false,
        });
        assert_eq!(with_doc_tests.map(|step| step.name.as_str()).collect::<Vec<_>>(), ["doc-test"]);
    }

    #[test]
    fn a_selection_keeps_the_order_and_refuses_unknown_names() {
        let select = |names: &[&str]| {
            let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
            only(all(&workspace()), &names)
        };
        assert_eq!(names(&select(&["doc", "format"]).unwrap()), ["format", "doc"]);
        assert_eq!(select(&["format", "lint"]).unwrap_err(), "lint");
        assert_eq!(select(&[]).unwrap(), all(&workspace()));
    }
}
