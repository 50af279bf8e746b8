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
    let mounts = fs::read_to_string("/proc/mounts").unwrap_or_default();
    let is_memory = mounts.lines().any(|line| {
        let mut words = line.split(' ').skip(1);
        words.next() == Some(FOLDER) && words.next() == Some("tmpfs")
    });
    if !is_memory {
        return None;
    }
    let told =
        process::capture(Command::new("df").args(["--output=avail", "--block-size=1K", FOLDER]));
    let kib: u64 = told.ok()?.lines().last()?.trim().parse().ok()?;
    (kib / KIB_PER_GIB >= gib).then_some(Path::new(FOLDER))
}
