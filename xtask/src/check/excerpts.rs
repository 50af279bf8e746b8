//! Code in a text is what the code says: a fenced block behind `<!-- from: examples/lending/src/main.rs -->` stands in that
//! file, line for line, however it is indented. `// …` stands for lines that are left out.

use super::files::File;
use super::finding::Finding;

/// Finds the blocks that say something else than their file.
pub(super) fn check(files: &[File]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in files.iter().filter(|file| file.is(".md")) {
        for excerpt in excerpts(file.text()) {
            let complaint = match files.iter().find(|other| other.path == excerpt.source) {
                None => Some(format!("there is no file `{}`", excerpt.source)),
                Some(source) => missing(&excerpt.lines, source.text())
                    .map(|line| format!("`{}` doesn't have `{line}` there", excerpt.source)),
            };
            if let Some(complaint) = complaint {
                findings.push(Finding::new(format!("{}:{}", file.path, excerpt.line), complaint));
            }
        }
    }
    findings
}

/// A block of code that comes from a file.
struct Excerpt<'a> {
    /// The number of the line that names the file.
    line: usize,
    source: &'a str,
    lines: Vec<&'a str>,
}

fn excerpts(text: &str) -> Vec<Excerpt<'_>> {
    let mut found = Vec::new();
    let mut lines = text.lines().enumerate();
    while let Some((index, line)) = lines.next() {
        let named =
            line.trim().strip_prefix("<!-- from:").and_then(|rest| rest.strip_suffix("-->"));
        let Some(source) = named else { continue };
        let mut block = lines.by_ref().map(|(_, line)| line.trim());
        let opens = block.find(|line| !line.is_empty()).is_some_and(|line| line.starts_with("```"));
        let lines =
            if opens { block.take_while(|line| *line != "```").collect() } else { Vec::new() };
        found.push(Excerpt { line: index + 1, source: source.trim(), lines });
    }
    found
}

/// The first line that doesn't stand where it should; a block without a line is one that isn't there.
fn missing<'a>(lines: &[&'a str], source: &str) -> Option<&'a str> {
    let source: Vec<&str> = source.lines().map(str::trim).collect();
    let parts = lines.split(|line| *line == "// …").filter(|part| !part.is_empty());
    let mut from = 0;
    let mut is_empty = true;
    for part in parts {
        is_empty = false;
        let place = source[from..].windows(part.len()).position(|window| window == part);
        let Some(place) = place else {
            let absent = part.iter().find(|line| !source[from..].contains(line));
            return Some(absent.or(part.first()).copied().unwrap_or_default());
        };
        from += place + part.len();
    }
    is_empty.then_some("(no code)")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(block: &str) -> Vec<String> {
        let text = format!("# A\n\n<!-- from: a.rs -->\n```rust\n{block}\n```\n");
        let files = [
            File::of_text("a.md", &text),
            File::of_text("a.rs", "fn a() {\n    one();\n    two();\n    three();\n}\n"),
        ];
        check(&files).into_iter().map(|finding| finding.to_string()).collect()
    }

    #[test]
    fn what_stands_there_is_fine() {
        assert!(found("one();\ntwo();").is_empty());
        assert!(found("fn a() {\n    // …\n    three();").is_empty());
    }

    #[test]
    fn what_was_changed_is_found() {
        assert_eq!(found("one();\nthree();"), ["a.md:3: `a.rs` doesn't have `one();` there"]);
        assert_eq!(found("one();\nfour();"), ["a.md:3: `a.rs` doesn't have `four();` there"]);
        assert_eq!(found("three();\n// …\none();"), ["a.md:3: `a.rs` doesn't have `one();` there"]);
        assert_eq!(found(""), ["a.md:3: `a.rs` doesn't have `` there"]);
        assert_eq!(found("// …"), ["a.md:3: `a.rs` doesn't have `(no code)` there"]);
    }

    #[test]
    fn a_file_that_is_gone_is_found() {
        let file = File::of_text("a.md", "<!-- from: b.rs -->\n```rust\nx\n```\n");
        assert_eq!(check(&[file])[0].message, "there is no file `b.rs`");
    }
}
