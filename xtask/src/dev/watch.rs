//! Which files were touched, and what that means.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::SystemTime;

/// Folders in which nothing is written by hand.
const IGNORED: [&str; 4] = ["target", "node_modules", "dist", "snapshots"];

/// Folders at the root whose crates the shop isn't made of.
const ASIDE: [&str; 4] = ["bench", "docs", "e2e", "xtask"];

/// The files of the project with when they were last written.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Files(BTreeMap<String, (Option<SystemTime>, u64)>);

impl Files {
    /// Looks at all files below a folder. One that goes away meanwhile isn't there.
    pub(super) fn below(root: &Path) -> Self {
        let mut files = Self::default();
        files.add(root, "");
        files
    }

    fn add(&mut self, folder: &Path, prefix: &str) {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let Ok(kind) = entry.file_type() else { continue };
            if name.starts_with('.') || (kind.is_dir() && IGNORED.contains(&name.as_str())) {
                continue;
            }
            let path = format!("{prefix}{name}");
            if kind.is_dir() {
                self.add(&entry.path(), &format!("{path}/"));
            } else if let Ok(metadata) = entry.metadata() {
                self.0.insert(path, (metadata.modified().ok(), metadata.len()));
            }
        }
    }

    /// What was written, came or went since `before`.
    pub(super) fn differing_from(&self, before: &Self) -> Vec<String> {
        let written = self.0.iter().filter(|(path, state)| before.0.get(*path) != Some(state));
        let gone = before.0.keys().filter(|path| !self.0.contains_key(*path));
        written.map(|(path, _)| path).chain(gone).cloned().collect()
    }
}

/// What is to be built.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Work {
    pub(super) client: bool,
    pub(super) program: bool,
}

/// What there is to do after these files, relative to the root, were touched.
pub(super) fn work_of<'a>(paths: impl IntoIterator<Item = &'a str>) -> Work {
    let mut work = Work::default();
    for path in paths {
        let mut folders = path.split('/');
        let file = folders.next_back().unwrap_or_default();
        let folders: Vec<&str> = folders.collect();
        let is_in = |name: &str| folders.contains(&name);
        let first = folders.first().copied().unwrap_or_default();
        let ending = file.rsplit_once('.').map_or("", |(_, ending)| ending);
        if ASIDE.contains(&first) || is_in("tests") || is_in("benches") || ending == "md" {
            continue;
        }
        // The client has folders in those of modules, beside their crates; `modules/web` is a crate.
        let is_client = first == "web" || first == "shell" || folders.get(2) == Some(&"web");
        if is_client {
            work.client |= is_in("src") || first != "shell" || folders.len() == 1;
        } else {
            work.program |= !first.is_empty() || matches!(file, "Cargo.toml" | "Cargo.lock");
        }
    }
    work
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOTHING: Work = Work { client: false, program: false };
    const CLIENT: Work = Work { client: true, program: false };
    const PROGRAM: Work = Work { client: false, program: true };

    #[test]
    fn a_touched_file_is_built_where_it_belongs() {
        for (path, expected) in [
            ("examples/shop/src/orders.rs", PROGRAM),
            ("examples/shop/migrations/0001_shop.sql", PROGRAM),
            ("kernel/messages/messages/de.ftl", PROGRAM),
            ("modules/identity/templates/style.css", PROGRAM),
            ("modules/web/src/lib.rs", PROGRAM),
            ("Cargo.toml", PROGRAM),
            ("modules/webhooks/web/index.ts", CLIENT),
            ("examples/shop/web/messages/de.ftl", CLIENT),
            ("web/src/main.ts", CLIENT),
            ("web/index.html", CLIENT),
            ("shell/src/desk.ts", CLIENT),
            ("shell/package.json", CLIENT),
            ("shell/tests/drag.ts", NOTHING),
            ("shell/docs/apps.html", NOTHING),
            ("examples/shop/tests/it/orders.rs", NOTHING),
            ("kernel/jobs/benches/queue.rs", NOTHING),
            ("e2e/odata/src/lib.rs", NOTHING),
            ("xtask/src/dev.rs", NOTHING),
            ("kernel/http/README.md", NOTHING),
            ("rustfmt.toml", NOTHING),
        ] {
            assert_eq!(work_of([path]), expected, "{path}");
        }
        let both = work_of(["web/src/main.ts", "examples/shop/src/shop.rs", "README.md"]);
        assert_eq!(both, Work { client: true, program: true });
    }

    #[test]
    fn what_was_written_came_or_went_is_seen() {
        let root = std::env::temp_dir().join(format!("svc-dev-{}", std::process::id()));
        let write = |path: &str, text: &str| {
            let path = root.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write("a/kept.rs", "1");
        write("a/gone.rs", "1");
        write("target/debug/shop", "1");
        let before = Files::below(&root);
        assert_eq!(Files::below(&root).differing_from(&before), [""; 0]);
        write("a/kept.rs", "longer");
        write("a/new.rs", "1");
        write("target/debug/shop", "longer");
        write("web/node_modules/it.js", "1");
        write(".git/index", "1");
        fs::remove_file(root.join("a/gone.rs")).unwrap();
        let seen = Files::below(&root).differing_from(&before);
        fs::remove_dir_all(&root).unwrap();
        assert_eq!(seen, ["a/kept.rs", "a/new.rs", "a/gone.rs"]);
    }
}
