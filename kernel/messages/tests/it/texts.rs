//! Texts as they are read.

use svc_messages::{Arguments, INTERFACE_LANGUAGE, Language};
use svc_settings::ApplicationSettings;
use svc_testing::{Person, on_both_databases};
use time::macros::datetime;

use crate::fixture::{messages, start, texts};

on_both_databases! {
    async fn a_text_is_in_its_language(backend) {
        let app = start(backend).await;
        let (english, german) = (texts(&app, "en"), texts(&app, "de-AT"));
        assert_eq!(english.text("library-title"), "Library of Svc");
        assert_eq!(german.text("library-title"), "Bibliothek von Svc");
        assert_eq!(german.language().as_str(), "de");
        let hits = |count: u32| Arguments::new().set("count", count);
        assert_eq!(english.text_with("library-hits", &hits(1)), "One book");
        assert_eq!(english.text_with("library-hits", &hits(1_234_567)), "1,234,567 books");
        assert_eq!(german.text_with("library-hits", &hits(0)), "0 Bücher");
        assert_eq!(german.text_with("library-hits", &hits(1_234_567)), "1.234.567 Bücher");
        // In French nothing is one, too, and thousands are set apart by a narrow space.
        let french = texts(&app, "fr");
        assert_eq!(french.text_with("library-hits", &hits(0)), "0 livre");
        assert_eq!(french.text_with("library-hits", &hits(1_234)), "1\u{202f}234 livres");
    }

    async fn dates_and_numbers_look_as_in_the_language(backend) {
        let app = start(backend).await;
        let at = datetime!(2026-11-05 16:07:09 +1);
        let lent = Arguments::new().set("until", at.date()).set("name", "Ada");
        let seen = Arguments::new().set("at", at);
        let share = |share: f64| Arguments::new().set("share", share);
        let english = texts(&app, "en");
        assert_eq!(english.text_with("library-lent", &lent), "Lent to Ada until November 5, 2026");
        assert_eq!(english.text_with("library-seen", &seen), "Seen Nov 5, 2026, 4:07 PM");
        assert_eq!(english.text_with("library-share", &share(1_234.25)), "1,234.3 percent");
        assert_eq!(english.text_with("library-plain", &seen), "Nov 5, 2026");
        let german = texts(&app, "de");
        assert_eq!(german.text_with("library-lent", &lent), "Bis 5. November 2026 an Ada verliehen");
        assert_eq!(
            german.text_with("library-seen", &seen),
            "Gesehen Donnerstag, 5. November 2026 um 16:07:09"
        );
        assert_eq!(german.text_with("library-share", &share(-2.0)), "-2,0 Prozent");
        assert_eq!(german.text_with("library-plain", &seen), "05.11.2026");
        let midnight = Arguments::new().set("at", datetime!(2026-01-01 00:30 UTC));
        assert_eq!(english.text_with("library-seen", &midnight), "Seen Jan 1, 2026, 12:30 AM");
    }

    async fn what_is_not_translated_is_english(backend) {
        let app = start(backend).await;
        let german = texts(&app, "de");
        assert_eq!(german.text("library-new"), "New here");
        assert_eq!(german.attribute("library-title", "description"), "What can be lent");
        assert_eq!(german.find_text("library-nothing"), None);
        assert_eq!(german.find_attribute("library-title", "nothing"), None);
        let messages = messages(&app);
        let of = |tag| messages.untranslated(&Language::new(tag).unwrap()).collect::<Vec<_>>();
        assert_eq!(of("de"), ["library-new"]);
        assert!(of("fr").contains(&"library-title"));
        assert!(of("en").is_empty());
        // Nobody asks for texts in a language that there are none in.
        assert_eq!(texts(&app, "pl").language().as_str(), "en");
    }

    async fn a_text_that_nobody_gives_reads_as_its_id(backend) {
        let app = start(backend).await;
        assert_eq!(texts(&app, "de").text("library-nothing"), "{library-nothing}");
        let incomplete = texts(&app, "en").text("library-hits");
        assert!(incomplete.contains("$count"), "{incomplete}");
    }

    async fn a_person_chooses_before_the_browser_does(backend) {
        let app = start(backend).await;
        let messages = messages(&app);
        let found = |chosen, accepted| messages.negotiate(chosen, accepted).to_string();
        assert_eq!(found(Some("fr"), Some("de")), "fr");
        assert_eq!(found(Some("pl"), Some("it, de-CH;q=0.4, en;q=0.3")), "de");
        assert_eq!(found(None, Some("it")), "en");
        assert_eq!(found(None, None), "en");
        let ctx = app.context(&Person::named("Ada"));
        let asked = async |accepted| {
            messages.texts_for(&ctx, accepted).await.unwrap().language().to_string()
        };
        assert_eq!(asked(Some("de")).await, "de");
        let settings = app.app().service::<ApplicationSettings>().unwrap();
        settings.set(&ctx, INTERFACE_LANGUAGE, &"fr".into()).await.unwrap();
        assert_eq!(asked(Some("de")).await, "fr");
    }
}
