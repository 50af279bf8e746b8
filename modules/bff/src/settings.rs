use std::time::Duration;

use svc_core::settings::{Secret, SectionProblems, WebUrl};

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

svc_core::settings_section! {
    /// The browser host as a program of its own, before the application.
    pub struct BrowserHostSettings in "Svc:BrowserHost" {
        /// Where the application is: `http://10.0.0.7:5080`, in a network that nobody else reaches, or
        /// `https`.
        pub api: Option<WebUrl> = None;
        /// Who signs people in, where that isn't the application behind the host.
        pub authority: Option<WebUrl> = None;
        /// The host's name there. None is that under which the application knows it.
        pub client_id: Option<String> = None, length(1..=200);
        /// What proves the host to it: `Svc:OpenId:BrowserHostSecret` of the application.
        pub client_secret: Option<Secret> = None, length(1..=1_000);
        /// What is asked for.
        pub scope: String = SCOPE.to_owned(), length(6..=500);
        /// Requests that are passed on at once; further ones wait, at most for `Svc:Http:WaitingTime`,
        /// and are refused with 503 then. Each takes a connection to the application: all hosts together
        /// must leave room below its `Svc:Http:MaxConnections`.
        pub max_requests: u32 = 1_024, within(1..=1_000_000);
        /// Those of one client, live streams among them; further ones wait in the same way, and are
        /// refused with 429. A client is a person who is signed in, or else an address: of IPv6 its /64
        /// network. Where a proxy stands before the host, that must write `X-Forwarded-For`.
        pub client_requests: u32 = 128, within(1..=1_000_000);
    }
    validate: check_host;
}

fn check_host(settings: &BrowserHostSettings, problems: &mut SectionProblems) {
    if settings.api.is_none() {
        problems.add("Api", "the address of the application, such as `http://10.0.0.7:5080`");
    }
}

/// What is asked for at the application's own provider.
pub(crate) const SCOPE: &str = "openid profile email roles";

fn check(settings: &BffSettings, problems: &mut SectionProblems) {
    if !crate::address::is_own_path(&settings.app_url) {
        problems.add("AppUrl", "a path of this application, such as `/`");
    }
}
