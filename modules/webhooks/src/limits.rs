//! What an organisation may use: endpoints, requests in a second, bytes in a day.
//!
//! The application sets each for all organisations, and an organisation may have less by a setting of its own,
//! never more: its administrators hold every permission in it, so what they can change binds nobody else.

use std::time::Duration;

use futures::FutureExt as _;
use svc_core::{App, Cache, OrganisationId, Registry, Result};
use svc_data::Context;
use svc_settings::{ApplicationSetting, ApplicationSettings, SettingsRegistry as _};

use crate::settings::WebhooksSettings;

const ENDPOINTS: &str = "Webhooks.MaxEndpoints";
const PER_SECOND: &str = "Webhooks.MaxPerSecond";
const BYTES_PER_DAY: &str = "Webhooks.MaxBytesPerDay";

/// The topic by which nodes tell each other that organisations' settings were changed.
const TOPIC: &str = "settings";

/// Organisations whose limits a node remembers.
const REMEMBERED: usize = 10_000;

/// How long a node trusts what it has read.
const LIFE: Duration = Duration::from_secs(30);

/// Declares the settings of organisations.
pub(crate) fn declare(registry: &mut Registry) {
    let endpoints = "Webhook endpoints of the organisation, where these are to be fewer than the \
                     application allows. Zero for as many.";
    let per_second = "Webhook requests in a second, to all endpoints of the organisation together, where \
                      these are to be fewer than the application allows; what is more waits. Zero for as many.";
    let bytes = "Bytes of webhook bodies in a day, where these are to be fewer than the application \
                 allows; what is more waits. Zero for as many.";
    for (name, doc, most) in [
        (ENDPOINTS, endpoints, 1_000_000),
        (PER_SECOND, per_second, 10_000),
        (BYTES_PER_DAY, bytes, 1_000_000_000_000_000),
    ] {
        registry.application_setting(ApplicationSetting::integer(name, doc, 0..=most, 0));
    }
}

/// The limits of an organisation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Limits {
    /// Endpoints that it may have.
    pub(crate) endpoints: i64,
    /// Requests that begin in a second; none without a limit.
    pub(crate) per_second: Option<i32>,
    /// Bytes that are sent in a day; none without a limit.
    pub(crate) bytes_per_day: Option<i64>,
}

impl Limits {
    /// Those of the organisation that a context is in.
    pub(crate) async fn of(ctx: &Context) -> Result<Self> {
        let OrganisationLimits(known) = &*ctx.app().service::<OrganisationLimits>()?;
        let organisation = ctx.organisation()?;
        if let Some(limits) = known.get(&organisation) {
            return Ok(limits);
        }
        let reading = known.begin();
        // Boxed: it is rare, and everybody who asks would carry what it needs.
        let limits = Self::read(ctx).boxed().await?;
        known.keep(reading, organisation, limits);
        Ok(limits)
    }

    /// Those of an organisation.
    pub(crate) async fn in_organisation(app: &App, organisation: OrganisationId) -> Result<Self> {
        Self::of(&Context::system_in(app, organisation)?).await
    }

    async fn read(ctx: &Context) -> Result<Self> {
        let most = ctx.app().settings::<WebhooksSettings>();
        let settings = ctx.app().service::<ApplicationSettings>()?;
        let own = async |name: &str| settings.get::<i64>(ctx, name).await;
        let per_second = lower(most.max_per_second.into(), own(PER_SECOND).await?);
        let bytes = i64::try_from(most.max_bytes_per_day).unwrap_or(i64::MAX);
        Ok(Self {
            endpoints: lower(most.max_endpoints.into(), own(ENDPOINTS).await?).unwrap_or(i64::MAX),
            per_second: per_second.map(|most| i32::try_from(most).unwrap_or(i32::MAX)),
            bytes_per_day: lower(bytes, own(BYTES_PER_DAY).await?),
        })
    }

    /// Whether requests have to be counted.
    pub(crate) fn bound_requests(&self) -> bool {
        self.per_second.is_some() || self.bytes_per_day.is_some()
    }
}

/// The lower of two limits, of which zero is none.
fn lower(application: i64, own: i64) -> Option<i64> {
    [application, own].into_iter().filter(|most| *most > 0).min()
}

/// What this node remembers of organisations' limits; a service of the application.
///
/// The fan-out asks within its unit of work, where settings are read anew each time. It changes none, so
/// what it reads may be kept.
pub(crate) struct OrganisationLimits(Cache<OrganisationId, Limits>);

impl OrganisationLimits {
    pub(crate) fn new(app: &App) -> Self {
        Self(Cache::new(app, TOPIC, REMEMBERED, LIFE))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_organisation_can_only_have_less() {
        let cases =
            [(0, 0, None), (5, 0, Some(5)), (0, 7, Some(7)), (5, 7, Some(5)), (7, 5, Some(5))];
        for (application, own, expected) in cases {
            assert_eq!(lower(application, own), expected);
        }
    }
}
