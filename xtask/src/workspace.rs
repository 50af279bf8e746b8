//! What cargo knows about the project: where it lies and which crates it has.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::cargo;
use crate::failure::{Failure, Result};
use crate::process;

/// The project's checkout.
#[derive(Debug)]
pub(crate) struct Workspace {
    /// The folder of the root `Cargo.toml`.
    pub(crate) root: PathBuf,
    /// Where cargo builds.
    pub(crate) target: PathBuf,
    /// The project's own crates.
    pub(crate) packages: Vec<Package>,
}

/// One of the project's own crates.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Package {
    /// The crate's name.
    pub(crate) name: String,
    /// Its folder, relative to the root, with `/` between the parts.
    pub(crate) folder: String,
    /// What it depends on within the project.
    pub(crate) dependencies: Vec<Dependency>,
    /// The main source file of its library, or of its first binary, relative to the root.
    pub(crate) main_source: Option<String>,
    /// The names of its targets with tests.
    pub(crate) tested: Vec<String>,
}

/// One crate of the project that stands in another one's manifest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Dependency {
    /// The name of the crate that is depended on.
    pub(crate) name: String,
    /// Whether it is needed for tests and examples alone.
    pub(crate) for_tests: bool,
}

impl Workspace {
    /// Asks cargo about the workspace around the current folder.
    pub(crate) fn load() -> Result<Self> {
        let mut cargo = cargo::command(Path::new("."));
        cargo.args(["metadata", "--no-deps", "--format-version", "1"]);
        Self::from_metadata(&parse_metadata(&process::capture(&mut cargo)?)?)
    }

    /// A path within the checkout.
    pub(crate) fn path(&self, relative: &str) -> PathBuf {
        self.root.join(relative)
    }

    /// Whether a file or folder is there.
    pub(crate) fn has(&self, relative: &str) -> bool {
        self.path(relative).exists()
    }

    /// A workspace of crates with these names and folders, in a checkout that has nothing else.
    #[cfg(test)]
    pub(crate) fn of_packages(packages: &[(&str, &str)]) -> Self {
        let package = |&(name, folder): &(&str, &str)| Package {
            name: name.to_owned(),
            folder: folder.to_owned(),
            ..Package::default()
        };
        Self {
            root: PathBuf::from("a checkout that has no shell"),
            target: PathBuf::new(),
            packages: packages.iter().map(package).collect(),
        }
    }

    fn from_metadata(metadata: &Value) -> Result<Self> {
        let root = PathBuf::from(text(metadata, "workspace_root")?);
        let target = PathBuf::from(text(metadata, "target_directory")?);
        let packages = list(metadata, "packages")?
            .iter()
            .map(|package| Package::from_metadata(package, &root))
            .collect::<Result<_>>()?;
        Ok(Self { root, target, packages })
    }
}

impl Package {
    fn from_metadata(package: &Value, root: &Path) -> Result<Self> {
        let manifest = PathBuf::from(text(package, "manifest_path")?);
        let dependencies = list(package, "dependencies")?
            .iter()
            .filter(|dependency| dependency["path"].is_string())
            .map(|dependency| {
                Ok(Dependency {
                    name: text(dependency, "name")?.to_owned(),
                    for_tests: dependency["kind"] == "dev",
                })
            })
            .collect::<Result<_>>()?;
        let targets = list(package, "targets")?;
        let tested = targets.iter().filter(|target| target["test"] == true);
        Ok(Self {
            name: text(package, "name")?.to_owned(),
            folder: relative(manifest.parent().unwrap_or(root), root),
            dependencies,
            main_source: main_source(targets, root),
            tested: tested.map(|it| Ok(text(it, "name")?.to_owned())).collect::<Result<_>>()?,
        })
    }
}

/// Reads the JSON that `cargo metadata` wrote.
pub(crate) fn parse_metadata(json: &str) -> Result<Value> {
    serde_json::from_str(json)
        .map_err(|cause| Failure::new(format!("`cargo metadata` wrote no JSON: {cause}")))
}

/// A text field of cargo's metadata.
pub(crate) fn text<'a>(value: &'a Value, field: &str) -> Result<&'a str> {
    value[field].as_str().ok_or_else(|| unexpected(field))
}

/// A list field of cargo's metadata.
pub(crate) fn list<'a>(value: &'a Value, field: &str) -> Result<&'a [Value]> {
    value[field].as_array().map(Vec::as_slice).ok_or_else(|| unexpected(field))
}

fn unexpected(field: &str) -> Failure {
    Failure::new(format!("the answer of `cargo metadata` has no usable field `{field}`"))
}

fn main_source(targets: &[Value], root: &Path) -> Option<String> {
    let of_kind = |kind: &str| {
        targets.iter().find(|target| {
            target["kind"].as_array().is_some_and(|kinds| kinds.iter().any(|each| each == kind))
        })
    };
    let target = of_kind("lib").or_else(|| of_kind("proc-macro")).or_else(|| of_kind("bin"))?;
    Some(relative(Path::new(target["src_path"].as_str()?), root))
}

fn relative(path: &Path, root: &Path) -> String {
    path.strip_prefix(root).unwrap_or(path).to_string_lossy().replace('\\', "/")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn reads_packages_relative_to_the_root() {
        let metadata = json!({
            "workspace_root": "/checkout",
            "target_directory": "/elsewhere",
            "packages": [{
                "name": "svc-data",
                "manifest_path": "/checkout/kernel/data/Cargo.toml",
                "targets": [
                    {
                        "name": "it", "test": true, "kind": ["test"],
                        "src_path": "/checkout/kernel/data/tests/it/main.rs",
                    },
                    {
                        "name": "svc_data", "test": false, "kind": ["lib"],
                        "src_path": "/checkout/kernel/data/src/lib.rs",
                    },
                ],
                "dependencies": [
                    { "name": "serde", "kind": null },
                    { "name": "svc-core", "kind": null, "path": "/checkout/kernel/core" },
                    { "name": "svc-testing", "kind": "dev", "path": "/checkout/kernel/testing" },
                ],
            }],
        });
        let workspace = Workspace::from_metadata(&metadata).unwrap();
        assert_eq!(workspace.target, Path::new("/elsewhere"));
        let dependency = |name: &str, for_tests| Dependency { name: name.to_owned(), for_tests };
        assert_eq!(
            workspace.packages,
            [Package {
                name: "svc-data".to_owned(),
                folder: "kernel/data".to_owned(),
                dependencies: vec![dependency("svc-core", false), dependency("svc-testing", true)],
                main_source: Some("kernel/data/src/lib.rs".to_owned()),
                tested: vec!["it".to_owned()],
            }]
        );
    }
}
