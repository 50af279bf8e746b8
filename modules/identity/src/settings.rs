use std::time::Duration;

use svc_core::settings::{Secret, SectionProblems};

use crate::key::PresentedKey;
use crate::{email, password};

svc_core::settings_section! {
    /// How keys and rights are kept at hand, and what passwords must be.
    pub struct IdentitySettings in "Svc:Identity" {
        /// How long the rights behind an API key are kept in memory. Changes take effect at once on
        /// the node where they are made, and at the latest after this time on the others. Zero
        /// keeps nothing.
        pub cache_lifetime: Duration = seconds(5), within(seconds(0)..=seconds(60));
        /// The most API keys, and the most people, whose rights are kept in memory.
        pub cache_entries: u32 = 10_000, within(1..=1_000_000);
        /// The fewest characters of a new password.
        pub password_min_length: u32 = 12, within(8..=64);
    }
}

svc_core::settings_section! {
    /// The organisation and its first administrator, made once, by the start that finds a database
    /// without any organisation. Later starts ignore the section.
    pub struct SetupSettings in "Svc:Setup" {
        /// Name of the organisation.
        pub organisation: Option<String> = None, length(1..=200);
        /// Mail address of the first administrator.
        pub admin_email: Option<String> = None, length(3..=254);
        /// Password of the first administrator.
        pub admin_password: Option<Secret> = None, length(8..=128);
        /// An API key for the first administrator, with all permissions and without an end: a key
        /// that the product made, or `svck_` and at least 32 random characters. None makes no key.
        pub api_key: Option<Secret> = None;
    }
    validate: check_setup;
}

impl SetupSettings {
    /// Whether anything is set.
    #[must_use]
    pub fn is_given(&self) -> bool {
        self.organisation.is_some()
            || self.admin_email.is_some()
            || self.admin_password.is_some()
            || self.api_key.is_some()
    }

    /// The settings that a set-up needs and that are not set.
    #[must_use]
    pub fn missing(&self) -> Vec<&'static str> {
        let needed = [
            ("Svc:Setup:Organisation", self.organisation.is_none()),
            ("Svc:Setup:AdminEmail", self.admin_email.is_none()),
            ("Svc:Setup:AdminPassword", self.admin_password.is_none()),
        ];
        needed.iter().filter(|(_, missing)| *missing).map(|(name, _)| *name).collect()
    }
}

/// Checks the form of what is given. Whether it is complete is only asked on an empty database, so
/// that an operator may take the secrets away after the set-up.
fn check_setup(settings: &SetupSettings, problems: &mut SectionProblems) {
    if let Some(Err(_)) = settings.admin_email.as_deref().map(email::Email::parse) {
        problems.add("AdminEmail", "a mail address, such as `ada@example.com`");
    }
    if let Some(Err(problem)) =
        settings.api_key.as_ref().map(|key| PresentedKey::parse(key.expose()))
    {
        problems.add("ApiKey", problem.expectation());
    }
    if settings.admin_password.as_ref().is_some_and(|given| password::is_blank(given.expose())) {
        problems.add("AdminPassword", "a password that is not blank");
    }
}
