//! Numbers, days and texts within texts, at their edges.

use svc_core::{Module, Registry};
use svc_messages::{Argument, Arguments, Language, Messages, MessagesRegistry as _, Texts};
use svc_testing::{Application, Backend, TestApp, on_both_databases};
use time::macros::{date, datetime};

const ENGLISH: &str = r#"
figures-plain = { $n }
figures-whole = { NUMBER($n, maximumFractionDigits: 0) }
figures-two = { NUMBER($n, minimumFractionDigits: 2, maximumFractionDigits: 2) }
figures-at-least = { NUMBER($n, minimumFractionDigits: 5) }
figures-wide = { NUMBER($n, minimumIntegerDigits: 4, useGrouping: "false") }
figures-day = { DATETIME($at, dateStyle: "short") }
figures-long = { DATETIME($at, dateStyle: "long", timeStyle: "short") }
figures-clock = { DATETIME($at, timeStyle: "medium") }
figures-odd = { DATETIME($at, dateStyle: "huge", timeStyle: "tiny") }
figures-mistaken = { NUMBER($at) }{ DATETIME($n) }
figures-said = Hello { $name }, { $name }!
figures-many = { $n ->
    [0] none
    [one] one
   *[other] { $n }
 }
"#;

const GERMAN: &str = r#"
figures-two = { NUMBER($n, minimumFractionDigits: 2, maximumFractionDigits: 2) }
figures-day = { DATETIME($at, dateStyle: "short") }
"#;

struct Figures;

impl Module for Figures {
    fn requires(&self) -> &'static [&'static str] {
        &["messages"]
    }

    fn configure(&self, registry: &mut Registry) {
        registry.messages([("en", ENGLISH), ("de", GERMAN)]);
    }
}

async fn texts(backend: Backend, language: &str) -> Texts {
    let app: TestApp =
        TestApp::builder(|| Application::new("figures").module(Figures)).start(backend).await;
    let messages = app.app().service::<Messages>().unwrap();
    messages.texts(&Language::new(language).unwrap())
}

on_both_databases! {
    async fn numbers_are_rounded_and_grouped_as_browsers_do(backend) {
        let english = texts(backend, "en").await;
        let written = |id: &str, number: f64| english.text_with(id, &Arguments::new().set("n", number));
        for (id, number, expected) in [
            ("figures-plain", 0.0, "0"),
            ("figures-plain", 999.0, "999"),
            ("figures-plain", 1_000.0, "1,000"),
            ("figures-plain", -1_234_567.891, "-1,234,567.891"),
            // Three digits behind the point, unless the text says otherwise.
            ("figures-plain", 0.0004, "0"),
            ("figures-plain", 0.0005, "0.001"),
            ("figures-plain", 1.2345, "1.235"),
            ("figures-plain", 1e15, "1,000,000,000,000,000"),
            ("figures-whole", 0.5, "1"),
            ("figures-whole", -0.5, "-1"),
            ("figures-whole", 2.5, "3"),
            ("figures-whole", 0.49, "0"),
            ("figures-whole", 999.5, "1,000"),
            ("figures-two", 1.0, "1.00"),
            ("figures-two", 1.005, "1.01"),
            ("figures-two", 1_234.5, "1,234.50"),
            ("figures-at-least", 1.5, "1.50000"),
            ("figures-at-least", 1.234_567, "1.23457"),
            ("figures-wide", 7.0, "0007"),
            ("figures-wide", 12_345.0, "12345"),
            ("figures-wide", -7.5, "-0007.5"),
            ("figures-many", 0.0, "none"),
            ("figures-many", 1.0, "one"),
            ("figures-many", 1.5, "1.5"),
            ("figures-many", 21.0, "21"),
        ] {
            assert_eq!(written(id, number), expected, "{id} of {number}");
        }
        let german = texts(backend, "de").await;
        assert_eq!(german.text_with("figures-two", &Arguments::new().set("n", -1_234.5)), "-1.234,50");
    }

    async fn what_is_no_number_is_written_all_the_same(backend) {
        let english = texts(backend, "en").await;
        for number in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MAX, f64::MIN_POSITIVE] {
            let written = english.text_with("figures-two", &Arguments::new().set("n", number));
            assert!(!written.is_empty() && !written.contains('{'), "{number}: {written}");
        }
    }

    async fn days_and_times_are_those_of_their_own_offset(backend) {
        let english = texts(backend, "en").await;
        let written = |id: &str, at: Argument<'static>| english.text_with(id, &Arguments::new().set("at", at));
        let noon = || Argument::Moment(datetime!(2026-01-02 12:03:04 UTC));
        let late = || Argument::Moment(datetime!(2026-12-31 23:59:59 -11));
        let day = || Argument::Date(date!(2024-02-29));
        for (id, at, expected) in [
            ("figures-day", noon(), "1/2/26"),
            ("figures-day", day(), "2/29/24"),
            ("figures-long", noon(), "January 2, 2026 at 12:03 PM"),
            ("figures-long", late(), "December 31, 2026 at 11:59 PM"),
            // A day has no time.
            ("figures-long", day(), "February 29, 2024"),
            ("figures-clock", late(), "11:59:59 PM"),
            ("figures-clock", day(), "Feb 29, 2024"),
            // A style that nobody knows is the usual one.
            ("figures-odd", noon(), "Jan 2, 2026"),
        ] {
            assert_eq!(written(id, at), expected, "{id}");
        }
        let german = texts(backend, "de").await;
        assert_eq!(german.text_with("figures-day", &Arguments::new().set("at", day())), "29.02.24");
    }

    async fn arguments_are_content_and_no_text_of_ours(backend) {
        let english = texts(backend, "en").await;
        for name in ["Ada", "", "{ $n }", "{ figures-plain }", "\u{1f600}", "a\nb", "{", "\"}"] {
            let said = english.text_with("figures-said", &Arguments::new().set("name", name));
            assert_eq!(said, format!("Hello {name}, {name}!"));
        }
        // The last that is set counts.
        let twice = Arguments::new().set("name", "Ada").set("other", 1).set("name", "Ben");
        assert_eq!(english.text_with("figures-said", &twice), "Hello Ben, Ben!");
        // What a function isn't made for is shown as a mistake, and breaks nothing.
        let both = Arguments::new().set("n", 1).set("at", date!(2024-02-29));
        let mistaken = english.text_with("figures-mistaken", &both);
        assert!(mistaken.contains("NUMBER") && mistaken.contains("DATETIME"), "{mistaken}");
    }
}
