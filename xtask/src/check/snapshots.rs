//! Every snapshot of `insta` is still looked at by a test.
//!
//! A `.snap` file names its source file, relative to the root. That file must exist, and the snapshot's
//! name (the test function's, or the one given to the macro) must occur in it. A test that takes
//! several snapshots under made-up names gives them as suffixes (`it__set__reads@empty.snap`), so
//! that the function's name remains.

use super::files::File;
use super::finding::Finding;

/// Finds the snapshots that nobody looks at, and those that wait for a decision.
pub(super) fn check(files: &[File]) -> Vec<Finding> {
    files
        .iter()
        .filter_map(|file| {
            if file.is(".snap.new") || file.is(".pending-snap") {
                return Some(Finding::new(&file.path, "accept or reject this pending snapshot"));
            }
            let complaint = file.is(".snap").then(|| complaint(file, files)).flatten()?;
            Some(Finding::new(&file.path, complaint))
        })
        .collect()
}

fn complaint(snapshot: &File, files: &[File]) -> Option<String> {
    let Some(source) = source(snapshot.text()) else {
        return Some("names no source: it isn't a snapshot of `insta`".to_owned());
    };
    let Some(file) = files.iter().find(|file| file.path == source) else {
        return Some(format!("its source `{source}` is gone: delete it"));
    };
    let name = name(&snapshot.path);
    (!occurs(name, file.text()))
        .then(|| format!("nothing in `{source}` is called `{name}` any more: delete it"))
}

/// The source file that the header names.
fn source(text: &str) -> Option<&str> {
    let header = text.strip_prefix("---\n")?.split("\n---\n").next()?;
    header
        .lines()
        .find_map(|line| line.strip_prefix("source: "))
        .map(|source| source.trim().trim_matches('"'))
}

/// What is left of the file's name without the modules before and the suffix and counter after it.
fn name(path: &str) -> &str {
    let file = path.rsplit('/').next().unwrap_or(path);
    let stem = file.strip_suffix(".snap").unwrap_or(file);
    let stem = stem.split('@').next().unwrap_or(stem);
    let name = stem.rsplit("__").next().unwrap_or(stem);
    match name.rsplit_once('-') {
        Some((before, counter)) if counter.bytes().all(|byte| byte.is_ascii_digit()) => before,
        _ => name,
    }
}

/// Whether the name stands in the text as a whole; the macro leaves out a function's `test_`.
fn occurs(name: &str, text: &str) -> bool {
    text.match_indices(name).any(|(start, _)| {
        let before = text[..start].strip_suffix("test_").unwrap_or(&text[..start]);
        let after = &text[start + name.len()..];
        !before.ends_with(is_word) && !after.starts_with(is_word)
    })
}

fn is_word(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    const SNAPSHOT: &str =
        "---\nsource: kernel/http/tests/it/errors.rs\nexpression: body\n---\n{}\n";

    fn found(snapshot: &str, source: &str) -> Vec<String> {
        let files = [
            File::of_text(&format!("kernel/http/tests/it/snapshots/{snapshot}"), SNAPSHOT),
            File::of_text("kernel/http/tests/it/errors.rs", source),
        ];
        check(&files).into_iter().map(|finding| finding.message).collect()
    }

    #[test]
    fn a_snapshot_with_a_test_is_fine() {
        for name in ["not_found", "not_found-2", "not_found@post", "not_found@post-3"] {
            let snapshot = format!("it__errors__{name}.snap");
            assert!(found(&snapshot, "async fn not_found() {}").is_empty(), "{name}");
            assert!(found(&snapshot, "fn test_not_found() {}").is_empty(), "{name}");
            assert!(
                found(&snapshot, "assert_snapshot!(\"not_found\", body);").is_empty(),
                "{name}"
            );
        }
    }

    #[test]
    fn a_snapshot_without_a_test_is_found() {
        let renamed = found("it__errors__not_found.snap", "fn not_found_any_more() {}");
        assert!(renamed[0].contains("`not_found`"), "{renamed:?}");
        assert_eq!(found("it__errors__not_found.snap", "").len(), 1);

        let orphan = [File::of_text("a/snapshots/it__errors__not_found.snap", SNAPSHOT)];
        assert!(check(&orphan)[0].message.contains("is gone"));
    }

    #[test]
    fn a_file_without_header_and_a_pending_snapshot_are_found() {
        let files = [
            File::of_text("a/snapshots/it__x.snap", "just text"),
            File::of_text("a/snapshots/it__y.snap.new", SNAPSHOT),
        ];
        assert_eq!(check(&files).len(), 2);
    }
}
