//! Texts as browsers get them.

use svc_testing::on_both_databases;

use crate::fixture::{messages, start};

on_both_databases! {
    async fn a_browser_gets_everything_in_one_resource(backend) {
        let app = start(backend).await;
        let messages = messages(&app);
        let german = messages.for_browser("DE").unwrap();
        let resource = german.resource();
        assert!(resource.contains("library-title = Bibliothek von { -brand }"), "{resource}");
        assert!(resource.contains("    .description = What can be lent"), "{resource}");
        assert!(resource.contains("library-new = New here\n    .hint = Only in English"), "{resource}");
        assert_eq!(resource.matches("library-hits =").count(), 1);
        assert_eq!(resource.matches("-brand = Svc").count(), 1);
        assert!(!resource.contains('#'), "a comment is of no use to a browser: {resource}");
        assert!(fluent_bundle::FluentResource::try_new(resource.to_owned()).is_ok());
        let english = messages.for_browser("en").unwrap();
        assert!(!english.resource().contains("Bibliothek"));
        assert_ne!(german.hash(), english.hash());
        assert!(messages.for_browser("pl").is_none());
    }
}
