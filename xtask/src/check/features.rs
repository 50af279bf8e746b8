//! The crate `features` names everything that the project's crates depend on.
//!
//! What it leaves out would get other features when one crate is built than when all are, and be compiled
//! twice.

use super::files::File;
use super::finding::Finding;

const WORKSPACE: &str = "Cargo.toml";
const FEATURES: &str = "xtask/features/Cargo.toml";

/// Finds the dependencies of the workspace that it leaves out.
pub(super) fn check(files: &[File]) -> Vec<Finding> {
    let text = |path: &str| files.iter().find(|file| file.path == path).map_or("", File::text);
    let named = names(text(FEATURES), "[dependencies]");
    names(text(WORKSPACE), "[workspace.dependencies]")
        .into_iter()
        .filter(|(name, line)| !is_own(line) && !named.iter().any(|(other, _)| other == name))
        .map(|(name, _)| Finding::new(FEATURES, format!("add `{name}.workspace = true`")))
        .collect()
}

/// A crate of the project itself.
fn is_own(line: &str) -> bool {
    line.contains("path = ")
}

/// The names that are given in a section, with their lines.
fn names<'a>(manifest: &'a str, section: &str) -> Vec<(&'a str, &'a str)> {
    let lines = manifest.lines().skip_while(|line| *line != section).skip(1);
    lines
        .take_while(|line| !line.starts_with('['))
        .filter(|line| line.starts_with(|first: char| first.is_ascii_alphabetic()))
        .filter_map(|line| Some((line.split([' ', '.', '=']).next()?, line)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_out_is_found() {
        let workspace = "[workspace.dependencies]\nsvc = { path = \"svc\" }\nurl = \"2\"\n\
                         sea-orm = { version = \"2\", features = [\n    \"macros\",\n] }\nuuid = \"1\"\n\
                         [profile.dev]\ndebug = 1\n";
        let features = "[package]\nname = \"features\"\n[dependencies]\nuuid.workspace = true\n\
                        sea-orm = { workspace = true, features = [] }\n";
        let files = [File::of_text(WORKSPACE, workspace), File::of_text(FEATURES, features)];
        let expected = [Finding::new(FEATURES, "add `url.workspace = true`")];
        assert_eq!(check(&files), expected);
    }
}
