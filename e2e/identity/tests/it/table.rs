//! The README's tables name tests that are there.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// Where the tests are: those behind a boundary, and those of a unit beside it.
const FOLDERS: [&str; 10] = [
    "e2e/identity/clients",
    "e2e/identity/tests/it",
    "examples/shop/tests/it",
    "kernel/http/tests/it",
    "kernel/openid/src",
    "modules/bff/src",
    "modules/bff/tests/it",
    "modules/identity/src",
    "modules/identity/tests/it",
    "modules/web/tests/it",
];

/// The functions of each file; none of a script.
type Functions = BTreeMap<String, Vec<String>>;

fn read(folder: &Path, functions: &mut Functions) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if path.is_dir() && name != "node_modules" {
            read(&path, functions);
        } else if let Some(name) = name.strip_suffix(".rs") {
            let text = fs::read_to_string(&path).unwrap();
            let names = text.split("fn ").skip(1).filter_map(|rest| rest.split(['(', '<']).next());
            functions.entry(name.to_owned()).or_default().extend(names.map(str::to_owned));
        } else if name.ends_with(".test.mjs") {
            functions.insert(name.to_owned(), Vec::new());
        }
    }
}

/// Whether a name leads to a script, to a file of tests (`file::…`), or to one test of it, of whose name the
/// beginning is enough (`file::a_test_that…`).
fn is_there(name: &str, functions: &Functions) -> bool {
    let Some((file, test)) = name.split_once("::") else { return functions.contains_key(name) };
    let Some(known) = functions.get(file) else { return false };
    let begun = test.strip_suffix('…');
    let fits = |known: &&String| begun.map_or(*known == test, |begun| known.starts_with(begun));
    let count = known.iter().filter(fits).count();
    if begun == Some("") { count > 0 } else { count == 1 }
}

#[test]
fn every_row_names_tests_that_are_there() {
    let mut functions = Functions::new();
    for folder in FOLDERS {
        read(&Path::new(ROOT).join(folder), &mut functions);
    }
    let readme = include_str!("../../README.md");
    let mut is_table = false;
    let mut count = 0;
    for line in readme.lines() {
        let cells: Vec<&str> = line.trim_matches('|').split(" | ").map(str::trim).collect();
        match cells.last() {
            _ if !line.starts_with('|') => is_table = false,
            Some(&"Test") => is_table = true,
            Some(cell) if is_table && !cell.starts_with("---") => {
                let mut names = cell.split('`').skip(1).step_by(2).peekable();
                assert!(names.peek().is_some() || cell.contains("]("), "no test: {line}");
                for name in names {
                    let is_path = name.contains('/') && Path::new(ROOT).join(name).exists();
                    assert!(is_path || is_there(name, &functions), "`{name}` isn't there: {line}");
                }
                count += 1;
            }
            _ => {}
        }
    }
    assert!(count > 120, "{count} rows");
}
