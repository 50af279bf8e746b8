//! Files stay small enough to be read.

use super::files::File;
use super::finding::Finding;

/// The most lines that a source file has.
const LONGEST_SOURCE: usize = 600;

/// The most bytes that any file has: more belongs somewhere else than under version control.
const LARGEST_FILE: usize = 512 * 1024;

/// What counts as a source file.
const SOURCES: [&str; 4] = [".rs", ".ts", ".js", ".mjs"];

/// Files that may be longer or larger: the path and the reason.
const EXCEPTIONS: [(&str, &str); 1] = [(
    "examples/shop/tests/it/snapshots/it__described__openapi.snap",
    "the whole API of all modules in one document, as it is served",
)];

/// Finds the files that have grown too large, and exceptions that aren't needed.
pub(super) fn check(files: &[File]) -> Vec<Finding> {
    with_exceptions(files, &EXCEPTIONS)
}

fn with_exceptions(files: &[File], exceptions: &[(&str, &str)]) -> Vec<Finding> {
    let is_excepted = |file: &File| exceptions.iter().any(|(path, _)| *path == file.path);
    let too_large = files
        .iter()
        .filter(|file| !is_excepted(file))
        .filter_map(|file| Some(Finding::new(&file.path, complaint(file)?)));
    let unused = exceptions
        .iter()
        .filter(|(path, _)| {
            !files.iter().any(|file| file.path == *path && complaint(file).is_some())
        })
        .map(|(path, _)| {
            Finding::new(*path, "the exception for its size is not needed: remove it")
        });
    too_large.chain(unused).collect()
}

fn complaint(file: &File) -> Option<String> {
    let lines = file.text().lines().count();
    if SOURCES.iter().any(|ending| file.is(ending)) && lines > LONGEST_SOURCE {
        return Some(format!("has {lines} lines, more than {LONGEST_SOURCE}: split it"));
    }
    (file.bytes > LARGEST_FILE)
        .then(|| format!("has {} bytes, more than {LARGEST_FILE}: keep it elsewhere", file.bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(findings: &[Finding]) -> Vec<&str> {
        findings.iter().map(|finding| finding.place.as_str()).collect()
    }

    #[test]
    fn only_what_is_too_large_is_found() {
        let files = [
            File::of_text("fits.rs", &"line\n".repeat(LONGEST_SOURCE)),
            File::of_text("long.rs", &"line\n".repeat(LONGEST_SOURCE + 1)),
            File::of_text("long.md", &"line\n".repeat(LONGEST_SOURCE + 1)),
            File { path: "picture.png".to_owned(), bytes: LARGEST_FILE + 1, text: None },
        ];
        assert_eq!(places(&with_exceptions(&files, &[])), ["long.rs", "picture.png"]);
    }

    #[test]
    fn an_exception_must_be_needed() {
        let files = [File::of_text("long.rs", &"line\n".repeat(LONGEST_SOURCE + 1))];
        assert!(with_exceptions(&files, &[("long.rs", "one table")]).is_empty());
        let short = [File::of_text("long.rs", "line\n")];
        assert_eq!(places(&with_exceptions(&short, &[("long.rs", "one table")])), ["long.rs"]);
        assert_eq!(places(&with_exceptions(&[], &[("gone.rs", "one table")])), ["gone.rs"]);
    }
}
