//! `GET /api/v1/search` and what is below it.

use std::convert::Infallible;
use std::sync::Arc;

use axum::Json;
use axum::body::Body;
use axum::response::{IntoResponse, Response};
use futures::StreamExt as _;
use http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderName};
use serde::{Deserialize, Serialize};
use svc_core::Result;
use svc_data::Context;
use svc_http::{ApiQuery, ApiResult, Ctx, HttpState, OpenApiRouter, routes};
use svc_sets::search::{Excerpt, MatchClass, SearchHit, SearchProvider, SearchQuery, TextMatch};
use utoipa::{IntoParams, ToSchema};

use crate::query;
use crate::run::{Running, Searches, Selection, Status, Told};

/// The routes.
pub(crate) fn routes() -> OpenApiRouter<HttpState> {
    OpenApiRouter::new()
        .routes(routes!(search))
        .routes(routes!(search_stream))
        .routes(routes!(list_search_providers))
}

/// Hits of each provider, where a request doesn't say how many.
const TAKE: usize = 8;

/// The most hits of each provider.
const MOST: usize = 50;

/// What to look for.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct SearchParameters {
    /// What was typed: at most 200 characters and 10 words.
    #[serde(default)]
    q: String,
    /// Hits of each provider: 8 unless it says otherwise, 1 to 50.
    #[param(minimum = 1, maximum = 50)]
    take: Option<usize>,
    /// The names of providers, with commas between; all that the caller may use without it.
    providers: Option<String>,
    /// An entity set, as one more provider.
    set: Option<String>,
}

impl SearchParameters {
    async fn begin(self, ctx: &Context) -> Result<(SearchQuery, Arc<Searches>, Running)> {
        let query = query::read(&self.q)?;
        let service = ctx.app().service::<Searches>()?;
        let providers = self.providers.iter().flat_map(|list| list.split(','));
        let providers = providers.chain(self.set.as_deref()).map(str::trim);
        let named = providers.filter(|name| !name.is_empty()).map(str::to_owned).collect();
        let take = self.take.unwrap_or(TAKE).clamp(1, MOST);
        let running = service.begin(ctx, query.clone(), &Selection { named }, take).await?;
        Ok((query, service, running))
    }
}

/// A hit, with who found it.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = SearchHit)]
#[serde(rename_all = "camelCase")]
pub(crate) struct HitBody {
    /// The provider that found it.
    provider: String,
    /// The entity set; none of what is no record of one.
    set: Option<String>,
    /// The record's key, as text.
    key: Option<String>,
    /// Of a record its address below the root of OData, of anything else that of a page.
    address: String,
    /// What it is called.
    title: String,
    /// Where words matched in the title: `[start, length]` in UTF-16 units.
    #[schema(value_type = Vec<[u32; 2]>)]
    title_matches: Vec<TextMatch>,
    /// Where words matched elsewhere.
    excerpt: Option<ExcerptBody>,
    /// How well it matches: `equal`, `words`, `beginnings`, `parts` or `similar`.
    #[serde(rename = "match")]
    #[schema(value_type = String)]
    class: MatchClass,
}

/// A piece of a text around what matched.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = SearchExcerpt)]
pub(crate) struct ExcerptBody {
    /// The property that it is of.
    property: String,
    /// The piece.
    text: String,
    /// Where words matched in it: `[start, length]` in UTF-16 units.
    #[schema(value_type = Vec<[u32; 2]>)]
    matches: Vec<TextMatch>,
}

impl HitBody {
    fn new(provider: &str, hit: SearchHit) -> Self {
        let SearchHit { set, key, address, title, title_matches, excerpt, class } = hit;
        let excerpt = excerpt.map(|Excerpt { property, text, matches }| ExcerptBody {
            property,
            text,
            matches,
        });
        let provider = provider.to_owned();
        Self { provider, set, key, address, title, title_matches, excerpt, class }
    }
}

/// A provider that is asked.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = SearchProviderAsked)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AskedBody {
    /// Its name.
    provider: String,
    /// The entity set that it finds records of.
    set: Option<String>,
    /// How long it may take, in milliseconds.
    budget_ms: u64,
}

/// How a provider's part ended.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = SearchProviderOutcome)]
#[serde(rename_all = "camelCase")]
pub(crate) struct OutcomeBody {
    #[serde(flatten)]
    asked: AskedBody,
    /// How it ended.
    status: Status,
    /// Whether there are more hits than were asked for.
    more: bool,
    /// Whether it knows everything: false while an index is built for the first time.
    complete: bool,
}

/// What a provider found.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = SearchProviderResult)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ResultBody {
    #[serde(flatten)]
    outcome: OutcomeBody,
    /// What it found, the best first.
    hits: Vec<HitBody>,
}

/// What was found.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = SearchResults)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ResultsBody {
    /// What was typed.
    query: String,
    /// Its words, as they were looked for.
    words: Vec<String>,
    /// By provider, in the order of the providers.
    providers: Vec<ResultBody>,
}

/// A line of a stream.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = SearchLine)]
#[serde(tag = "type", rename_all = "camelCase")]
pub(crate) enum Line {
    /// The first line: who is asked.
    Begin {
        /// What was typed.
        query: String,
        /// Its words, as they are looked for.
        words: Vec<String>,
        /// Who is asked.
        providers: Vec<AskedBody>,
    },
    /// Something was found.
    Hit {
        /// What.
        hit: HitBody,
    },
    /// A provider's part has ended.
    Provider {
        /// Its name.
        provider: String,
        /// The entity set that it finds records of.
        set: Option<String>,
        /// How long it may take, in milliseconds.
        #[serde(rename = "budgetMs")]
        budget_ms: u64,
        /// How it ended.
        status: Status,
        /// How many hits it told of.
        hits: usize,
        /// Whether there are more hits than were asked for.
        more: bool,
        /// Whether it knows everything: false while an index is built for the first time.
        complete: bool,
    },
    /// The last line.
    End {},
}

fn asked(searches: &Searches, provider: &dyn SearchProvider) -> AskedBody {
    AskedBody {
        provider: provider.id().to_owned(),
        set: provider.set().map(str::to_owned),
        budget_ms: u64::try_from(searches.budget.as_millis()).unwrap_or(u64::MAX),
    }
}

/// What happened, as a line.
fn line(searches: &Searches, running: &Running, told: Told) -> Line {
    match told {
        Told::Hit { provider, hit } => {
            Line::Hit { hit: HitBody::new(running.providers[provider].id(), hit) }
        }
        Told::Ended { provider, status, hits, searched } => {
            let AskedBody { provider, set, budget_ms } =
                asked(searches, running.providers[provider].as_ref());
            let (more, complete) = (searched.more, searched.complete);
            Line::Provider { provider, set, budget_ms, status, hits, more, complete }
        }
    }
}

/// Finds what the caller may see.
///
/// Words are looked for whatever their order, case and accents, as beginnings and parts of words and with a typo in words of five
/// letters or more. Answers when all providers have ended.
#[utoipa::path(
    get,
    path = "/search",
    tag = "search",
    operation_id = "global_search",
    params(SearchParameters),
    responses((status = 200, description = "What was found, by provider.", body = ResultsBody)),
    extensions(("x-tool" = json!(true))),
)]
async fn search(
    Ctx(ctx): Ctx,
    ApiQuery(parameters): ApiQuery<SearchParameters>,
) -> ApiResult<Json<ResultsBody>> {
    let (query, searches, mut running) = parameters.begin(&ctx).await?;
    let mut hits: Vec<Vec<HitBody>> = running.providers.iter().map(|_| Vec::new()).collect();
    let mut outcomes: Vec<Option<OutcomeBody>> = running.providers.iter().map(|_| None).collect();
    while let Some(told) = running.next().await {
        match told {
            Told::Hit { provider, hit } => {
                hits[provider].push(HitBody::new(running.providers[provider].id(), hit));
            }
            Told::Ended { provider, status, searched, .. } => {
                let asked = asked(&searches, running.providers[provider].as_ref());
                let (more, complete) = (searched.more, searched.complete);
                outcomes[provider] = Some(OutcomeBody { asked, status, more, complete });
            }
        }
    }
    let providers = outcomes.into_iter().zip(hits);
    let providers =
        providers.filter_map(|(outcome, hits)| Some(ResultBody { outcome: outcome?, hits }));
    let SearchQuery { text, words } = query;
    Ok(Json(ResultsBody { query: text, words, providers: providers.collect() }))
}

/// Finds what the caller may see, and tells each hit as soon as it is known.
///
/// Each line is an object in JSON: `begin`, a `hit` for each hit, a `provider` for each provider when its part has ended, `end`. An
/// answer without its `end` broke off.
#[utoipa::path(
    get,
    path = "/search/stream",
    tag = "search",
    params(SearchParameters),
    responses((
        status = 200,
        description = "What happens, a line each.",
        body = Line,
        content_type = "application/x-ndjson",
    )),
)]
async fn search_stream(
    Ctx(ctx): Ctx,
    ApiQuery(parameters): ApiQuery<SearchParameters>,
) -> ApiResult<Response> {
    let (query, searches, running) = parameters.begin(&ctx).await?;
    let providers = running.providers.iter();
    let providers = providers.map(|provider| asked(&searches, provider.as_ref())).collect();
    let begin = Line::Begin { query: query.text, words: query.words, providers };
    // Dropped with the body, when the client goes: with it what still runs.
    let state = (searches, running, Some(begin), false);
    let lines = futures::stream::unfold(state, async |(searches, mut running, first, ended)| {
        let next = match first {
            Some(begin) => begin,
            None if ended => return None,
            None => match running.next().await {
                Some(told) => line(&searches, &running, told),
                None => Line::End {},
            },
        };
        let ended = matches!(next, Line::End {});
        let mut text = serde_json::to_vec(&next).ok()?;
        text.push(b'\n');
        Some((Ok::<_, Infallible>(text), (searches, running, None, ended)))
    });
    // The layers around a body may ask once more behind its end.
    let lines = lines.fuse();
    let headers = [
        (CONTENT_TYPE, "application/x-ndjson"),
        (CACHE_CONTROL, "no-store"),
        // A proxy that collects answers would hold lines back.
        (HeaderName::from_static("x-accel-buffering"), "no"),
    ];
    Ok((headers, Body::from_stream(lines)).into_response())
}

/// A provider that the caller may use.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = SearchProvider)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ProviderBody {
    #[serde(flatten)]
    asked: AskedBody,
    /// The permission that it asks for.
    permission: Option<String>,
}

/// The providers.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = SearchProviders)]
pub(crate) struct ProvidersBody {
    /// The providers, in the order in which results name them.
    items: Vec<ProviderBody>,
    /// Always null: there is one page.
    next: Option<String>,
}

/// Lists the providers that the caller may use.
#[utoipa::path(
    get,
    path = "/search/providers",
    tag = "search",
    responses((status = 200, description = "The providers.", body = ProvidersBody)),
)]
async fn list_search_providers(Ctx(ctx): Ctx) -> ApiResult<Json<ProvidersBody>> {
    let searches = ctx.app().service::<Searches>()?;
    let usable = searches.usable(&ctx);
    let items = usable.iter().map(|provider| ProviderBody {
        asked: asked(&searches, provider.as_ref()),
        permission: provider.permission().map(str::to_owned),
    });
    Ok(Json(ProvidersBody { items: items.collect(), next: None }))
}
