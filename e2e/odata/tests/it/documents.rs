//! What is generated for those who write clients: metadata, types, the description of the API.

use std::fs;

use e2e_odata::{Program, Shop, ask_program, clients, node_test, script, script_with};
use svc_testing::Backend;

/// The documents are the same on both databases, so one is enough.
const BACKEND: Backend = Backend::Sqlite;

#[tokio::test]
async fn the_metadata_is_read_by_others() {
    node_test("metadata.test.mjs", &Shop::start(BACKEND).await);
}

#[tokio::test]
async fn the_description_is_valid_and_a_client_made_from_it_works() {
    let shop = Shop::start(BACKEND).await;
    let text = script(Program::Python, &["-m", "unittest", "openapi_test"], &shop);
    assert!(text.contains("OK") && !text.contains("Ran 0 tests"), "{text}");
}

/// `typed.ts` has a line for each kind of mistake that must not compile, and works if it does.
#[tokio::test]
async fn the_types_compile_refuse_what_is_wrong_and_work() {
    let shop = Shop::start(BACKEND).await;
    let folder = tempfile::tempdir().expect("a fresh folder");
    for file in ["typed.ts", "tsconfig.json"] {
        fs::copy(clients().join(file), folder.path().join(file)).expect("it can be copied");
    }
    let wrote = ask_program(folder.path(), &["types", "--out", "types.ts"]);
    assert!(wrote.contains("wrote types.ts"), "{wrote}");
    let again = ask_program(folder.path(), &["types", "--out", "types.ts", "--check"]);
    assert!(again.contains("up to date"), "{again}");
    let printed = ask_program(folder.path(), &["types"]);
    assert_eq!(fs::read_to_string(folder.path().join("types.ts")).expect("it is there"), printed);
    let project = folder.path().to_str().expect("a plain path");
    let compiler = "node_modules/typescript/bin/tsc";
    let _ = script_with(Program::Node, &[compiler, "--project", project], &[]);
    fs::write(folder.path().join("package.json"), r#"{"type": "module"}"#).expect("it is written");
    let program = folder.path().join("typed.js");
    let text = script(Program::Node, &[program.to_str().expect("a plain path")], &shop);
    assert!(text.contains("all holds"), "{text}");
}

#[test]
fn the_sets_are_described_without_a_database() {
    let folder = tempfile::tempdir().expect("a fresh folder");
    let text = ask_program(folder.path(), &["metadata", "--set", "Products"]);
    assert!(text.contains("costPrice") && text.contains("Products.SeeCosts"), "{text}");
    let json = ask_program(folder.path(), &["metadata", "--format", "json"]);
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(json["$EntityContainer"], "Shop.Container");
    let left: Vec<_> = fs::read_dir(folder.path()).expect("a folder").collect();
    assert!(left.is_empty(), "it left something behind: {left:?}");
}
