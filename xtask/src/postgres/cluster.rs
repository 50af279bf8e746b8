//! A PostgreSQL cluster of our own: created, started, stopped and removed.
//!
//! A cluster is one folder: `data` (the cluster), `socket` (its Unix socket), `log`. It belongs to the
//! account that the server runs as. Nothing in it is worth keeping, so the server doesn't wait for the
//! disk, and every role is trusted, on 127.0.0.1 alone.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::account::Account;
use super::binaries;
use crate::failure::{Failure, Result};
use crate::process;

/// What differs from PostgreSQL's defaults.
const SETTINGS: &str = "
listen_addresses = '127.0.0.1'
max_connections = 300
shared_buffers = '128MB'
autovacuum = on
fsync = off
synchronous_commit = off
full_page_writes = off
wal_level = minimal
max_wal_senders = 0
max_wal_size = '256MB'
jit = off
";

/// The address of a Unix socket holds 107 bytes, of which `/socket/.s.PGSQL.65535` takes 22.
const LONGEST_FOLDER: usize = 107 - 22;

/// Between choosing a free port and listening on it, somebody else may take it.
const START_ATTEMPTS: u32 = 5;

/// A cluster in its folder.
#[derive(Debug)]
pub(crate) struct Cluster {
    folder: PathBuf,
    programs: PathBuf,
    account: Account,
}

impl Cluster {
    /// Creates a cluster named `name` below `parent`, or below the system's folder for temporary files
    /// when the server's account can't get into `parent`; gives it with the URL of its superuser.
    pub(crate) fn create(parent: &Path, name: &str) -> Result<(Self, String)> {
        let programs = find_programs()?;
        let account = Account::choose()?;
        let folder = new_folder(parent, name, account)?;
        let cluster = Self { folder, programs, account };
        match cluster.initialise().and_then(|()| cluster.start()) {
            Ok(url) => Ok((cluster, url)),
            Err(failure) => match cluster.remove() {
                Ok(()) => Err(failure),
                Err(remains) => Err(Failure::new(format!("{failure}\n{remains}"))),
            },
        }
    }

    /// A cluster that was created before.
    pub(crate) fn open(folder: PathBuf) -> Result<Self> {
        Ok(Self { folder, programs: find_programs()?, account: Account::choose()? })
    }

    /// Where it lies.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Whether it belongs to the account that we start servers as: in a folder that all share, anybody may
    /// have made it.
    pub(crate) fn is_ours(&self) -> bool {
        self.account.owns(&self.folder)
    }

    /// Whether its server runs.
    pub(crate) fn is_running(&self) -> bool {
        process::succeeds(self.pg_ctl().arg("status"))
    }

    /// The process number of its server.
    pub(crate) fn process_id(&self) -> Result<String> {
        let file = self.data().join("postmaster.pid");
        let text = fs::read_to_string(&file).map_err(|cause| Failure::at(&file, "read", &cause))?;
        Ok(text.lines().next().unwrap_or_default().trim().to_owned())
    }

    /// Stops its server, if it runs, and deletes everything.
    pub(crate) fn remove(self) -> Result<()> {
        if self.is_running() {
            process::capture(self.pg_ctl().args(["--mode=immediate", "--wait", "stop"]))?;
        }
        fs::remove_dir_all(&self.folder)
            .map_err(|cause| Failure::at(&self.folder, "remove", &cause))
    }

    fn initialise(&self) -> Result<()> {
        let mut initdb = self.command("initdb");
        initdb
            .arg("--pgdata")
            .arg(self.data())
            .args(["--username=postgres", "--auth=trust", "--encoding=UTF8", "--no-sync"])
            .arg(format!("--locale={}", locale()));
        process::capture(&mut initdb)?;

        let file = self.data().join("postgresql.conf");
        let defaults =
            fs::read_to_string(&file).map_err(|cause| Failure::at(&file, "read", &cause))?;
        let socket = self.folder.join("socket");
        let settings = format!(
            "{defaults}\n{SETTINGS}unix_socket_directories = '{}'\n",
            socket.display().to_string().replace('\'', "''")
        );
        fs::write(&file, settings).map_err(|cause| Failure::at(&file, "write", &cause))
    }

    fn start(&self) -> Result<String> {
        let mut attempt = 1;
        loop {
            let port = free_port()?;
            let mut pg_ctl = self.pg_ctl();
            pg_ctl.arg("--log").arg(self.log()).arg(format!("--options=-p {port}"));
            match process::capture(pg_ctl.args(["--wait", "--timeout=60", "start"])) {
                Ok(_) => return Ok(format!("postgres://postgres@127.0.0.1:{port}/postgres")),
                Err(_) if attempt < START_ATTEMPTS => attempt += 1,
                Err(failure) => {
                    let log = fs::read_to_string(self.log()).unwrap_or_default();
                    let end = process::last_lines(&log, 10);
                    return Err(Failure::new(format!("{failure}\nits log ends with:\n{end}")));
                }
            }
        }
    }

    fn pg_ctl(&self) -> Command {
        let mut command = self.command("pg_ctl");
        command.arg("--pgdata").arg(self.data());
        command
    }

    fn command(&self, program: &str) -> Command {
        let mut command = process::command(self.programs.join(program), &self.folder);
        command.env("HOME", &self.folder);
        // They would reach into a server that has nothing to do with this one.
        for variable in ["PGDATA", "PGPORT", "PGHOST", "PGUSER", "PGDATABASE", "PGOPTIONS"] {
            command.env_remove(variable);
        }
        self.account.apply(&mut command);
        command
    }

    fn data(&self) -> PathBuf {
        self.folder.join("data")
    }

    fn log(&self) -> PathBuf {
        self.folder.join("log")
    }
}

fn find_programs() -> Result<PathBuf> {
    binaries::find().ok_or_else(|| {
        Failure::new(
            "found no PostgreSQL server: install Debian's package `postgresql`, put `initdb` and \
             `pg_ctl` on `PATH`, or set `SVC_TEST_POSTGRES` to the URL of a superuser",
        )
    })
}

/// Makes the cluster's folder, with a `socket` folder in it, for nobody but the account.
fn new_folder(parent: &Path, name: &str, account: Account) -> Result<PathBuf> {
    let own = parent.join(name);
    fs::create_dir_all(parent).map_err(|cause| Failure::at(parent, "create", &cause))?;
    let folder = if fits(&own) && account.can_enter(parent) {
        own
    } else {
        std::env::temp_dir().join(format!("svc-postgres-{}-{name}", std::process::id()))
    };
    let private = |path: &Path| {
        // It fails when somebody else was there first, which in a shared folder could be a trap.
        fs::DirBuilder::new()
            .mode(0o700)
            .create(path)
            .map_err(|cause| Failure::at(path, "create", &cause))?;
        account.own(path)
    };
    private(&folder)?;
    private(&folder.join("socket"))?;
    Ok(folder)
}

fn fits(folder: &Path) -> bool {
    folder.as_os_str().len() <= LONGEST_FOLDER
}

/// A locale that sorts the same everywhere and yet knows the letters beyond ASCII.
fn locale() -> &'static str {
    let known = process::capture(Command::new("locale").arg("-a")).unwrap_or_default();
    if known.lines().any(|name| matches!(name, "C.utf8" | "C.UTF-8")) { "C.UTF-8" } else { "C" }
}

fn free_port() -> Result<u16> {
    TcpListener::bind(("127.0.0.1", 0))
        .and_then(|listener| listener.local_addr())
        .map(|address| address.port())
        .map_err(|cause| Failure::new(format!("found no free port on 127.0.0.1: {cause}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_too_deep_for_a_socket_is_refused() {
        assert!(fits(Path::new("/checkout/target/postgres/background")));
        assert!(!fits(Path::new(&format!("/{}", "x".repeat(LONGEST_FOLDER)))));
        let longest = format!("{}/socket/.s.PGSQL.65535", "x".repeat(LONGEST_FOLDER));
        assert_eq!(longest.len(), 107);
    }
}
