//! The files that belong to the project.

use std::fs;
use std::path::Path;

use crate::failure::{Failure, Result};
use crate::process;

/// A file that is under version control, or would be with the next `git add`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct File {
    /// The path relative to the root, with `/` between the parts.
    pub(super) path: String,
    /// How many bytes it has.
    pub(super) bytes: usize,
    /// What stands in it, when that is text.
    pub(super) text: Option<String>,
}

impl File {
    /// Whether the file's name ends like this, such as `.md`.
    pub(super) fn is(&self, ending: &str) -> bool {
        self.path.ends_with(ending)
    }

    /// The text, or nothing for a file that is none.
    pub(super) fn text(&self) -> &str {
        self.text.as_deref().unwrap_or_default()
    }

    #[cfg(test)]
    pub(super) fn of_text(path: &str, text: &str) -> Self {
        Self { path: path.to_owned(), bytes: text.len(), text: Some(text.to_owned()) }
    }
}

/// Reads all files that git knows or doesn't ignore.
pub(super) fn of_the_project(root: &Path) -> Result<Vec<File>> {
    let mut git = process::command("git", root);
    // A fresh clone may belong to another user than the one who checks it.
    git.args(["-c", "safe.directory=*", "ls-files", "-z"]);
    let paths = process::capture(git.args(["--cached", "--others", "--exclude-standard"]))?;
    let mut files = Vec::new();
    for path in paths.split('\0').filter(|path| !path.is_empty()) {
        let full = root.join(path);
        // A file can be deleted without git knowing yet; a link is checked where it leads to.
        if !full.symlink_metadata().is_ok_and(|metadata| metadata.is_file()) {
            continue;
        }
        let content = fs::read(&full).map_err(|cause| Failure::at(&full, "read", &cause))?;
        files.push(File {
            path: path.to_owned(),
            bytes: content.len(),
            text: String::from_utf8(content).ok().filter(|text| !text.contains('\0')),
        });
    }
    Ok(files)
}
