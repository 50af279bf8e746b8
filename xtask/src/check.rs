//! The project's own conventions, as far as a program can check them: `cargo xtask check`.
//!
//! Each check is a module with a pure function over what it looks at, which gives its findings. What
//! a file may do against a rule stands with a reason in a list in the check itself.
//!
//! Some of it is what `cargo deny` or `lychee` do as well. Each is one more program to build or to fetch before the
//! first run, some minutes of a compiler, where these six hundred lines take a second.

mod crate_docs;
mod excerpts;
mod features;
mod files;
mod finding;
mod licences;
mod links;
mod portability;
mod sizes;
mod snapshots;
mod spdx;
mod tiers;

use crate::failure::{Failure, Result};
use crate::workspace::Workspace;

use finding::Finding;

/// A lock file that doesn't fit the manifests is a finding: it says nothing against the other checks.
fn licences_of(workspace: &Workspace) -> Vec<Finding> {
    match licences::dependencies(&workspace.root) {
        Ok(packages) => licences::check(&packages),
        Err(failure) => vec![Finding::new("Cargo.lock", failure.to_string())],
    }
}

/// Runs all checks and prints what they find.
pub(crate) fn main(workspace: &Workspace) -> Result<()> {
    let files = files::of_the_project(&workspace.root)?;
    let checks = [
        ("tiers", tiers::check(&workspace.packages)),
        ("features", features::check(&files)),
        ("licences", licences_of(workspace)),
        ("snapshots", snapshots::check(&files)),
        ("sizes", sizes::check(&files)),
        ("portability", portability::check(&files)),
        ("links", links::check(&files)),
        ("excerpts", excerpts::check(&files)),
        ("crate docs", crate_docs::check(&workspace.packages, &files)),
    ];
    let mut count = 0;
    for (name, findings) in &checks {
        for finding in findings {
            println!("{name}: {finding}");
        }
        count += findings.len();
    }
    if count == 0 {
        println!("{} files hold the conventions", files.len());
        return Ok(());
    }
    Err(Failure::new(format!("{count} findings against the conventions")))
}
