//! Comments of what is written.

use std::fmt::Write as _;

/// A comment of these sentences; nothing without one.
pub(super) fn push_doc(
    out: &mut String,
    indent: &str,
    sentences: impl IntoIterator<Item = String>,
) {
    let sentences = sentences.into_iter().map(|sentence| {
        // What would end the comment, or the line.
        let words: Vec<&str> = sentence.split_whitespace().collect();
        let sentence = words.join(" ").replace("*/", "*\\/");
        if sentence.ends_with(['.', '!', '?']) { sentence } else { format!("{sentence}.") }
    });
    let sentences: Vec<String> = sentences.filter(|sentence| sentence != ".").collect();
    if !sentences.is_empty() {
        let _ = writeln!(out, "{indent}/** {} */", sentences.join(" "));
    }
}
