//! The programs that the steps need, and how a machine without them gets them.
//!
//! Debian's packages are installed when we may (as root, or with a `sudo` that asks nothing), the
//! toolchain's components through rustup. For what is missing after that, one line says what to install.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::end_to_end;
use crate::failure::{Failure, Result};
use crate::postgres;
use crate::process;
use crate::workspace::Workspace;

/// Debian creates a cluster and starts its server when it installs PostgreSQL; while this file is there
/// it does not. Nobody needs that server, and it could take the port of one that somebody does need.
const NO_MAIN_CLUSTER: &str = "/etc/postgresql-common/createcluster.d/svc-no-main-cluster.conf";

/// The package that brings PostgreSQL's server.
const POSTGRES: &[&str] = &["postgresql"];

/// The oldest Node that runs the package managers and the scripts of end-to-end tests.
const OLDEST_NODE: u32 = 20;

/// Something that has to be on the machine.
struct Prerequisite {
    name: &'static str,
    source: Source,
    is_there: fn() -> bool,
}

/// Where a prerequisite comes from.
enum Source {
    /// Packages of Debian and its kin.
    Debian(&'static [&'static str]),
    /// A component of the Rust toolchain.
    Rustup(&'static str),
}

/// Sees to it that everything is there that the project's steps need.
pub(crate) fn ensure(workspace: &Workspace) -> Result<()> {
    ensure_all(workspace, &needed(workspace))
}

/// Sees to it that programs with the web client can be built.
pub(crate) fn ensure_for_programs(workspace: &Workspace) -> Result<()> {
    ensure_all(workspace, &[make(), node()])
}

fn ensure_all(workspace: &Workspace, needed: &[Prerequisite]) -> Result<()> {
    let missing: Vec<&Prerequisite> = needed.iter().filter(|each| !(each.is_there)()).collect();
    if missing.is_empty() {
        return Ok(());
    }
    install(&missing, &workspace.root);
    let missing: Vec<String> =
        missing.iter().filter(|each| !(each.is_there)()).map(|each| hint(each)).collect();
    if missing.is_empty() { Ok(()) } else { Err(Failure::new(missing.join("\n"))) }
}

fn needed(workspace: &Workspace) -> Vec<Prerequisite> {
    let mut needed = vec![
        Prerequisite {
            name: "rustfmt",
            source: Source::Rustup("rustfmt"),
            is_there: || process::find_program("cargo-fmt").is_some() && runs("rustfmt"),
        },
        Prerequisite {
            name: "clippy",
            source: Source::Rustup("clippy"),
            is_there: || process::find_program("cargo-clippy").is_some() && runs("clippy-driver"),
        },
        Prerequisite {
            name: "git",
            source: Source::Debian(&["git"]),
            is_there: || process::find_program("git").is_some(),
        },
        make(),
    ];
    if std::env::var_os(postgres::VARIABLE).is_none_or(|url| url.is_empty()) {
        needed.push(Prerequisite {
            name: "PostgreSQL's server",
            source: Source::Debian(POSTGRES),
            is_there: || postgres::find_programs().is_some(),
        });
    }
    let has_shell = workspace.has("shell/package.json");
    let scripts = |file: &str| {
        let mut packages = workspace.packages_below("e2e");
        packages.any(|package| end_to_end::scripts_with(workspace, package, file).is_some())
    };
    if has_shell || scripts("package.json") {
        needed.push(node());
    }
    if has_shell {
        needed.push(Prerequisite {
            name: "Chromium",
            source: Source::Debian(&["chromium-headless-shell"]),
            is_there: || process::find_program("chromium-headless-shell").is_some(),
        });
        needed.push(Prerequisite {
            name: "Firefox",
            source: Source::Debian(&["firefox-esr"]),
            is_there: || process::find_program("firefox-esr").is_some(),
        });
    }
    needed.extend(languages().into_iter().filter(|(file, _)| scripts(file)).map(|(_, one)| one));
    if scripts("requirements.txt") {
        needed.push(Prerequisite {
            name: "Python with venv",
            source: Source::Debian(&["python3", "python3-venv"]),
            is_there: || {
                process::succeeds(Command::new("python3").args(["-c", "import ensurepip, venv"]))
            },
        });
    }
    needed
}

/// What receivers in other languages need, by their file.
fn languages() -> [(&'static str, Prerequisite); 3] {
    let needs = |name, packages, is_there| Prerequisite {
        name,
        source: Source::Debian(packages),
        is_there,
    };
    [
        (end_to_end::GO, needs("Go", &["golang-go"], || process::find_program("go").is_some())),
        ("receiver.rb", needs("Ruby", &["ruby"], || runs("ruby"))),
        ("receiver.php", needs("PHP", &["php-cli"], || runs("php"))),
    ]
}

/// What builds the allocator of programs.
fn make() -> Prerequisite {
    Prerequisite {
        name: "make",
        source: Source::Debian(&["make"]),
        is_there: || process::find_program("make").is_some(),
    }
}

fn node() -> Prerequisite {
    Prerequisite {
        name: "Node 20 or newer with npm (which Debian 13 and nodejs.org have)",
        source: Source::Debian(&["nodejs", "npm"]),
        is_there: || process::find_program("npm").is_some() && has_node(),
    }
}

fn runs(program: &str) -> bool {
    process::succeeds(Command::new(program).arg("--version"))
}

fn has_node() -> bool {
    process::capture(Command::new("node").arg("--version"))
        .is_ok_and(|version| major_version(&version).is_some_and(|major| major >= OLDEST_NODE))
}

/// The first number of a version such as `v20.20.2`.
fn major_version(version: &str) -> Option<u32> {
    version.trim().trim_start_matches('v').split('.').next()?.parse().ok()
}

/// Tries to install; whether that was enough is seen by looking again.
fn install(missing: &[&Prerequisite], root: &Path) {
    let mut packages = Vec::new();
    for each in missing {
        match each.source {
            Source::Debian(names) => packages.push(names),
            Source::Rustup(component) => {
                let mut rustup = process::command("rustup", root);
                report(process::run(rustup.args(["component", "add", component])));
            }
        }
    }
    if packages.is_empty() {
        return;
    }
    let Some(administrator) = Administrator::find() else { return };
    report(administrator.apt_get(&["update"], root));
    for names in packages {
        // One after the other, so that a package that can't be had doesn't keep the others out.
        println!("installing {}", names.join(", "));
        let for_postgres = names == POSTGRES && administrator == Administrator::Root;
        if for_postgres {
            refuse_main_cluster();
        }
        let install = ["install", "--yes", "--no-install-recommends"];
        report(administrator.apt_get(&[&install, names].concat(), root));
        if for_postgres {
            // The machine's owner decides about clusters from here on.
            let _ = fs::remove_file(NO_MAIN_CLUSTER);
        }
    }
}

/// What went wrong on the way; the missing program itself is reported in the end.
fn report(result: Result<()>) {
    if let Err(failure) = result {
        eprintln!("{failure}");
    }
}

/// Without this file PostgreSQL still installs, only with a server too many.
fn refuse_main_cluster() {
    let file = Path::new(NO_MAIN_CLUSTER);
    if let Some(folder) = file.parent() {
        let _ = fs::create_dir_all(folder);
    }
    let _ = fs::write(file, "create_main_cluster = false\n");
}

/// How we may install Debian's packages.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Administrator {
    Root,
    Sudo,
}

impl Administrator {
    fn find() -> Option<Self> {
        process::find_program("apt-get")?;
        if process::user_id().is_ok_and(|id| id == 0) {
            return Some(Self::Root);
        }
        process::succeeds(Command::new("sudo").args(["-n", "true"])).then_some(Self::Sudo)
    }

    fn apt_get(self, arguments: &[&str], root: &Path) -> Result<()> {
        let mut command = match self {
            Self::Root => process::command("env", root),
            Self::Sudo => {
                let mut sudo = process::command("sudo", root);
                sudo.args(["-n", "env"]);
                sudo
            }
        };
        command.args(["DEBIAN_FRONTEND=noninteractive", "apt-get", "--quiet"]).args(arguments);
        process::run(&mut command)
    }
}

fn hint(missing: &Prerequisite) -> String {
    match missing.source {
        Source::Debian(packages) => format!(
            "{} is missing: install it, on Debian with `apt-get install {}`",
            missing.name,
            packages.join(" ")
        ),
        Source::Rustup(component) => format!(
            "{} is missing: install it with `rustup component add {component}`",
            missing.name
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_major_version() {
        assert_eq!(major_version("v20.20.2\n"), Some(20));
        assert_eq!(major_version("9.1"), Some(9));
        assert_eq!(major_version("nonsense"), None);
    }

    #[test]
    fn a_hint_names_the_package() {
        let missing =
            Prerequisite { name: "Git", source: Source::Debian(&["git"]), is_there: || false };
        assert_eq!(
            hint(&missing),
            "Git is missing: install it, on Debian with `apt-get install git`"
        );
    }
}
