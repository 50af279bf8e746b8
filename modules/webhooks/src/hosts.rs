//! Which hosts an organisation's endpoints may be at, where it says so.
//!
//! Whoever administers the organisation lists them in a setting, which another permission changes than the
//! one that manages endpoints. It counts when an endpoint is saved, and when something is about to be sent.

use svc_client::TargetUrl;
use svc_core::{Registry, Result};
use svc_data::Context;
use svc_settings::{ApplicationSetting, ApplicationSettings, SettingsRegistry as _};

/// The setting that lists them.
const SETTING: &str = "Webhooks.AllowedHosts";

/// The longest list, in characters.
const MAX_LENGTH: usize = 4_000;

/// Declares the setting.
pub(crate) fn declare(registry: &mut Registry) {
    let doc = "Hosts that webhook endpoints may be at, separated by spaces or commas: `example.com`, \
               or `*.example.com` for all below it. Empty for any.";
    registry.application_setting(ApplicationSetting::text(SETTING, doc, MAX_LENGTH, ""));
}

/// The hosts of an organisation's list; all when it is empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct AllowedHosts(Vec<String>);

impl AllowedHosts {
    /// The list of the organisation that is called in.
    pub(crate) async fn of(ctx: &Context) -> Result<Self> {
        let settings = ctx.app().service::<ApplicationSettings>()?;
        Ok(Self::parse(&settings.get::<String>(ctx, SETTING).await?))
    }

    fn parse(text: &str) -> Self {
        let hosts = text.split(|one: char| one.is_whitespace() || matches!(one, ',' | ';'));
        Self(hosts.filter(|host| !host.is_empty()).map(str::to_lowercase).collect())
    }

    /// Whether it allows any host.
    pub(crate) fn is_any(&self) -> bool {
        self.0.is_empty()
    }

    /// Refuses an address at another host; the sentence says why.
    pub(crate) fn check(&self, url: &TargetUrl) -> Result<(), String> {
        let host = url.host().to_string().to_lowercase();
        let matches = |allowed: &String| match allowed.strip_prefix('*') {
            Some(below) => {
                below.starts_with('.') && host.ends_with(below) && host.len() > below.len()
            }
            None => *allowed == host,
        };
        if self.is_any() || self.0.iter().any(matches) {
            return Ok(());
        }
        Err(format!(
            "the organisation allows no endpoints at `{host}`; add it to the setting `{SETTING}`, or \
             choose one of `{}`",
            self.0.join("`, `")
        ))
    }
}

#[cfg(test)]
mod tests {
    use svc_client::AddressPolicy;

    use super::*;

    #[test]
    fn hosts_are_listed_by_name_or_by_what_they_are_below() {
        let allowed = AllowedHosts::parse("example.com, *.Hooks.example.org;192.0.2.7");
        let check = |url: &str| {
            let policy = AddressPolicy { allow_private_networks: true, ..AddressPolicy::default() };
            allowed.check(&TargetUrl::parse(url, &policy).unwrap())
        };
        for url in [
            "https://example.com/hook",
            "https://EXAMPLE.com/",
            "https://a.hooks.example.org/",
            "https://a.b.hooks.example.org/",
        ] {
            assert_eq!(check(url), Ok(()), "{url}");
        }
        for url in [
            "https://a.example.com/",
            "https://hooks.example.org/",
            "https://evilhooks.example.org/",
            "https://example.com.evil.net/",
            "https://example.comm/",
        ] {
            let refused = check(url).unwrap_err();
            assert!(refused.contains("`example.com`"), "{refused}");
        }
        let any = AllowedHosts::parse(" , ");
        let url = TargetUrl::parse("https://anywhere.net/", &AddressPolicy::default()).unwrap();
        assert_eq!(any.check(&url), Ok(()));
    }
}
