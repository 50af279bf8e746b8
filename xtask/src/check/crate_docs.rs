//! Every crate says what it is: in a `README.md`, or in the docs of the crate itself.

use super::files::File;
use super::finding::Finding;
use crate::workspace::Package;

/// The fewest lines in which that can be said.
const FEWEST_LINES: usize = 3;

/// Finds the crates that say nothing.
pub(super) fn check(packages: &[Package], files: &[File]) -> Vec<Finding> {
    let text = |path: &str| files.iter().find(|file| file.path == path).map_or("", File::text);
    packages
        .iter()
        .filter(|package| {
            let readme = text(&format!("{}/README.md", package.folder));
            let source = package.main_source.as_deref().map_or("", text);
            lines(readme) < FEWEST_LINES && doc_lines(source) < FEWEST_LINES
        })
        .map(|package| {
            Finding::new(
                &package.folder,
                format!("say in {FEWEST_LINES} lines or more of `README.md` or `//!` what it is"),
            )
        })
        .collect()
}

fn lines(text: &str) -> usize {
    text.lines().filter(|line| !line.trim().is_empty()).count()
}

/// The lines of the docs that a source file opens with.
fn doc_lines(source: &str) -> usize {
    let docs = source.lines().map_while(|line| line.strip_prefix("//!"));
    docs.filter(|line| !line.trim().is_empty()).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn either_place_will_do() {
        let package = |name: &str| Package {
            name: name.to_owned(),
            folder: format!("kernel/{name}"),
            main_source: Some(format!("kernel/{name}/src/lib.rs")),
            ..Package::default()
        };
        let packages = ["read", "documented", "silent"].map(package);
        let files = [
            File::of_text("kernel/read/README.md", "# Read\n\nOne line.\nAnother line.\n"),
            File::of_text("kernel/read/src/lib.rs", ""),
            File::of_text("kernel/documented/src/lib.rs", "//! One.\n//!\n//! Two.\n//! Three.\n"),
            File::of_text("kernel/silent/README.md", "# Silent\n"),
            File::of_text("kernel/silent/src/lib.rs", "//! One.\n//!\n//!\nmod a;\n//! Late.\n"),
        ];
        let findings = check(&packages, &files);
        assert_eq!(findings.len(), 1);
        assert_eq!(findings[0].place, "kernel/silent");
    }
}
