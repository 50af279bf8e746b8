//! Links between the project's Markdown files lead somewhere.
//!
//! A relative link must lead to a file or folder of the project, and its fragment to a heading of that
//! file. A link that begins with `/` counts from the root, as the code hosts have it. Links to other
//! places are not followed: a build must not depend on them.

use std::collections::HashMap;

use super::files::File;
use super::finding::Finding;

/// Finds the links that lead nowhere.
pub(super) fn check(files: &[File]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in files.iter().filter(|file| file.is(".md")) {
        for (line, target) in links(file.text()) {
            if let Some(complaint) = complaint(&file.path, &target, files) {
                findings.push(Finding::new(format!("{}:{line}", file.path), complaint));
            }
        }
    }
    findings
}

fn complaint(from: &str, target: &str, files: &[File]) -> Option<String> {
    if is_elsewhere(target) {
        return None;
    }
    let (path, fragment) = target.split_once('#').unwrap_or((target, ""));
    let path = path.split('?').next().unwrap_or(path).replace("%20", " ");
    let Some(path) = resolve(from, &path) else {
        return Some(format!("`{target}` leads out of the project"));
    };
    let file = files.iter().find(|file| file.path == path);
    let is_folder = || path.is_empty() || files.iter().any(|file| is_below(&file.path, &path));
    match file {
        None if is_folder() => None,
        None => Some(format!("`{target}` leads nowhere")),
        Some(file) if !fragment.is_empty() && file.is(".md") => {
            let known = anchors(file.text()).iter().any(|anchor| anchor == fragment);
            (!known).then(|| format!("`{target}` names a heading that `{path}` doesn't have"))
        }
        Some(_) => None,
    }
}

fn is_elsewhere(target: &str) -> bool {
    let scheme = target.split_once(':').map_or("", |(scheme, _)| scheme);
    target.starts_with("//")
        || (scheme.len() > 1
            && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte)))
}

fn is_below(path: &str, folder: &str) -> bool {
    path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
}

/// The path from the root that a link in the file `from` means; none when it leads out.
fn resolve(from: &str, link: &str) -> Option<String> {
    if link.is_empty() {
        return Some(from.to_owned());
    }
    let mut parts: Vec<&str> = if link.starts_with('/') {
        Vec::new()
    } else {
        from.rsplit_once('/').map_or(Vec::new(), |(folder, _)| folder.split('/').collect())
    };
    for part in link.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// The lines outside of fenced code, with their numbers.
fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut fence: Option<&str> = None;
    (1..).zip(text.lines()).filter(move |(_, line)| {
        let line = line.trim_start();
        if let Some(open) = fence {
            if line.starts_with(open) {
                fence = None;
            }
            false
        } else {
            fence = ["```", "~~~"].into_iter().find(|mark| line.starts_with(mark));
            fence.is_none()
        }
    })
}

/// The targets of all links and images, with the numbers of their lines.
fn links(text: &str) -> Vec<(usize, String)> {
    let mut links = Vec::new();
    for (number, line) in prose(text) {
        let line = without_code(line);
        if let Some(target) = definition(&line) {
            links.push((number, target.to_owned()));
        }
        for (start, _) in line.match_indices("](") {
            if let Some(target) = inline_target(&line[start + 2..]) {
                links.push((number, target.to_owned()));
            }
        }
    }
    links
}

/// Blanks out what stands between backticks.
fn without_code(line: &str) -> String {
    let parts: Vec<&str> = line.split('`').collect();
    let last = parts.len() - 1;
    let kept = parts.iter().enumerate().map(|(index, part)| {
        // A backtick without a partner begins no code.
        if index % 2 == 0 || index == last { *part } else { "" }
    });
    kept.collect::<Vec<_>>().join("`")
}

/// The target of a line such as `[label]: target "title"`.
fn definition(line: &str) -> Option<&str> {
    let (_, rest) = line.trim_start().strip_prefix('[')?.split_once("]:")?;
    first_word(rest)
}

/// The target of what follows `](`.
fn inline_target(rest: &str) -> Option<&str> {
    let mut depth = 0_u32;
    let end = rest.find(|character| match character {
        '(' => {
            depth += 1;
            false
        }
        ')' if depth == 0 => true,
        ')' => {
            depth -= 1;
            false
        }
        _ => false,
    })?;
    first_word(&rest[..end])
}

fn first_word(text: &str) -> Option<&str> {
    let text = text.trim();
    if let Some(rest) = text.strip_prefix('<') {
        return rest.split('>').next();
    }
    text.split_whitespace().next()
}

/// The fragments that lead into a Markdown file: its headings, as the code hosts name them.
fn anchors(text: &str) -> Vec<String> {
    let mut seen: HashMap<String, u32> = HashMap::new();
    let mut anchors = Vec::new();
    for (_, line) in prose(text) {
        let heading = line.trim_start_matches('#');
        if heading.len() == line.len() || !heading.starts_with(' ') {
            continue;
        }
        let slug = slug(heading);
        let count = seen.entry(slug.clone()).or_default();
        anchors.push(if *count == 0 { slug } else { format!("{slug}-{count}") });
        *count += 1;
    }
    anchors
}

fn slug(heading: &str) -> String {
    let lower = heading.trim().to_lowercase();
    let kept = lower.chars().filter(|&each| each.is_alphanumeric() || " -_".contains(each));
    kept.map(|each| if each == ' ' { '-' } else { each }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<String> {
        let files = [
            File::of_text("docs/guide/start.md", text),
            File::of_text("docs/guide/next.md", "# The `Next` step!\n## Twice\n## Twice\n"),
            File::of_text("docs/a name.md", ""),
            File::of_text("README.md", "# Svc\n"),
            File::of_text("kernel/core/src/lib.rs", ""),
        ];
        check(&files).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn links_that_lead_somewhere_are_fine() {
        for link in [
            "next.md",
            "./next.md#the-next-step",
            "next.md#twice-1",
            "../../README.md",
            "../../kernel/core",
            "../../kernel/core/",
            "/kernel/core/src/lib.rs#L1",
            "<../a name.md>",
            "../a%20name.md",
            "next.md \"a title\"",
            "#here",
            "https://example.com/gone",
            "mailto:somebody@example.com",
        ] {
            let text = format!("# Here\n\nSee [it]({link}), and (that) too.\n");
            assert_eq!(found(&text), Vec::<String>::new(), "{link}");
        }
    }

    #[test]
    fn links_that_lead_nowhere_are_found_with_their_line() {
        for link in [
            "gone.md",
            "guide/next.md",
            "/next.md",
            "../../../README.md",
            "next.md#gone",
            "#gone",
            "../../kern",
        ] {
            let findings = found(&format!("# Here\n\nSee [it]({link}).\n"));
            assert_eq!(findings.len(), 1, "{link}: {findings:?}");
            assert!(findings[0].starts_with("docs/guide/start.md:3: "), "{findings:?}");
        }
        assert_eq!(found("[it]: gone.md\n").len(), 1);
        assert_eq!(found("![a picture](gone.png) and [it](gone.md)\n").len(), 2);
    }

    #[test]
    fn code_has_no_links() {
        assert!(found("```text\n[it](gone.md)\n```\n").is_empty());
        assert!(found("Write `[it](gone.md)` there.\n").is_empty());
        assert_eq!(found("Write `code` and [`it`](gone.md).\n").len(), 1);
    }

    #[test]
    fn reads_targets_with_parentheses() {
        assert_eq!(links("[a](b_(c).md) d)"), [(1, "b_(c).md".to_owned())]);
    }
}
