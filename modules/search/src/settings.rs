use std::time::Duration;

use svc_core::{ShareLimits, Shares};

svc_core::settings_section! {
    /// The search over everything.
    pub struct SearchSettings in "Svc:Search" {
        /// How long a provider may take; what it has found until then is sent.
        pub provider_budget: Duration = seconds(1), within(milliseconds(10)..=seconds(60));
        /// Searches of a person at once; a few more wait for their turn.
        pub person_searches: u32 = 3, within(1..=1_000);
        /// Searches of an organisation at once.
        pub organisation_searches: u32 = 20, within(1..=10_000);
        /// Searches in all at once, on each node.
        pub total_searches: u32 = 40, within(1..=10_000);
    }
}

/// How many searches a person may have waiting. Whoever types has one, and those before it that were given up.
const WAITING: usize = 8;

/// How long a search waits for its turn.
const PATIENCE: Duration = Duration::from_secs(5);

impl SearchSettings {
    /// The places of searches.
    pub(crate) fn shares(&self) -> Shares {
        let many = |number: u32| usize::try_from(number).unwrap_or(usize::MAX);
        Shares::new(ShareLimits {
            of: "searches",
            setting: "Svc:Search:PersonSearches",
            total: many(self.total_searches),
            organisation: many(self.organisation_searches),
            person: many(self.person_searches),
            waiting: WAITING,
            patience: PATIENCE,
        })
    }
}
