//! The page for people who write receivers shows the code that the tests run.

use std::path::Path;

const PAGE: &str = "docs/webhooks-receivers.md";

/// The code of the page with the file that it says it is from.
fn blocks(page: &str) -> Vec<(&str, &str)> {
    let mut blocks = Vec::new();
    for part in page.split("<!-- as in ").skip(1) {
        let (file, rest) = part.split_once(" -->\n```").expect("a block after the file's name");
        let (_, rest) = rest.split_once('\n').expect("a language");
        let (code, _) = rest.split_once("```").expect("an end of the block");
        blocks.push((file, code));
    }
    blocks
}

#[test]
fn the_page_shows_the_code_of_the_receivers() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let read = |file: &str| std::fs::read_to_string(root.join(file)).expect(file);
    let page = read(PAGE);
    let blocks = blocks(&page);
    let languages = [
        "receiver.mjs",
        "receiver.py",
        "receiver.rs",
        "receiver.go",
        "receiver.rb",
        "receiver.php",
    ];
    for language in languages {
        let count = blocks.iter().filter(|(file, _)| file.ends_with(language)).count();
        assert!(count >= 3, "{PAGE} shows {count} parts of {language}");
    }
    for (file, code) in blocks {
        assert!(read(file).contains(code), "{PAGE} says that {file} has this:\n{code}");
    }
    // What is not from a receiver is no code: answers, headers, names of packages.
    let fenced = page.split("\n```").filter(|part| part.starts_with(['g', 'j', 'p', 'r']));
    let others = fenced.filter(|part| !part.starts_with("json")).count();
    assert_eq!(others, page.matches("<!-- as in ").count(), "a block that names no receiver");
}
