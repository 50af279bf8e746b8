//! Where the programs of a PostgreSQL server lie.

use std::fs;
use std::path::{Path, PathBuf};

use crate::process;

/// Where Debian puts one folder per major version, outside of `PATH`.
const DEBIAN_FOLDER: &str = "/usr/lib/postgresql";

/// What it takes to create, start and stop a server.
const PROGRAMS: [&str; 3] = ["initdb", "pg_ctl", "postgres"];

/// The folder with the server's programs: Debian's newest version first, because what lies on `PATH`
/// may be a script around it, then the folder that `initdb` on `PATH` really lies in.
pub(crate) fn find() -> Option<PathBuf> {
    let versions = fs::read_dir(DEBIAN_FOLDER)
        .map(|entries| {
            entries
                .flatten()
                .map(|entry| entry.file_name().to_string_lossy().into_owned())
                .collect()
        })
        .unwrap_or_default();
    newest_first(versions)
        .into_iter()
        .map(|version| Path::new(DEBIAN_FOLDER).join(version).join("bin"))
        .chain(folder_on_path())
        .find(|folder| PROGRAMS.iter().all(|program| folder.join(program).is_file()))
}

fn folder_on_path() -> Option<PathBuf> {
    let program = process::find_program("initdb")?;
    let real = fs::canonicalize(&program).unwrap_or(program);
    real.parent().map(Path::to_path_buf)
}

/// Major versions, the newest first; names that aren't versions are left out.
fn newest_first(names: Vec<String>) -> Vec<String> {
    let mut versions: Vec<(u32, String)> = names
        .into_iter()
        .filter_map(|name| Some((name.split('.').next()?.parse().ok()?, name)))
        .collect();
    versions.sort_by(|left, right| right.cmp(left));
    versions.into_iter().map(|(_, name)| name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_version_comes_first() {
        let names = ["9.6", "15", "common", "17"].map(str::to_owned).to_vec();
        assert_eq!(newest_first(names), ["17", "15", "9.6"]);
    }
}
