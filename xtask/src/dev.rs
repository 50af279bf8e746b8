//! Building and running the shop anew whenever a file is touched: `cargo xtask dev`.
//!
//! | Touched | What happens |
//! | --- | --- |
//! | Rust, SQL, texts, templates of a crate that the shop is made of | the program is built; when that succeeds the running one is stopped and the new one started |
//! | the web client or the desktop | the client is built; the running program serves it from the disk |
//! | tests, measurements, documents | nothing |
//!
//! What doesn't compile is shown, and the program before goes on. Changes during a build are seen behind it.
//!
//! However this chore ends, by a signal or killed, the program is asked to end as well.

mod watch;

use std::env;
use std::path::Path;
use std::process::{Child, Command};
use std::thread;
use std::time::{Duration, Instant};

use crate::client;
use crate::failure::{Failure, Result};
use crate::process;
use crate::server::{self, ENVIRONMENT};
use crate::workspace::Workspace;
use watch::{Files, Work, work_of};

/// How often files are looked at, and how long they must be left alone before a build begins.
const PAUSE: Duration = Duration::from_millis(300);

/// How long a program has to finish what it does.
const GRACE: Duration = Duration::from_secs(10);

/// Builds, runs and watches until the terminal ends it.
pub(crate) fn main(workspace: &Workspace, arguments: &[String]) -> Result<()> {
    let mut arguments = server::server_arguments(arguments)?;
    arguments.push("--Svc:Http:FilesFromDisk=true".to_owned());
    let mut seen = Files::below(&workspace.root);
    client::build(workspace)?;
    let mut running = Running::start(&server::build(&workspace.root, false)?, &arguments)?;
    loop {
        running.tell_when_ended()?;
        let changed = changes(&workspace.root, &mut seen);
        let work = work_of(changed.iter().map(String::as_str));
        if let Some(first) = changed.first().filter(|_| work != Work::default()) {
            println!("dev: `{first}` was touched");
        }
        let began = Instant::now();
        if work.client && tried(client::build(workspace)).is_some() {
            println!("dev: the client was built in {:.1} s; load the page anew", seconds(began));
        }
        if work.program
            && let Some(program) = tried(server::build(&workspace.root, false))
        {
            println!("dev: the program was built in {:.1} s", seconds(began));
            running.stop()?;
            running = Running::start(&program, &arguments)?;
        }
    }
}

fn seconds(began: Instant) -> f64 {
    began.elapsed().as_secs_f64()
}

/// What was built; a failure is told, and the program before goes on.
fn tried<T>(built: Result<T>) -> Option<T> {
    built.map_err(|failure| println!("dev: {failure}; the program before goes on")).ok()
}

/// What was touched since the last look, once nothing more is.
fn changes(root: &Path, seen: &mut Files) -> Vec<String> {
    let mut changed = Vec::new();
    loop {
        thread::sleep(PAUSE);
        let now = Files::below(root);
        let more = now.differing_from(seen);
        *seen = now;
        if more.is_empty() {
            return changed;
        }
        changed.extend(more);
    }
}

/// A command for a program that is asked to end when the process that starts it has ended, whatever ended that.
fn tied(program: &Path) -> Command {
    match process::find_program("setpriv") {
        Some(setpriv) => {
            let mut command = process::command(setpriv, Path::new("."));
            command.args(["--pdeathsig", "TERM", "--"]).arg(program);
            command
        }
        None => process::command(program, Path::new(".")),
    }
}

/// The program in a process of its own.
struct Running {
    process: Child,
    has_ended: bool,
}

impl Running {
    fn start(program: &Path, arguments: &[String]) -> Result<Self> {
        let mut server = tied(program);
        if env::var_os(ENVIRONMENT).is_none() {
            server.env(ENVIRONMENT, "development");
        }
        let process = server.arg("serve").args(arguments).spawn();
        let process = process.map_err(|cause| Failure::at(program, "start", &cause))?;
        Ok(Self { process, has_ended: false })
    }

    /// Says once that the program has ended by itself; the next change starts it again.
    fn tell_when_ended(&mut self) -> Result<()> {
        if self.has_ended {
            return Ok(());
        }
        let ended = self.process.try_wait();
        let ended =
            ended.map_err(|cause| Failure::new(format!("can't watch the program: {cause}")))?;
        if let Some(status) = ended {
            self.has_ended = true;
            println!(
                "dev: the program ended with {status}; it is started again with the next change"
            );
        }
        Ok(())
    }

    /// Asks the program to end and waits for it, so that its port and its file are free.
    fn stop(mut self) -> Result<()> {
        let id = self.process.id().to_string();
        if !self.has_ended && process::succeeds(process::command("kill", Path::new(".")).arg(id)) {
            let asked = Instant::now();
            while asked.elapsed() < GRACE && matches!(self.process.try_wait(), Ok(None)) {
                thread::sleep(Duration::from_millis(20));
            }
        }
        // One that has ended already can't be killed, which is as well.
        let _ = self.process.kill();
        let ended = self.process.wait();
        ended.map(drop).map_err(|cause| Failure::new(format!("can't end the program: {cause}")))
    }
}

#[cfg(test)]
mod tests {
    use std::process::Stdio;

    use super::*;

    #[test]
    fn the_program_ends_with_what_started_it() {
        let mut sleeping = tied(Path::new("sleep"));
        let sleeping = sleeping.arg("60");
        // A shell starts it and ends without a word to it.
        let mut shell = Command::new("sh");
        shell.args(["-c", "\"$@\" > /dev/null & echo $!; sleep 0.3", "sh"]);
        shell.arg(sleeping.get_program()).args(sleeping.get_args());
        let told = shell.stderr(Stdio::null()).output().expect("there is a shell").stdout;
        let id = String::from_utf8(told).expect("a number").trim().to_owned();
        let process = Path::new("/proc").join(&id);
        let begun = Instant::now();
        // One that has ended and that nobody has waited for has no command line.
        while std::fs::read(process.join("cmdline")).is_ok_and(|line| !line.is_empty()) {
            assert!(begun.elapsed() < GRACE, "`sleep` ({id}) goes on");
            thread::sleep(Duration::from_millis(20));
        }
    }
}
