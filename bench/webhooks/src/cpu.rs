//! CPU time and memory, from `/proc`.

use svc_testing::{Backend, TestApp};

/// Ticks of the kernel's accounting per second, on every Linux that people run.
const TICKS: f64 = 100.0;

/// CPU seconds, user and system, of the application and of its database.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Spent {
    pub(crate) application: f64,
    pub(crate) database: f64,
}

impl Spent {
    pub(crate) fn since(self, before: Self) -> Self {
        Self {
            application: self.application - before.application,
            database: self.database - before.database,
        }
    }

    pub(crate) fn all(self) -> f64 {
        self.application + self.database
    }
}

/// Whose CPU time is counted.
pub(crate) struct Meter {
    /// PostgreSQL's first process.
    postmaster: Option<u32>,
}

impl Meter {
    /// Counts this process and, for PostgreSQL, all processes of the server, also those that end
    /// meanwhile. What others do on the same server is counted too: measure on a quiet one.
    pub(crate) async fn new(app: &TestApp) -> Self {
        if app.database().backend() == Backend::Sqlite {
            return Self { postmaster: None };
        }
        let database = app.app().service::<svc_database::Database>().unwrap();
        let statement = database.statement("SELECT pg_backend_pid()", []);
        let rows = database.rows(statement).await.unwrap();
        let backend: i32 = rows[0].try_get_by_index(0).unwrap();
        let stat = Stat::of(u32::try_from(backend).unwrap());
        Self { postmaster: Some(stat.expect("a server on this machine").parent) }
    }

    pub(crate) fn read(&self) -> Spent {
        let own = Stat::of(std::process::id()).unwrap().seconds;
        let database = self.postmaster.map_or(0.0, |postmaster| {
            let first = Stat::of(postmaster).unwrap();
            let processes = std::fs::read_dir("/proc").unwrap().filter_map(|entry| {
                let id = entry.ok()?.file_name().to_str()?.parse().ok()?;
                Stat::of(id).filter(|stat| stat.parent == postmaster)
            });
            let living: f64 = processes.map(|stat| stat.seconds).sum();
            first.seconds + first.of_children + living
        });
        Spent { application: own, database }
    }
}

struct Stat {
    parent: u32,
    seconds: f64,
    /// Of children that have ended.
    of_children: f64,
}

impl Stat {
    fn of(process: u32) -> Option<Self> {
        let text = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
        // The name stands in parentheses and may hold anything.
        let fields: Vec<&str> = text.rsplit_once(')')?.1.split_whitespace().collect();
        let seconds = |index: usize| fields[index].parse::<f64>().unwrap() / TICKS;
        Some(Self {
            parent: fields[1].parse().ok()?,
            seconds: seconds(11) + seconds(12),
            of_children: seconds(13) + seconds(14),
        })
    }
}

/// The memory that this process holds, in MiB.
pub(crate) fn resident_mib() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    resident.trim().trim_end_matches(" kB").parse::<f64>().unwrap() / 1_024.0
}
