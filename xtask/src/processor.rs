//! How much of the processor each step takes: of steps that share two cores, the wall clock says little.
//!
//! The system adds up, for each process, what it took itself and what those took that it waited for, all the way down. What a
//! step starts is therefore known once the step is over, but for what nobody has waited for: a server in the background, such
//! as that of PostgreSQL. Two lanes in one process have one sum, so each program of the second lane is asked before it is
//! waited for, and taken off.

use std::fs;
use std::process::Command;
use std::sync::Mutex;
use std::thread;
use std::time::Duration;

use crate::failure::Result;
use crate::process;

/// Linux counts in hundredths of a second for whoever asks, whatever its own clock does.
const TICKS_PER_SECOND: u64 = 100;

/// How often a program of the second lane is asked whether it has ended.
const PAUSE: Duration = Duration::from_millis(50);

/// Counts for both lanes.
#[derive(Debug, Default)]
pub(crate) struct Meter {
    /// What the programs of the second lane took.
    beside: Mutex<Duration>,
}

/// What the system says of a process.
#[derive(Debug, PartialEq, Eq)]
struct Told {
    has_ended: bool,
    /// What it took, with all that it waited for.
    time: Duration,
}

impl Meter {
    /// What this process and all that it waited for took until now, without the second lane.
    pub(crate) fn read(&self) -> Duration {
        let beside = self.lock();
        told("self").map_or(Duration::ZERO, |own| own.time.saturating_sub(*beside))
    }

    /// Runs a command of the second lane; gives what it took, too.
    pub(crate) fn run_beside(&self, command: &mut Command) -> (Result<()>, Duration) {
        let mut took = Duration::ZERO;
        let result = process::run_until(command, |child| {
            let Some(time) = at_its_end(child.id()) else { return child.wait() };
            took = time;
            // Waiting moves the time into the sum of this process: nobody reads the sum between.
            let mut beside = self.lock();
            *beside += time;
            child.wait()
        });
        (result, took)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Duration> {
        self.beside.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

/// What a process took, once it has ended; none where the system doesn't say.
fn at_its_end(id: u32) -> Option<Duration> {
    loop {
        match told(&id.to_string())? {
            Told { has_ended: true, time } => return Some(time),
            Told { has_ended: false, .. } => thread::sleep(PAUSE),
        }
    }
}

fn told(process: &str) -> Option<Told> {
    parse(&fs::read_to_string(format!("/proc/{process}/stat")).ok()?)
}

/// Reads a line of `/proc/<process>/stat`: behind the name, which may hold anything, the state and ten numbers come before
/// the times.
fn parse(stat: &str) -> Option<Told> {
    let (_, fields) = stat.rsplit_once(')')?;
    let mut fields = fields.split_whitespace();
    let has_ended = fields.next()? == "Z";
    let times = fields.skip(10).take(4).map(str::parse::<u64>);
    let ticks: u64 = times.sum::<std::result::Result<u64, _>>().ok()?;
    Some(Told { has_ended, time: Duration::from_millis(ticks * 1000 / TICKS_PER_SECOND) })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn reads_what_the_system_says() {
        let line = "7 (a (b) c) Z 1 7 7 0 -1 4194560 1 2 3 4 100 20 3000 5 20 0 1 0 9";
        let told = Told { has_ended: true, time: Duration::from_millis(31_250) };
        assert_eq!(parse(line), Some(told));
        assert_eq!(parse("7 (a) S 1 2"), Some(Told { has_ended: false, time: Duration::ZERO }));
        assert_eq!(parse(""), None);
    }

    #[test]
    fn what_runs_beside_is_counted_for_itself_alone() {
        let meter = Meter::default();
        let mut busy = process::command("sh", Path::new("."));
        busy.args(["-c", "i=0; while [ $i -lt 300000 ]; do i=$((i + 1)); done"]);
        let (result, took) = meter.run_beside(&mut busy);
        assert_eq!(result, Ok(()));
        assert!(took > Duration::ZERO);
        assert_eq!(*meter.lock(), took);
        let (result, _) = meter.run_beside(process::command("false", Path::new(".")).arg("x"));
        assert!(result.unwrap_err().to_string().starts_with("`false x` ended with"));
    }
}
