use std::time::Duration;

use svc_core::settings::Secret;

svc_core::settings_section! {
    /// The OpenID provider.
    pub struct OpenIdSettings in "Svc:OpenId" {
        /// How long an access token holds. Whether its session still is, and what its person may do, is
        /// asked with every request all the same.
        pub access_token_lifetime: Duration = minutes(10), within(minutes(1)..=hours(1));
        /// How long a refresh token may lie unused.
        pub refresh_token_lifetime: Duration = days(14), within(minutes(5)..=days(366));
        /// How long a client may go on without the person, at most.
        pub grant_lifetime: Duration = days(90), within(minutes(5)..=days(3660));
        /// How long a client may take to exchange a code.
        pub code_lifetime: Duration = seconds(60), within(seconds(5)..=minutes(10));
        /// How long one key signs tokens.
        pub key_lifetime: Duration = days(90), within(days(2)..=days(3660));
        /// Whether clients hear of ended sessions by `https` alone; false is for local tests.
        pub require_https: bool = true;
        /// What proves the browser host that stands before the application as a program of its own
        /// (`Svc:BrowserHost:ClientSecret` there). None knows no such host.
        pub browser_host_secret: Option<Secret> = None, length(32..=200);
        /// Ports at which clients may hear of ended sessions, besides 443.
        pub allowed_ports: Vec<u16> = vec![];
    }
}
