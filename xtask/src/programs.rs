//! The test programs: built in one call of cargo, run one after the other.

use std::collections::BTreeSet;
use std::env;
use std::io::{BufRead as _, BufReader, Read};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use crate::build::{self, Built};
use crate::cargo;
use crate::failure::{Failure, Result};
use crate::process;
use crate::selection::SHOP;
use crate::steps::FEATURES;
use crate::workspace::{Package, Workspace};

/// What cargo built: test programs, and the program that end-to-end tests drive.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Programs {
    tests: Vec<TestProgram>,
    /// The program of the shop, where it was among what was built.
    pub(crate) shop: Option<PathBuf>,
    /// How many warnings their compiler gave.
    pub(crate) warnings: usize,
    /// Why some are missing.
    pub(crate) failure: Option<Failure>,
}

/// The tests of one target.
#[derive(Debug, Clone, PartialEq, Eq)]
struct TestProgram {
    /// The folder of its crate.
    folder: PathBuf,
    /// The target's name: the crate's own for the tests within the sources.
    target: String,
    file: PathBuf,
}

/// What a run of test programs came to.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    /// How many tests passed.
    pub(crate) passed: usize,
    /// The names of those that failed.
    pub(crate) failed: BTreeSet<String>,
}

/// How often each test program runs, and how many at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Repeat {
    /// How often.
    pub(crate) times: usize,
    /// How many programs at a time.
    pub(crate) jobs: usize,
}

impl Programs {
    /// Builds the test programs of these crates, or of all when none is named, and lints them. What
    /// doesn't compile keeps none of the others from being built.
    pub(crate) fn build(workspace: &Workspace, packages: &[String]) -> Result<Self> {
        let mut cargo = cargo::command(&workspace.root);
        cargo.args(["test", "--no-run", "--no-fail-fast"]);
        if packages.is_empty() {
            // Without doc tests, which are a step of their own.
            cargo.args(["--workspace", "--all-targets"]);
        } else {
            let selected = packages.iter().map(String::as_str).chain([FEATURES]);
            cargo.args(selected.flat_map(|name| ["--package", name]));
        }
        configure(&mut cargo);
        build::lint(&mut cargo, &workspace.root)?;
        Ok(Self::among(build::run(&mut cargo)?))
    }

    /// Finds the programs among what was built.
    fn among(built: Built) -> Self {
        let Built { artifacts, warnings, failure } = built;
        let mut programs = Self { warnings, failure, ..Self::default() };
        for artifact in &artifacts {
            let (Some(file), Some(target), Some(manifest)) = (
                artifact["executable"].as_str().map(PathBuf::from),
                artifact["target"]["name"].as_str(),
                artifact["manifest_path"].as_str().map(PathBuf::from),
            ) else {
                continue;
            };
            if artifact["target"]["test"] == true && artifact["profile"]["test"] == true {
                let folder = manifest.parent().map(PathBuf::from).unwrap_or_default();
                programs.tests.push(TestProgram { folder, target: target.to_owned(), file });
            } else if target == SHOP {
                programs.shop = Some(file);
            }
        }
        programs
    }

    /// Runs the tests of a crate; `prepare` says what each program needs.
    pub(crate) fn run(
        &self,
        workspace: &Workspace,
        package: &Package,
        filters: &[String],
        repeat: Repeat,
        prepare: &(dyn Fn(&mut Command) + Sync),
    ) -> Result<Tally> {
        let folder = workspace.path(&package.folder);
        let own = self.tests.iter().filter(|program| program.folder == folder);
        let is_there = |name: &&String| own.clone().any(|program| program.target == **name);
        if let Some(missing) = package.tested.iter().find(|name| !is_there(name)) {
            return Err(Failure::new(format!(
                "the tests `{missing}` of `{}` don't compile, see the step `build`",
                package.name
            )));
        }
        let mut waiting: Vec<&TestProgram> = own.flat_map(|it| vec![it; repeat.times]).collect();
        waiting.reverse();
        let (waiting, tally) = (Mutex::new(waiting), Mutex::new(Tally::default()));
        let broken = Mutex::new(Vec::new());
        let work = || {
            while let Some(program) = take(&waiting) {
                match program.run(filters, prepare) {
                    Ok(outcome) => lock(&tally).add(outcome),
                    Err(failure) => lock(&broken).push(failure),
                }
            }
        };
        std::thread::scope(|scope| {
            for _ in 0..repeat.jobs {
                scope.spawn(work);
            }
        });
        match lock(&broken).pop() {
            Some(failure) => Err(failure),
            None => Ok(std::mem::take(&mut *lock(&tally))),
        }
    }
}

/// Sets what holds for every cargo and every test program of a test run.
pub(crate) fn configure(command: &mut Command) {
    // A snapshot that differs is a failure, never a file that is quietly renewed.
    command.env("INSTA_UPDATE", "no").env_remove("INSTA_FORCE_PASS");
    // A fresh machine gains nothing from these and pays in time and disk. A developer's machine keeps
    // its own, because other values would rebuild everything.
    if env::var_os("CI").is_some_and(|value| !value.is_empty()) {
        command.env("CARGO_INCREMENTAL", "0").env("CARGO_PROFILE_DEV_DEBUG", "0");
    }
}

impl TestProgram {
    fn run(&self, filters: &[String], prepare: &(dyn Fn(&mut Command) + Sync)) -> Result<Tally> {
        let mut command = process::command(&self.file, &self.folder);
        command.env("CARGO_MANIFEST_DIR", &self.folder).args(filters);
        prepare(&mut command);
        command.stdin(Stdio::null()).stdout(Stdio::piped());
        let begun = Instant::now();
        let failed = |cause: &dyn std::fmt::Display| Failure::at(&self.file, "run", cause);
        let mut process = command.spawn().map_err(|cause| failed(&cause))?;
        let output = process.stdout.take().ok_or_else(|| failed(&"it has no output"))?;
        let (said, outcome) = read(output);
        let status = process.wait().map_err(|cause| failed(&cause))?;
        self.tell(&outcome, begun.elapsed());
        if !status.success() || !outcome.failed.is_empty() {
            print!("{said}");
        }
        if !status.success() && outcome.failed.is_empty() {
            return Err(Failure::new(format!(
                "the tests `{}` ended with {status} and name no test",
                self.target
            )));
        }
        Ok(outcome)
    }

    fn tell(&self, outcome: &Tally, time: Duration) {
        let (passed, failed) = (outcome.passed, outcome.failed.len());
        if passed + failed > 0 {
            let seconds = time.as_secs_f64();
            println!("{}: {passed} passed, {failed} failed in {seconds:.1} s", self.target);
        }
    }
}

impl Tally {
    fn add(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed.extend(other.failed);
    }
}

/// Reads what a test program writes; what runs for long is told at once.
fn read(output: impl Read) -> (String, Tally) {
    let (mut said, mut tally) = (String::new(), Tally::default());
    for line in BufReader::new(output).lines().map_while(std::result::Result::ok) {
        if let Some((name, result)) =
            line.strip_prefix("test ").and_then(|it| it.split_once(" ... "))
        {
            match result {
                "ok" => tally.passed += 1,
                result if result.starts_with("FAILED") => {
                    tally.failed.insert(name.trim_end_matches(" - should panic").to_owned());
                }
                _ => {}
            }
        } else if line.contains("has been running for over") {
            println!("{line}");
        }
        said.push_str(&line);
        said.push('\n');
    }
    (said, tally)
}

fn take<T>(waiting: &Mutex<Vec<T>>) -> Option<T> {
    lock(waiting).pop()
}

fn lock<T>(value: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    value.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn finds_programs_among_what_was_built() {
        let artifact = |folder: &str, target: &str, is_test: bool, file: Option<&str>| {
            json!({
                "manifest_path": format!("{folder}/Cargo.toml"),
                "target": {"name": target, "test": target != "queue"},
                "profile": {"test": is_test},
                "executable": file,
            })
        };
        let artifacts = vec![
            artifact("/p/kernel/core", "svc_core", false, None),
            artifact("/p/kernel/core", "it", true, Some("/t/it-1")),
            // A benchmark.
            artifact("/p/kernel/jobs", "queue", true, Some("/t/queue")),
            artifact("/p/examples/shop", "shop", true, Some("/t/shop-2")),
            artifact("/p/examples/shop", "shop", false, Some("/t/shop")),
        ];
        let programs = Programs::among(Built { artifacts, ..Built::default() });
        assert_eq!(programs.shop, Some(PathBuf::from("/t/shop")));
        let program = |folder: &str, target: &str, file: &str| TestProgram {
            folder: PathBuf::from(folder),
            target: target.to_owned(),
            file: PathBuf::from(file),
        };
        assert_eq!(
            programs.tests,
            [
                program("/p/kernel/core", "it", "/t/it-1"),
                program("/p/examples/shop", "shop", "/t/shop-2")
            ]
        );
    }

    #[test]
    fn counts_what_a_program_says() {
        let said = "\nrunning 4 tests\ntest a::b ... ok\ntest a::c ... FAILED\ntest d ... ignored\n\
                    test e - should panic ... FAILED\n\nfailures:\n\n---- a::c stdout ----\n\
                    test result: FAILED. 1 passed; 2 failed\n";
        let (all, tally) = read(said.as_bytes());
        assert_eq!(all, said);
        assert_eq!(tally.passed, 1);
        assert_eq!(tally.failed.iter().map(String::as_str).collect::<Vec<_>>(), ["a::c", "e"]);
    }
}
