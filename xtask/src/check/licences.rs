//! Every dependency comes under a permissive licence.
//!
//! All packages of `Cargo.lock` count, also those for other platforms and for tests. The lock file
//! itself must fit the manifests, or the check would look at other packages than the next build.

use std::path::Path;

use super::finding::Finding;
use super::spdx;
use crate::cargo;
use crate::failure::Result;
use crate::process;
use crate::workspace::{list, parse_metadata, text};

/// Licences that allow use in closed products and ask for no more than a notice.
const PERMISSIVE: [&str; 15] = [
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "BlueOak-1.0.0",
    "CC0-1.0",
    "CDLA-Permissive-2.0",
    "ISC",
    "MIT",
    "MIT-0",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
];

/// Packages that may come under another licence: the package, its licence, and the reason.
const EXCEPTIONS: [(&str, &str, &str); 0] = [];

/// A package that somebody else made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ThirdParty {
    name: String,
    version: String,
    licence: Option<String>,
}

/// All packages of the lock file that aren't our own.
pub(super) fn dependencies(root: &Path) -> Result<Vec<ThirdParty>> {
    let mut cargo = cargo::command(root);
    cargo.args(["metadata", "--format-version", "1", "--locked"]);
    let metadata = parse_metadata(&process::capture(&mut cargo)?)?;
    list(&metadata, "packages")?
        .iter()
        .filter(|package| !package["source"].is_null())
        .map(|package| {
            Ok(ThirdParty {
                name: text(package, "name")?.to_owned(),
                version: text(package, "version")?.to_owned(),
                licence: package["license"].as_str().map(str::to_owned),
            })
        })
        .collect()
}

/// Finds the packages whose licence asks for more.
pub(super) fn check(packages: &[ThirdParty]) -> Vec<Finding> {
    with_exceptions(packages, &EXCEPTIONS)
}

fn with_exceptions(packages: &[ThirdParty], exceptions: &[(&str, &str, &str)]) -> Vec<Finding> {
    let judged = packages.iter().filter_map(|package| {
        let licence = package.licence.as_deref();
        if exceptions
            .iter()
            .any(|(name, given, _)| *name == package.name && Some(*given) == licence)
        {
            return None;
        }
        let complaint = complaint(licence)?;
        Some(Finding::new(format!("{} {}", package.name, package.version), complaint))
    });
    let unused = exceptions.iter().filter(|(name, given, _)| {
        !packages
            .iter()
            .any(|package| package.name == *name && package.licence.as_deref() == Some(*given))
    });
    judged
        .chain(unused.map(|(name, _, _)| {
            Finding::new(*name, "the exception for its licence is not needed: remove it")
        }))
        .collect()
}

fn complaint(licence: Option<&str>) -> Option<String> {
    let Some(licence) = licence else {
        return Some(
            "names no licence: look into it and replace it or add an exception".to_owned(),
        );
    };
    match spdx::is_allowed(licence, &|id| PERMISSIVE.contains(&id)) {
        Ok(true) => None,
        Ok(false) => Some(format!(
            "its licence `{licence}` is not among the permissive ones: replace it or add an exception"
        )),
        Err(error) => Some(format!("its licence `{licence}` can't be read: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(name: &str, licence: Option<&str>) -> ThirdParty {
        ThirdParty {
            name: name.to_owned(),
            version: "1.0.0".to_owned(),
            licence: licence.map(str::to_owned),
        }
    }

    #[test]
    fn what_is_not_permissive_is_found() {
        let packages = [
            package("good", Some("MIT OR GPL-3.0-only")),
            package("weak", Some("MPL-2.0")),
            package("silent", None),
            package("garbled", Some("MIT OR")),
        ];
        let findings = with_exceptions(&packages, &[]);
        let places: Vec<&str> = findings.iter().map(|finding| finding.place.as_str()).collect();
        assert_eq!(places, ["weak 1.0.0", "silent 1.0.0", "garbled 1.0.0"]);
    }

    #[test]
    fn an_exception_holds_for_one_package_and_its_licence() {
        let exceptions = [("weak", "MPL-2.0", "a file of it was never changed")];
        assert!(with_exceptions(&[package("weak", Some("MPL-2.0"))], &exceptions).is_empty());
        // The licence changed: the package is judged again, and the exception has no use.
        assert_eq!(with_exceptions(&[package("weak", Some("GPL-3.0"))], &exceptions).len(), 2);
        assert_eq!(with_exceptions(&[], &exceptions).len(), 1);
    }
}
