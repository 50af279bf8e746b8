use std::time::Duration;

use svc_core::settings::{SectionProblems, WebUrl};

svc_core::settings_section! {
    /// The browser host.
    pub struct BffSettings in "Svc:Bff" {
        /// Where the web client stands: a path of this application. `/bff/user` tells it.
        pub app_url: String = "/".to_owned(), length(1..=200);
        /// How long a sign-in lasts without being used.
        pub idle_timeout: Duration = hours(8), within(minutes(5)..=days(30));
        /// How long a sign-in lasts at most.
        pub absolute_timeout: Duration = days(7), within(minutes(5)..=days(90));
        /// The largest body, in bytes, of a request that a browser makes by its cookie. None leaves it to
        /// the API, which has limits of its own.
        pub max_request_body_size: Option<u64> = None, within(kibibytes(1)..=mebibytes(1024));
        /// Origins that may show pages of the application in a frame, such as
        /// `https://portal.example.com`; none may, by default.
        pub frame_ancestors: Vec<WebUrl> = vec![];
        /// How long a node keeps a session at hand. Zero keeps nothing.
        pub cache_lifetime: Duration = seconds(5), within(seconds(0)..=seconds(60));
    }
    validate: check;
}

fn check(settings: &BffSettings, problems: &mut SectionProblems) {
    if !crate::address::is_own_path(&settings.app_url) {
        problems.add("AppUrl", "a path of this application, such as `/`");
    }
}
