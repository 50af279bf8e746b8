//! What is refused when modules are put together, and what is listed.

use svc_core::{Module, Registry};
use svc_messages::MessagesRegistry as _;
use svc_testing::Application;

use crate::fixture::{Library, Translator};

struct Careless(&'static str, &'static [(&'static str, &'static str)]);

impl Module for Careless {
    fn name(&self) -> std::borrow::Cow<'static, str> {
        self.0.into()
    }

    fn requires(&self) -> &'static [&'static str] {
        &["messages"]
    }

    fn configure(&self, registry: &mut Registry) {
        registry.messages(self.1.iter().copied());
    }
}

fn problems(files: &'static [(&'static str, &'static str)]) -> String {
    let application = Application::new("careless").module(Library).module(Careless("a", files));
    application.assemble().err().map(|problems| problems.to_string()).unwrap_or_default()
}

#[test]
fn what_can_not_be_read_is_refused_with_its_line() {
    let problem = problems(&[("en", "a-one = One\n\na-two = { $count\n")]);
    assert!(problem.contains("module `a`: its texts in `en`, line 3: "), "{problem}");
    let problem = problems(&[("no such language", "a-one = One")]);
    assert!(problem.contains("`no such language` isn't the tag of a language"), "{problem}");
}

#[test]
fn two_texts_of_one_id_are_refused() {
    let problem = problems(&[("en", "library-title = Mine\n-brand = Mine")]);
    let expected = "the text `library-title` in `en` is given by module `library` already; give one another id";
    assert!(problem.contains(expected), "{problem}");
    assert!(problem.contains("the text `-brand` in `en` is given by"), "{problem}");
}

#[test]
fn a_translation_has_nothing_that_english_lacks() {
    let problem = problems(&[
        ("en", "a-one = One { $count }\n    .hint = Hint"),
        ("de", "a-one = Eins { $number }\n    .hints = Hinweis\na-two = Zwei"),
    ]);
    for expected in [
        "module `a`: the text `a-two` is in `de` but not in `en`",
        "the text `a-one.hints` is in `de` but not in `en`",
        "the text `a-one` in `de` uses `$number`, which it doesn't have in `en`",
    ] {
        assert!(problem.contains(expected), "{expected} in {problem}");
    }
}

#[test]
fn what_a_text_uses_must_be_there_in_its_language() {
    let problem = problems(&[
        ("en", "a-one = { a-two } { -term } { a-two.hint } { UPPER($name) }\na-two = Two"),
        ("de", "a-one = { a-two }"),
    ]);
    for expected in [
        "the text `a-one` in `en` uses the term `-term`, which isn't there",
        "the text `a-one` in `en` uses `a-two.hint`, which isn't there",
        "the text `a-one` in `en` uses the function `UPPER`, which isn't there",
        "the text `a-one` in `de` uses `a-two`, which isn't there",
    ] {
        assert!(problem.contains(expected), "{expected} in {problem}");
    }
}

#[test]
fn what_is_not_translated_is_listed() {
    let application = Application::new("library").module(Library).module(Translator);
    let listing = application.assemble().unwrap().assembly().describe();
    let lines: Vec<&str> = listing.lines().map(str::trim).collect();
    let line = |start: &str| {
        lines
            .iter()
            .any(|line| line.split_whitespace().collect::<Vec<_>>().join(" ").starts_with(start))
    };
    assert!(line("de 6 of 7; in English only: library-new"), "{listing}");
    assert!(line("fr 1 of 7; in English only: library-lent, library-new"), "{listing}");
    assert!(line("en 7"), "{listing}");
}
