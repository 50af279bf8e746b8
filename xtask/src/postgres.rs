//! A PostgreSQL server for tests, which anyone can start without setting one up.
//!
//! - `cargo xtask postgres` starts one in the background (cluster `background`), prints the line that
//!   makes it known to tests, and leaves `url`, `pid` and `folder` in `target/postgres`. It is started
//!   once: a second call prints the same line. `--stop` stops and removes it.
//! - [`TestServer`] lives as long as a run of the tests. A second process, the *guard*, holds the
//!   cluster (`svc-postgres-run-<pid of the guard>`) and waits for the end of its standard input. That
//!   comes when the run ends, fails, is interrupted or killed, and then the guard stops the server and
//!   removes the folder. The guard has its own process group, so Ctrl-C doesn't reach it. Should the guard
//!   itself be killed, the next run finds the folder without a process to it, and clears it away.
//!
//! The cluster of a run lies in memory where there is enough. Tests make and drop a database each, three
//! hundred files, and ext4 looks at each number of a file that was deleted within five minutes before it
//! takes another: that was nearly half of the processor's time while tests ran. The cluster in the
//! background, which may grow, lies on the disk.
//!
//! Where the server's account can't get into `target`, the cluster lies in the system's folder for
//! temporary files instead; there nothing is searched for what killed guards left.

mod account;
mod binaries;
mod cluster;

use std::env;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};

pub(crate) use binaries::find as find_programs;
use cluster::Cluster;

use crate::failure::{Failure, Result};
use crate::memory;
use crate::process;

/// The variable that tells tests where a superuser of PostgreSQL may create databases.
pub(crate) const VARIABLE: &str = "SVC_TEST_POSTGRES";

const RUN_PREFIX: &str = "svc-postgres-run-";

/// What a run's cluster may grow to in memory, in GiB; a tenth of it, as a rule.
const CLUSTER: u64 = 4;

/// What a machine has besides for a run's programs, in GiB.
const PROGRAMS: u64 = 6;

/// `cargo xtask postgres [--stop]`, and the guard's own call of it.
pub(crate) fn main(target: &Path, arguments: &[String]) -> Result<()> {
    let home = target.join("postgres");
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => start_in_background(&home),
        ["--stop"] => stop_in_background(&home),
        ["--guard"] => guard(&home),
        _ => Err(Failure::new("usage: cargo xtask postgres [--stop]")),
    }
}

fn start_in_background(home: &Path) -> Result<()> {
    let url_file = home.join("url");
    if let Some(cluster) = background(home)? {
        if let (true, Ok(url)) = (cluster.is_running(), fs::read_to_string(&url_file)) {
            announce(url.trim());
            return Ok(());
        }
        cluster.remove()?;
    }
    let (cluster, url) = Cluster::create(home, "background")?;
    write(&home.join("folder"), &cluster.folder().display().to_string())?;
    write(&home.join("pid"), &cluster.process_id()?)?;
    write(&url_file, &url)?;
    announce(&url);
    Ok(())
}

fn stop_in_background(home: &Path) -> Result<()> {
    let Some(cluster) = background(home)? else {
        eprintln!("no PostgreSQL server of ours runs in the background");
        return Ok(());
    };
    cluster.remove()?;
    for name in ["folder", "pid", "url"] {
        let file = home.join(name);
        if file.exists() {
            fs::remove_file(&file).map_err(|cause| Failure::at(&file, "remove", &cause))?;
        }
    }
    eprintln!("stopped and removed");
    Ok(())
}

/// The cluster that an earlier call left in the background.
fn background(home: &Path) -> Result<Option<Cluster>> {
    let folder = match fs::read_to_string(home.join("folder")) {
        Ok(text) => PathBuf::from(text.trim()),
        // A start that was interrupted leaves the cluster without these notes.
        Err(_) => home.join("background"),
    };
    if folder.exists() { Cluster::open(folder).map(Some) } else { Ok(None) }
}

fn announce(url: &str) {
    println!("export {VARIABLE}={url}");
}

fn write(file: &Path, text: &str) -> Result<()> {
    fs::write(file, format!("{text}\n")).map_err(|cause| Failure::at(file, "write", &cause))
}

/// The guard's whole life: start, tell the URL, wait for the end of the input, clear away.
fn guard(home: &Path) -> Result<()> {
    clear_abandoned(home);
    clear_abandoned(Path::new(memory::FOLDER));
    let has_memory = memory::free_gib() >= CLUSTER + PROGRAMS;
    let parent = memory::folder_for(CLUSTER).filter(|_| has_memory).unwrap_or(home);
    let (cluster, url) = Cluster::create(parent, &format!("{RUN_PREFIX}{}", std::process::id()))?;
    // Neither may keep the guard from clearing away: when the run is gone already, the writing fails,
    // and whatever the reading ends with, there is nobody left who needs the server.
    let _ = writeln!(std::io::stdout(), "{url}");
    let _ = std::io::stdin().read_to_end(&mut Vec::new());
    cluster.remove()
}

/// Removes the clusters of ours whose guard was killed; one that resists is left for the next time.
fn clear_abandoned(parent: &Path) {
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let guard = name.to_str().and_then(|name| name.strip_prefix(RUN_PREFIX));
        if guard.is_some_and(|pid| !is_alive(pid)) {
            let cluster = Cluster::open(entry.path());
            let removed = cluster.and_then(|it| if it.is_ours() { it.remove() } else { Ok(()) });
            if let Err(failure) = removed {
                eprintln!("could not clear away an abandoned PostgreSQL cluster: {failure}");
            }
        }
    }
}

fn is_alive(pid: &str) -> bool {
    process::succeeds(Command::new("sh").args(["-c", "kill -0 \"$0\"", pid]))
}

/// The PostgreSQL server of one run of the tests.
#[derive(Debug)]
pub(crate) struct TestServer {
    url: String,
    guard: Option<(Child, ChildStdin)>,
}

impl TestServer {
    /// Takes the server that `SVC_TEST_POSTGRES` names, or starts one for this run.
    pub(crate) fn start(root: &Path) -> Result<Self> {
        if let Some(url) = env::var(VARIABLE).ok().filter(|url| !url.is_empty()) {
            return Ok(Self { url, guard: None });
        }
        let program = env::current_exe()
            .map_err(|cause| Failure::new(format!("xtask can't find itself: {cause}")))?;
        let mut guard = process::command(program, root)
            .args(["postgres", "--guard"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .process_group(0)
            .spawn()
            .map_err(|cause| Failure::new(format!("could not start the guard: {cause}")))?;
        let (Some(input), Some(output)) = (guard.stdin.take(), guard.stdout.take()) else {
            return Err(Failure::new("the guard of PostgreSQL was started without pipes"));
        };
        let mut url = String::new();
        let read = BufReader::new(output).read_line(&mut url);
        if read.is_ok() && url.ends_with('\n') {
            return Ok(Self { url: url.trim().to_owned(), guard: Some((guard, input)) });
        }
        drop(input);
        let _ = guard.wait();
        Err(Failure::new("PostgreSQL did not start, see above for the reason"))
    }

    /// The URL of a superuser.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Stops and removes the server, if this run started it.
    pub(crate) fn stop(self) -> Result<()> {
        let Some((mut guard, input)) = self.guard else { return Ok(()) };
        drop(input);
        match guard.wait() {
            Ok(status) if status.success() => Ok(()),
            Ok(status) => Err(Failure::new(format!("the guard of PostgreSQL ended with {status}"))),
            Err(cause) => Err(Failure::new(format!("lost the guard of PostgreSQL: {cause}"))),
        }
    }
}
