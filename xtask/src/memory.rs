//! The machine's memory, and the folder that lies in it.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::process;

/// Where Linux has files in memory.
pub(crate) const FOLDER: &str = "/dev/shm";

const KIB_PER_GIB: u64 = 1024 * 1024;

/// How much programs can still have, in GiB; 0 where nobody tells.
pub(crate) fn free_gib() -> u64 {
    let memory = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let available = memory.lines().find_map(|line| {
        line.strip_prefix("MemAvailable:")?.trim().trim_end_matches(" kB").parse::<u64>().ok()
    });
    available.unwrap_or_default() / KIB_PER_GIB
}

/// The folder in memory, where it takes so many GiB.
pub(crate) fn folder_for(gib: u64) -> Option<&'static Path> {
    let mut df = Command::new("df");
    df.args(["--output=fstype,avail", "--block-size=1K", FOLDER]);
    let told = process::capture(&mut df).ok()?;
    let mut words = told.lines().last()?.split_whitespace();
    let is_memory = words.next() == Some("tmpfs");
    let kib: u64 = words.next()?.parse().ok()?;
    (is_memory && kib / KIB_PER_GIB >= gib).then_some(Path::new(FOLDER))
}
