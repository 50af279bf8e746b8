//! `cargo xtask test`: runs the steps and says in the end what came of each.
//!
//! A step that fails doesn't keep the next ones from running: one run shows all that is wrong. What
//! runs through npm (browsers, mostly) runs beside the others, in a lane of its own, when the machine has
//! the memory for both; what is played in front of the shop waits there until that is built. The PostgreSQL server is started for the first step that needs one, and
//! stopped before the summary.

use std::env;
use std::fs::{self, File};
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};

use crate::build;
use crate::cargo;
use crate::check;
use crate::client;
use crate::documentation;
use crate::end_to_end;
use crate::failure::{Failure, Result};
use crate::memory;
use crate::postgres::{self, TestServer};
use crate::prerequisites;
use crate::process;
use crate::processor::Meter;
use crate::programs::{Programs, Repeat, Tally, configure};
use crate::request::{self, Request};
use crate::selection;
use crate::server;
use crate::steps::{self, Action, CargoCall, Step};
use crate::summary::{self, Outcome};
use crate::workspace::{Package, Workspace};

/// How many tests of a program run at once for each core: they wait for databases, sockets and
/// time limits more than they compute.
const TESTS_PER_CORE: usize = 3;

/// The variable by which somebody chooses their number.
const TEST_THREADS: &str = "RUST_TEST_THREADS";

/// What a machine needs for browsers and compilers at once, in GiB.
const MEMORY_FOR_BOTH: u64 = 6;

/// Runs the steps that the arguments ask for.
pub(crate) fn main(workspace: &Workspace, arguments: &[String]) -> Result<ExitCode> {
    let request = Request::parse(arguments)?;
    if request.list {
        for step in steps::all(workspace) {
            println!("{}", step.name);
        }
        return Ok(ExitCode::SUCCESS);
    }
    let chosen = selection::steps(workspace, &request.only)?;
    let times = Times::of_last_run(workspace);
    let progress = Progress {
        steps: &chosen,
        times: &times,
        begun: AtomicUsize::new(0),
        meter: Meter::default(),
    };
    let outcomes = run(workspace, &request, &progress);
    times.and(&outcomes).store(workspace);
    print!("\n{}", summary::render(&outcomes));
    Ok(if summary::failed(&outcomes) == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn run(workspace: &Workspace, request: &Request, progress: &Progress) -> Vec<Outcome> {
    let comes_first = |step: &&Step| matches!(step.action, Action::Prerequisites | Action::Client);
    let is_npm =
        |step: &&Step| matches!(step.action, Action::Npm { .. } | Action::NpmWithShop { .. });
    let (first, others): (Vec<&Step>, Vec<&Step>) = progress.steps.iter().partition(comes_first);
    let (npm, others): (Vec<&Step>, Vec<&Step>) = others.into_iter().partition(is_npm);
    let stage = OnceLock::new();
    let mut lane =
        Lane { workspace, request, progress, server: None, programs: None, stage: &stage };
    let mut outcomes: Vec<Outcome> = first.into_iter().map(|step| lane.timed(step)).collect();
    let is_beside = !npm.is_empty() && !others.is_empty() && memory::free_gib() >= MEMORY_FOR_BOTH;
    let npm = NpmLane { workspace, progress, steps: npm, is_beside, stage: &stage };
    std::thread::scope(|scope| {
        let beside = is_beside.then(|| scope.spawn(|| npm.run()));
        outcomes.extend(others.into_iter().map(|step| lane.timed(step)));
        lane.set_stage();
        outcomes.extend(match beside {
            Some(beside) => beside.join().unwrap_or_default(),
            None => npm.run(),
        });
    });
    if let Some(Ok(server)) = lane.server
        && let Err(failure) = server.stop()
    {
        eprintln!("{failure}");
        // A server that stays behind must not look like success.
        outcomes.push(Outcome::new("postgres-stop", false, Duration::ZERO));
    }
    outcomes
}

/// What pages are played in front of, or why there is none.
type Stage = Result<Shop>;

/// The program of the shop, and a PostgreSQL server for it.
struct Shop {
    program: PathBuf,
    postgres: String,
}

/// How far the run is, for whoever watches it.
struct Progress<'a> {
    steps: &'a [Step],
    times: &'a Times,
    begun: AtomicUsize,
    meter: Meter,
}

impl Progress<'_> {
    fn begin(&self, step: &Step) -> Instant {
        let number = self.begun.fetch_add(1, Ordering::Relaxed) + 1;
        let last = self.times.seconds(&step.name);
        let last = last.map_or(String::new(), |seconds| format!(" ({seconds:.0} s the last time)"));
        println!("\n== {number} of {}: {}{last}", self.steps.len(), step.name);
        Instant::now()
    }
}

/// What came of a step, told at once.
fn outcome(step: &Step, begun: Instant, processor: Duration, result: Result<Tally>) -> Outcome {
    let mut outcome = Outcome::new(&step.name, result.is_ok(), begun.elapsed());
    outcome.processor = processor;
    match result {
        Ok(tally) => {
            outcome.tests = tally.passed;
            outcome.passed = tally.failed.is_empty();
            outcome.failed_tests = tally.failed.into_iter().collect();
        }
        Err(failure) => {
            eprintln!("{failure}");
            outcome.reason = Some(failure.to_string());
        }
    }
    let (seconds, processor) = (outcome.duration.as_secs_f64(), processor.as_secs_f64());
    println!(
        "== {} {} after {seconds:.1} s, {processor:.1} s of the processor",
        step.name,
        outcome.result()
    );
    outcome
}

/// What the steps but npm's share.
struct Lane<'a> {
    workspace: &'a Workspace,
    request: &'a Request,
    progress: &'a Progress<'a>,
    /// The server or why there is none, once a step asked for it.
    server: Option<Result<TestServer>>,
    /// What was built, once a step asked for it.
    programs: Option<Programs>,
    /// Set once the shop is built, or can't be.
    stage: &'a OnceLock<Stage>,
}

impl Lane<'_> {
    fn timed(&mut self, step: &Step) -> Outcome {
        let begun = self.progress.begin(step);
        let before = self.progress.meter.read();
        let result = self.perform(&step.action);
        outcome(step, begun, self.progress.meter.read().saturating_sub(before), result)
    }

    fn perform(&mut self, action: &Action) -> Result<Tally> {
        match action {
            Action::Prerequisites => self.prerequisites()?,
            Action::Client => client::build(self.workspace)?,
            Action::Conventions => check::main(self.workspace)?,
            Action::Cargo(call) => self.cargo(call)?,
            Action::Build { packages } => {
                let mut programs = Programs::build(self.workspace, packages)?;
                if self.request.released {
                    programs.shop = Some(server::build(&self.workspace.root, true)?);
                }
                let (warnings, failure) = (programs.warnings, programs.failure.take());
                self.programs = Some(programs);
                self.set_stage();
                if let Some(failure) = failure {
                    return Err(failure);
                }
                if warnings > 0 {
                    return Err(Failure::new(format!(
                        "the compiler gave {warnings} warnings, see above; they fail the step"
                    )));
                }
            }
            Action::Crate { package, filters } => return self.of_crate(package, filters),
            Action::Npm { .. } | Action::NpmWithShop { .. } => {}
        }
        Ok(Tally::default())
    }

    /// What the chosen steps need; what all need, when nothing else is chosen.
    fn prerequisites(&self) -> Result<()> {
        match self.progress.steps {
            [_] => prerequisites::ensure(self.workspace, &steps::all(self.workspace)),
            chosen => prerequisites::ensure(self.workspace, chosen),
        }
    }

    fn set_stage(&mut self) {
        let program = self.programs.as_ref().and_then(|programs| programs.shop.clone());
        let no_shop = || Failure::new("there is no shop to run: the step `build` failed");
        let shop = program.ok_or_else(no_shop);
        let stage = shop.and_then(|program| Ok(Shop { program, postgres: self.postgres()? }));
        // What was said first stands.
        let _ = self.stage.set(stage);
    }

    fn of_crate(&mut self, package: &Package, filters: &[String]) -> Result<Tally> {
        let url = self.postgres()?;
        let Some(programs) = &self.programs else {
            return Err(Failure::new("there is nothing to run: the step `build` failed"));
        };
        let mut variables = vec![(postgres::VARIABLE, url.into())];
        if steps::is_end_to_end(package) {
            variables.extend(end_to_end::variables(self.workspace, package, programs)?);
        }
        if let (None, None) = (self.request.repeat, env::var_os(TEST_THREADS)) {
            let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
            variables.push((TEST_THREADS, (cores * TESTS_PER_CORE).to_string().into()));
        }
        programs.run(self.workspace, package, filters, self.request.repeat(), &|command| {
            command.envs(variables.iter().map(|(name, value)| (name, value)));
            configure(command);
        })
    }

    fn cargo(&mut self, call: &CargoCall) -> Result<()> {
        let mut cargo = cargo::command(&self.workspace.root);
        cargo.args(&call.arguments);
        configure(&mut cargo);
        if call.tries_examples {
            cargo.env(postgres::VARIABLE, self.postgres()?);
            build::lint(&mut cargo, &self.workspace.root)?;
            documentation::write_beside(&mut cargo, &self.workspace.target)?;
        }
        process::run(&mut cargo)
    }

    fn postgres(&mut self) -> Result<String> {
        let server =
            self.server.get_or_insert_with(|| TestServer::start(&self.workspace.root)).as_ref();
        server.map(|server| server.url().to_owned()).map_err(Clone::clone)
    }
}

/// The steps through npm, beside the others or behind them.
struct NpmLane<'a> {
    workspace: &'a Workspace,
    progress: &'a Progress<'a>,
    steps: Vec<&'a Step>,
    is_beside: bool,
    stage: &'a OnceLock<Stage>,
}

impl NpmLane<'_> {
    fn run(&self) -> Vec<Outcome> {
        self.steps.iter().map(|step| self.timed(step)).collect()
    }

    /// Runs a step. Beside others what it writes goes into a file, and is shown when it fails.
    fn timed(&self, step: &Step) -> Outcome {
        let shop = match &step.action {
            Action::NpmWithShop { .. } => Some(self.stage.wait()),
            _ => None,
        };
        let begun = self.progress.begin(step);
        let (result, processor) = match shop.map(Result::as_ref).transpose() {
            Ok(shop) => self.npm(step, shop),
            Err(failure) => (Err(failure.clone()), Duration::ZERO),
        };
        outcome(step, begun, processor, result.map(|()| Tally::default()))
    }

    /// What npm came to, and how much of the processor it took.
    fn npm(&self, step: &Step, shop: Option<&Shop>) -> (Result<()>, Duration) {
        let (Action::Npm { folder, arguments } | Action::NpmWithShop { folder, arguments }) =
            &step.action
        else {
            return (Ok(()), Duration::ZERO);
        };
        let mut npm = process::command("npm", &self.workspace.path(folder));
        npm.args(*arguments);
        if let Some(Shop { program, postgres }) = shop {
            npm.env("SVC_SHOP_BINARY", program).env(postgres::VARIABLE, postgres);
        }
        let meter = &self.progress.meter;
        if !self.is_beside {
            return meter.run_beside(&mut npm);
        }
        let log = logs(self.workspace).join(format!("{}.log", step.name));
        match into_log(&mut npm, &log) {
            Ok(npm) => {
                let (result, processor) = meter.run_beside(npm);
                (tell_log(result, &log), processor)
            }
            Err(failure) => (Err(failure), Duration::ZERO),
        }
    }
}

/// Makes a command write into a file.
fn into_log<'a>(command: &'a mut Command, file: &Path) -> Result<&'a mut Command> {
    let open = || File::create(file).and_then(|log| Ok((log.try_clone()?, log)));
    let (out, errors) = open().map_err(|cause| Failure::at(file, "write", &cause))?;
    Ok(command.stdout(out).stderr(errors))
}

/// Says where the output is, and shows it when the command failed.
fn tell_log(result: Result<()>, file: &Path) -> Result<()> {
    let Err(failure) = result else {
        println!("its output is in `{}`", file.display());
        return Ok(());
    };
    // What can't be read back is in the file for whoever looks there.
    let text = fs::read_to_string(file).unwrap_or_default();
    print!("{text}");
    Err(Failure::new(format!("{failure}{}", failed_scenarios(&text))))
}

/// The scenarios that failed, with the beginning of why, for the end of a run.
fn failed_scenarios(output: &str) -> String {
    const LINES: usize = 4;
    let lines: Vec<&str> = output.lines().collect();
    let failed = (0..lines.len()).filter(|at| lines[*at].starts_with("FAILED  "));
    let shown = failed.flat_map(|at| lines[at..].iter().take(LINES));
    shown.fold(String::new(), |text, line| format!("{text}\n  {line}"))
}

/// The folder of what a run leaves behind.
fn logs(workspace: &Workspace) -> PathBuf {
    let folder = workspace.target.join("xtask");
    // A folder that can't be made is told by whoever writes into it.
    let _ = fs::create_dir_all(&folder);
    folder
}

/// What each step took when it last passed: `{"build": {"seconds": …, "processor_seconds": …}}`.
struct Times(Map<String, Value>);

impl Times {
    fn of_last_run(workspace: &Workspace) -> Self {
        let text = fs::read_to_string(logs(workspace).join("times.json")).unwrap_or_default();
        Self(serde_json::from_str(&text).unwrap_or_default())
    }

    fn seconds(&self, step: &str) -> Option<f64> {
        self.0.get(step)?["seconds"].as_f64()
    }

    fn and(mut self, outcomes: &[Outcome]) -> Self {
        for outcome in outcomes.iter().filter(|outcome| outcome.passed) {
            let took = json!({
                "seconds": outcome.duration.as_secs_f64(),
                "processor_seconds": outcome.processor.as_secs_f64(),
            });
            self.0.insert(outcome.step.clone(), took);
        }
        self
    }

    /// Only for people who watch the next run, so a failure is no reason to fail.
    fn store(&self, workspace: &Workspace) {
        let text = json!(self.0).to_string();
        let _ = fs::write(logs(workspace).join("times.json"), text);
    }
}

impl Request {
    fn repeat(&self) -> Repeat {
        match self.repeat {
            Some(times) => Repeat { times, jobs: request::JOBS_OF_REPEATS },
            None => Repeat { times: 1, jobs: 1 },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::failed_scenarios;

    #[test]
    fn the_scenarios_that_failed_are_told_again_with_why() {
        let output = "ok        1.0 s  one\nFAILED    2.0 s  two\nError: no\n  at a\n  at b\n  at c\nok        1.0 s  three\n";
        let told = "\n  FAILED    2.0 s  two\n  Error: no\n    at a\n    at b";
        assert_eq!(failed_scenarios(output), told);
        assert_eq!(failed_scenarios("the build failed\n"), "");
    }
}
