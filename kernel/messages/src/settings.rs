/// The setting of a person: the tag of the language to be spoken to in; empty leaves it to the browser.
pub const INTERFACE_LANGUAGE: &str = "Interface.Language";

svc_core::settings_section! {
    /// The languages that people are spoken to in.
    pub struct LanguagesSettings in "Svc:Languages" {
        /// The language for those who ask for none that there is, by its tag.
        pub default: String = "en".to_owned(), length(2..=35);
    }
}
