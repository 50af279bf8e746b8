//! Nothing in the project depends on the machine that it was written on: no path into somebody's
//! folders, no package from anywhere but the public registries.

use super::files::File;
use super::finding::Finding;

/// Folders at the root of a disk where people and machines keep their own things.
const PRIVATE_FOLDERS: [&str; 4] = ["work", "root", "home", "Users"];

/// Where a lock file's packages come from: the lock file, how a line with a source begins, and how the
/// source does.
const LOCK_FILES: [(&str, &str, &str); 2] = [
    ("Cargo.lock", "source = \"", "registry+https://github.com/rust-lang/crates.io-index"),
    ("package-lock.json", "\"resolved\": \"", "https://registry.npmjs.org/"),
];

/// What sends a package manager elsewhere: the file, and what stands in such a line without its spaces.
const DETOURS: [(&str, &str); 7] = [
    (".npmrc", "registry="),
    (".cargo/config.toml", "[source"),
    (".cargo/config.toml", "[registr"),
    ("requirements.txt", "index-url"),
    ("requirements.txt", "find-links"),
    ("pip.conf", "index-url"),
    ("pip.conf", "find-links"),
];

/// Lines that may name such a folder: the file, what stands in the line, and the reason.
const EXCEPTIONS: [(&str, &str, &str); 0] = [];

/// Finds the lines that hold on one machine alone.
pub(super) fn check(files: &[File]) -> Vec<Finding> {
    with_exceptions(files, &EXCEPTIONS)
}

fn with_exceptions(files: &[File], exceptions: &[(&str, &str, &str)]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in files {
        for (number, line) in (1..).zip(file.text().lines()) {
            let excepted =
                exceptions.iter().any(|(path, part, _)| *path == file.path && line.contains(part));
            if let Some(complaint) = complaint(file, line).filter(|_| !excepted) {
                findings.push(Finding::new(format!("{}:{number}", file.path), complaint));
            }
        }
    }
    findings
}

fn complaint(file: &File, line: &str) -> Option<String> {
    if let Some(folder) = PRIVATE_FOLDERS.into_iter().find(|folder| names_folder(line, folder)) {
        return Some(format!("has a path into `/{folder}`, which is another one elsewhere"));
    }
    let foreign = LOCK_FILES.iter().any(|(name, begin, source)| {
        let package = line.trim_start().strip_prefix(begin);
        file.is(name) && package.is_some_and(|from| !from.starts_with(source))
    });
    if foreign {
        return Some("takes a package from elsewhere than the public registry".to_owned());
    }
    DETOURS.iter().any(|(name, part)| file.is(name) && line.replace(' ', "").contains(part)).then(
        || "sends the package manager to another registry: leave that to the machine".to_owned(),
    )
}

/// Whether an absolute path into the folder stands in the line, rather than a longer path or a URL
/// that has such a part.
fn names_folder(line: &str, folder: &str) -> bool {
    let path = format!("/{folder}/");
    line.match_indices(&path).any(|(start, _)| {
        let before = line[..start].chars().next_back();
        before.is_none_or(|character| character.is_whitespace() || "\"'`(=,<[>".contains(character))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(path: &str, line: &str) -> usize {
        with_exceptions(&[File::of_text(path, line)], &[]).len()
    }

    #[test]
    fn a_path_into_a_private_folder_is_found() {
        for folder in PRIVATE_FOLDERS {
            for line in ["see /{}/notes.md", "/{}/x", "\"/{}/x\"", "PATH=/{}/bin", "(/{}/x)"] {
                let line = line.replace("{}", folder);
                assert_eq!(count("notes.md", &line), 1, "{line}");
            }
            for line in ["docs/{}/x", "https://example.com/{}/x", "{base}/{}/x", "/{}ing/x"] {
                let line = line.replace("{}", folder);
                assert_eq!(count("notes.md", &line), 0, "{line}");
            }
        }
    }

    #[test]
    fn a_package_from_elsewhere_is_found() {
        let npm = |host: &str| format!("  \"resolved\": \"https://{host}/lit/-/lit-3.0.0.tgz\",");
        assert_eq!(count("shell/package-lock.json", &npm("registry.npmjs.org")), 0);
        assert_eq!(count("shell/package-lock.json", &npm("mirror.example")), 1);
        assert_eq!(count("Cargo.lock", "source = \"git+https://github.com/somebody/thing\""), 1);
        assert_eq!(count("receivers/requirements.txt", "--index-url https://mirror.example"), 1);
        assert_eq!(count("shell/.npmrc", "registry = https://mirror.example"), 1);
        assert_eq!(count("shell/.npmrc", "@svc:registry=https://mirror.example"), 1);
        assert_eq!(count("shell/.npmrc", "omit-lockfile-registry-resolved=true"), 0);
    }

    #[test]
    fn an_exception_holds_for_its_line_alone() {
        let folder = PRIVATE_FOLDERS[2];
        let text = format!("user at /{folder}/svc\nuser at /{folder}/other\n");
        let exceptions = [("deploy.md", "svc", "the account that the page creates")];
        let findings = with_exceptions(&[File::of_text("deploy.md", &text)], &exceptions);
        assert_eq!(findings.len(), 1);
        assert_eq!(findings[0].place, "deploy.md:2");
    }
}
