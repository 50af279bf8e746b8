//! Who may depend on whom within the project.
//!
//! Every crate stands on a tier, and depends only on crates of lower tiers. So kernel crates know no
//! module, and modules don't know each other: they share a tier. `svc-testing` is different in that
//! every crate's tests may use it, and nothing that ships may: only the facade passes it on.

use super::finding::Finding;
use crate::workspace::Package;

/// The tiers from below; a folder, or each folder in it.
const TIERS: [&[&str]; 15] = [
    &["kernel/configuration/"],
    &["kernel/core/", "kernel/macros/", "kernel/odata/"],
    &["kernel/client/", "kernel/database/"],
    &["kernel/data/"],
    &["kernel/events/", "kernel/jobs/", "kernel/openid/", "kernel/sets/"],
    &["kernel/settings/"],
    &["kernel/messages/"],
    &["kernel/http/"],
    &["kernel/live/", "kernel/sets-http/"],
    &["kernel/application/"],
    &["kernel/testing/"],
    &["modules/"],
    &["svc/"],
    &["examples/", "cli/", "bench/rounds/"],
    &["bench/", "e2e/"],
];

/// Folders of crates that have nothing to do with the others, in either direction.
const APART: &str = "xtask/";

const TESTING: &str = "svc-testing";

/// Who may depend on `svc-testing` in what it ships.
const MAY_SHIP_TESTING: [&str; 3] = ["svc/", "bench/", "e2e/"];

/// Finds the dependencies that go up or sideways.
pub(super) fn check(packages: &[Package]) -> Vec<Finding> {
    packages.iter().flat_map(|package| of_package(package, packages)).collect()
}

fn of_package(package: &Package, packages: &[Package]) -> Vec<Finding> {
    let place = format!("{}/Cargo.toml", package.folder);
    if is_apart(package) {
        let dependencies = package.dependencies.iter();
        return dependencies
            .map(|each| Finding::new(&place, format!("must not depend on `{}`", each.name)))
            .collect();
    }
    let Some(own) = tier(package) else {
        return vec![Finding::new(place, "has no tier: add its folder in xtask's `tiers.rs`")];
    };
    let mut findings = Vec::new();
    for dependency in &package.dependencies {
        if dependency.name == TESTING {
            if !dependency.for_tests && !within(package, &MAY_SHIP_TESTING) {
                findings.push(Finding::new(
                    &place,
                    format!("`{TESTING}` belongs to `[dev-dependencies]`"),
                ));
            }
            continue;
        }
        let target = packages.iter().find(|other| other.name == dependency.name);
        if target.and_then(tier).is_none_or(|other| other >= own) {
            findings.push(Finding::new(
                &place,
                format!(
                    "must not depend on `{}`, which is not on a lower tier: let the two meet in the \
                     kernel",
                    dependency.name
                ),
            ));
        }
    }
    findings
}

fn tier(package: &Package) -> Option<usize> {
    TIERS.iter().position(|folders| within(package, folders))
}

fn is_apart(package: &Package) -> bool {
    within(package, &[APART])
}

fn within(package: &Package, folders: &[&str]) -> bool {
    let folder = format!("{}/", package.folder);
    folders.iter().any(|tier| folder.starts_with(tier))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::Dependency;

    fn package(folder: &str, dependencies: &[&str]) -> Package {
        let dependencies = dependencies.iter().map(|name| match name.strip_prefix("dev:") {
            Some(name) => Dependency { name: name.to_owned(), for_tests: true },
            None => Dependency { name: (*name).to_owned(), for_tests: false },
        });
        Package {
            name: format!("svc-{}", folder.rsplit('/').next().unwrap()),
            folder: folder.to_owned(),
            dependencies: dependencies.collect(),
            main_source: None,
            tested: Vec::new(),
        }
    }

    fn found(package: Package) -> Vec<String> {
        let mut all: Vec<Package> = [
            "kernel/core",
            "kernel/odata",
            "kernel/data",
            "kernel/events",
            "kernel/jobs",
            "kernel/http",
            "kernel/application",
            "kernel/testing",
            "svc",
            "modules/chat",
            "modules/files",
            "examples/shop",
        ]
        .map(|folder| self::package(folder, &[]))
        .to_vec();
        all.retain(|other| other.folder != package.folder);
        all.push(package);
        check(&all).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn dependencies_go_down() {
        assert!(found(package("kernel/data", &["svc-core", "svc-odata"])).is_empty());
        assert!(found(package("kernel/http", &["svc-events", "svc-jobs"])).is_empty());
        assert!(found(package("modules/chat", &["svc-http", "svc-data"])).is_empty());
        assert!(found(package("svc", &["svc-chat", "svc-testing"])).is_empty());
        assert!(found(package("examples/shop", &["svc-svc", "svc-chat"])).is_empty());
        assert!(found(package("e2e/main-job", &["svc-shop", "svc-testing"])).is_empty());
    }

    #[test]
    fn nothing_goes_up_or_sideways() {
        for (folder, dependency) in [
            ("kernel/core", "svc-odata"),
            ("kernel/core", "svc-data"),
            ("kernel/events", "svc-jobs"),
            ("kernel/data", "svc-http"),
            ("kernel/http", "svc-chat"),
            ("modules/chat", "svc-files"),
            ("modules/chat", "dev:svc-files"),
            ("modules/chat", "svc-svc"),
            ("modules/chat", "svc-shop"),
            ("modules/chat", "unknown"),
        ] {
            let findings = found(package(folder, &[dependency]));
            assert_eq!(findings.len(), 1, "{folder} -> {dependency}: {findings:?}");
            assert!(findings[0].starts_with(&format!("{folder}/Cargo.toml: ")), "{findings:?}");
        }
    }

    #[test]
    fn testing_is_for_tests() {
        assert!(found(package("kernel/core", &["dev:svc-testing"])).is_empty());
        assert!(found(package("modules/chat", &["dev:svc-testing"])).is_empty());
        let shipped = found(package("modules/chat", &["svc-testing"]));
        assert_eq!(
            shipped,
            ["modules/chat/Cargo.toml: `svc-testing` belongs to `[dev-dependencies]`"]
        );
    }

    #[test]
    fn a_new_folder_needs_a_tier() {
        let findings = found(package("tools/thing", &[]));
        assert!(findings[0].contains("has no tier"), "{findings:?}");
        // A name that only begins like a known folder has none either.
        assert!(found(package("modules-old/thing", &[]))[0].contains("has no tier"));
    }

    #[test]
    fn the_chores_stand_apart() {
        assert!(found(package("xtask", &[])).is_empty());
        assert_eq!(found(package("xtask", &["svc-core"])).len(), 1);
        assert_eq!(found(package("examples/shop", &["svc-xtask"])).len(), 1);
    }
}
