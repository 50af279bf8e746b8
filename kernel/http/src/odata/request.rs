//! A request as it is understood.

use std::borrow::Cow;
use std::sync::Arc;

use http::header::{ACCEPT, CONTENT_TYPE, HOST, IF_MATCH, IF_NONE_MATCH};
use http::{HeaderMap, HeaderName, Uri};
use svc_core::{Error, ErrorKind, Result};
use svc_data::sets::{Seen, Source, token_binding};
use svc_data::{Context, Expense, Sets};
use svc_odata::bind::{
    BindError, BindErrorKind, BindLimits, BoundExpand, BoundQuery, BoundResource, Cost, ExpandPage,
    KeyValue, Limit, ResourceKind, ResourceRoot, ResourceStep, bind_query, bind_resource,
    check_capabilities,
};
use svc_odata::headers::{
    FormatError, JsonFormat, Preferences, TagCondition, Version, negotiate_json, negotiate_version,
    parse_content_type,
};
use svc_odata::model::{PropertyIndex, SetIndex, TypeIndex};
use svc_odata::syntax::{ParseLimits, QueryOptions, ResourcePath, SyntaxError};

use super::ODataSettings;
use crate::state::HttpState;

/// Where the sets are served.
pub(super) const ROOT: &str = "/odata/v1";

/// A request whose path leads somewhere; its options are bound where they are needed.
pub(super) struct Request {
    pub(super) ctx: Context,
    pub(super) sets: Arc<Sets>,
    pub(super) settings: Arc<ODataSettings>,
    pub(super) version: Version,
    pub(super) resource: BoundResource,
    pub(super) options: QueryOptions,
    pub(super) preferences: Preferences,
    pub(super) headers: HeaderMap,
    /// The path and query after the service's root, as they were sent.
    pub(super) target: String,
    /// The address of the service's root, with a slash at the end.
    pub(super) root: String,
}

impl Request {
    /// Reads what a request asks for.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Malformed`] for what can't be understood,
    /// [`ErrorKind::NotFound`] for a path that leads nowhere,
    /// [`ErrorKind::NotImplemented`] for a part of OData that is not served.
    pub(super) fn read(
        state: &HttpState,
        ctx: Context,
        uri: &Uri,
        headers: HeaderMap,
    ) -> Result<Self> {
        let app = state.app();
        let (sets, settings) = (app.service::<Sets>()?, app.settings::<ODataSettings>());
        let version = text_of(&headers, &HeaderName::from_static("odata-version"))?;
        let max_version = text_of(&headers, &HeaderName::from_static("odata-maxversion"))?;
        let version = negotiate_version(version.as_deref(), max_version.as_deref())
            .map_err(|error| Error::malformed(error.to_string()))?;
        let limits = ParseLimits { depth: settings.max_depth, nodes: settings.max_nodes };
        let query = uri.query().unwrap_or_default();
        let options = QueryOptions::parse_with(query, limits).map_err(|e| unreadable(&e))?;
        let path = uri.path();
        let path = path.strip_prefix(ROOT).unwrap_or(path).trim_start_matches('/');
        let parsed = ResourcePath::parse_with(path, limits).map_err(|e| unreadable(&e))?;
        let everything = Seen::with_all_sets(&sets, ctx.principal());
        let limits = limits_of(&settings, &ctx);
        let bound = bind_resource(&everything, &parsed, &options.aliases, limits);
        let resource = bound.map_err(refused)?;
        spend(&ctx, resource.cost)?;
        let preferences = text_of(&headers, &HeaderName::from_static("prefer"))?;
        let preferences = preferences.as_deref().map(Preferences::parse).unwrap_or_default();
        let target = match uri.query() {
            Some(query) => format!("{path}?{query}"),
            None => path.to_owned(),
        };
        let root = root_of(state, &headers);
        Ok(Self {
            ctx,
            sets,
            settings,
            version,
            resource,
            options,
            preferences,
            headers,
            target,
            root,
        })
    }

    /// The sets as the caller sees them.
    pub(super) fn seen(&self) -> Seen<'_> {
        Seen::new(&self.sets, self.ctx.principal())
    }

    /// The set that the path begins with, and its type.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::NotImplemented`] when the path begins with anything else.
    pub(super) fn set(&self) -> Result<(SetIndex, TypeIndex)> {
        match &self.resource.root {
            ResourceRoot::Set(set) => Ok((*set, self.sets.model().set(*set).entity_type)),
            _ => Err(Error::not_implemented("this kind of resource is not served")),
        }
    }

    /// The one entity that the path leads to, and the values of its key where the path is nothing
    /// but a set's entity.
    ///
    /// # Errors
    ///
    /// As [`Request::source`].
    pub(super) async fn addressed(&self) -> Result<(Source, &[KeyValue])> {
        match &self.resource.steps[..] {
            [ResourceStep::Key(values)] => {
                let source = Source::of(self.set()?.0);
                Ok((self.sets.with_key_values(source, values)?, values))
            }
            steps => Ok((self.walk_seen(steps).await?, &[])),
        }
    }

    /// Follows steps as [`Request::walk`] does, for who may read the set that they begin in.
    ///
    /// # Errors
    ///
    /// As [`Request::source`].
    pub(super) async fn walk_seen(&self, steps: &[ResourceStep]) -> Result<Source> {
        self.sets.require_view(&self.ctx, self.set()?.0)?;
        self.walk(steps).await
    }

    /// The key in a reference to an entity of a type.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Malformed`] for what is no address of one.
    pub(super) fn key_of_reference(&self, url: &str, of: TypeIndex) -> Result<ResourceStep> {
        let (set, values) = self.read_reference(url)?;
        if self.sets.model().set(set).entity_type == of {
            Ok(ResourceStep::Key(values))
        } else {
            Err(wrong_reference())
        }
    }

    /// The options, bound to the entities of a set.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Malformed`] for an unknown name or a wrong type,
    /// [`ErrorKind::NotImplemented`] for an option that is not served.
    pub(super) fn query(&self, set: SetIndex) -> Result<BoundQuery> {
        let set = self.sets.model().set(set);
        check_capabilities(set, &self.options).map_err(refused)?;
        let bound = bind_query(&self.seen(), set.entity_type, &self.options, self.limits());
        let mut query = bound.map_err(refused)?;
        spend(&self.ctx, query.cost)?;
        self.page_expands(&mut query.expand);
        if nested_apply(&query) {
            return Err(Error::not_implemented("`$apply` within `$expand` is not served"));
        }
        Ok(query)
    }

    /// As [`Request::query`], for options that the server itself has written.
    ///
    /// # Errors
    ///
    /// As [`Request::query`].
    pub(super) fn query_with(&self, set: SetIndex, options: &str) -> Result<BoundQuery> {
        let options = QueryOptions::parse(options).map_err(|error| unreadable(&error))?;
        let options = QueryOptions {
            select: self.options.select.clone(),
            format: self.options.format.clone(),
            ..options
        };
        let entity_type = self.sets.model().set(set).entity_type;
        let bound = bind_query(&self.seen(), entity_type, &options, self.limits());
        let mut query = bound.map_err(refused)?;
        self.page_expands(&mut query.expand);
        Ok(query)
    }

    /// Bounds how many related entities an answer holds of each.
    fn page_expands(&self, expands: &mut [BoundExpand]) {
        for expand in expands {
            let limit = self.settings.expand_page_size.into();
            expand.page = Some(ExpandPage { limit, root: self.root.as_str().into() });
            self.page_expands(&mut expand.query.expand);
        }
    }

    /// The entity that a body refers to by its URL: absolute, from the host's root, or from the
    /// service's.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Malformed`] for what is no address of one entity here, and as
    /// [`Request::source`].
    pub(super) fn reference(&self, url: &str) -> Result<Source> {
        let (set, values) = self.read_reference(url)?;
        self.sets.require_view(&self.ctx, set)?;
        self.sets.with_key_values(Source::of(set), &values)
    }

    fn read_reference(&self, url: &str) -> Result<(SetIndex, Vec<KeyValue>)> {
        let path = match url.split_once("://") {
            Some((_, rest)) => {
                rest.find('/').map(|start| &rest[start..]).ok_or_else(wrong_reference)?
            }
            None => url,
        };
        let path = match path.strip_prefix('/') {
            Some(_) => path.strip_prefix(ROOT).ok_or_else(wrong_reference)?,
            None => path,
        };
        let limits = ParseLimits { depth: self.settings.max_depth, nodes: self.settings.max_nodes };
        let parsed = ResourcePath::parse_with(path, limits).map_err(|_| wrong_reference())?;
        let everything = Seen::with_all_sets(&self.sets, self.ctx.principal());
        let bound = bind_resource(&everything, &parsed, &[], self.limits()).map_err(refused)?;
        match (&bound.root, bound.kind, &bound.steps[..]) {
            (ResourceRoot::Set(set), ResourceKind::Entity, [ResourceStep::Key(values)]) => {
                Ok((*set, values.clone()))
            }
            _ => Err(wrong_reference()),
        }
    }

    /// The query of nothing but one property of an entity of this type. The options of the
    /// request that would say anything else have no meaning there.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Malformed`] when there is such an option.
    pub(super) fn query_of_property(
        &self,
        entity_type: TypeIndex,
        property: PropertyIndex,
    ) -> Result<BoundQuery> {
        self.refuse_options()?;
        let options = QueryOptions {
            format: self.options.format.clone(),
            aliases: self.options.aliases.clone(),
            ..QueryOptions::default()
        };
        let bound = bind_query(&self.seen(), entity_type, &options, self.limits());
        let mut query = bound.map_err(refused)?;
        query.select.properties = vec![property];
        Ok(query)
    }

    /// Refuses options that say anything of entities, where there are none.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Malformed`] when there is such an option.
    pub(super) fn refuse_options(&self) -> Result<()> {
        let options = QueryOptions {
            format: self.options.format.clone(),
            aliases: self.options.aliases.clone(),
            custom: self.options.custom.clone(),
            schema_version: self.options.schema_version.clone().filter(|version| version == "*"),
            ..QueryOptions::default()
        };
        if options == self.options {
            return Ok(());
        }
        Err(Error::malformed("this address takes no query options but `$format`"))
    }

    fn limits(&self) -> BindLimits {
        limits_of(&self.settings, &self.ctx)
    }

    /// What a continuation token is bound to: the path and the options without the token, in
    /// whatever way they were encoded.
    pub(super) fn binding(&self) -> String {
        let (path, _) = self.target.split_once('?').unwrap_or((&self.target, ""));
        let options = self.options_without(&["skiptoken"]);
        let decoded: Vec<_> = options
            .iter()
            .filter_map(|option| form_urlencoded::parse(option.as_bytes()).next())
            .collect();
        token_binding(path, decoded.iter().map(|(name, value)| (name.as_ref(), value.as_ref())))
    }

    /// The options as they were sent, without some.
    pub(super) fn options_without(&self, names: &[&str]) -> Vec<&str> {
        let (_, query) = self.target.split_once('?').unwrap_or((&self.target, ""));
        let is_named = |part: &str| {
            let option = part.split('=').next().unwrap_or_default();
            let option = option.trim_start_matches("%24").trim_start_matches('$');
            names.iter().any(|name| option.eq_ignore_ascii_case(name))
        };
        query.split('&').filter(|part| !part.is_empty() && !is_named(part)).collect()
    }

    /// The entities that the path leads to.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::NotFound`] when an entity on the way is not there,
    /// [`ErrorKind::Forbidden`] without the permission of a set on the way,
    /// [`ErrorKind::NotImplemented`] for a kind of step that is not served.
    pub(super) async fn source(&self) -> Result<Source> {
        let (set, _) = self.set()?;
        self.sets.require_view(&self.ctx, set)?;
        self.walk(&self.resource.steps).await
    }

    /// Follows steps from the set that the path begins with. The permission of that set is left
    /// to the caller, that of every other on the way is not.
    ///
    /// # Errors
    ///
    /// As [`Request::source`].
    pub(super) async fn walk(&self, steps: &[ResourceStep]) -> Result<Source> {
        let mut source = Source::of(self.set()?.0);
        for step in steps {
            source = match step {
                ResourceStep::Key(values) => self.sets.with_key_values(source, values)?,
                ResourceStep::Navigation(step) => {
                    self.sets.follow(&self.ctx, &source, step.navigation).await?
                }
                ResourceStep::Filter(condition) => {
                    self.sets.require_view(&self.ctx, source.set())?;
                    source.filtered(condition.clone())
                }
                ResourceStep::Operation(_) => {
                    return Err(Error::not_implemented("an operation is not served"));
                }
                ResourceStep::Property(_)
                | ResourceStep::Count
                | ResourceStep::References
                | ResourceStep::Value => break,
            };
        }
        Ok(source)
    }

    /// The form of JSON that the caller takes.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::NotAcceptable`] when it takes none.
    pub(super) fn json_format(&self) -> Result<JsonFormat> {
        let accept = text_of(&self.headers, &ACCEPT)?;
        negotiate_json(self.options.format.as_ref(), accept.as_deref()).map_err(format_error)
    }

    /// The form of JSON that the body has.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::UnsupportedMediaType`] when it is none.
    pub(super) fn body_format(&self) -> Result<JsonFormat> {
        let content_type = text_of(&self.headers, &CONTENT_TYPE)?;
        parse_content_type(content_type.as_deref()).map_err(format_error)
    }

    /// The condition of `If-Match`.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Malformed`] when it is no list of tags.
    pub(super) fn if_match(&self) -> Result<Option<TagCondition>> {
        condition(&self.headers, &IF_MATCH)
    }

    /// The condition of `If-None-Match`.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Malformed`] when it is no list of tags.
    pub(super) fn if_none_match(&self) -> Result<Option<TagCondition>> {
        condition(&self.headers, &IF_NONE_MATCH)
    }
}

fn wrong_reference() -> Error {
    Error::malformed("a reference is no address of an entity of this service").target("@odata.id")
}

/// What binding may use up: of what a batch shares as much as is left.
fn limits_of(settings: &ODataSettings, ctx: &Context) -> BindLimits {
    let left = |what, limit: u64| {
        let left = ctx.budget().map_or(limit, |budget| budget.left(what));
        usize::try_from(left).unwrap_or(usize::MAX)
    };
    BindLimits {
        nodes: settings.max_nodes,
        depth: settings.max_depth.min(ParseLimits::MAX_DEPTH),
        select_items: settings.max_select_items,
        order_by_items: settings.max_order_by_items,
        expand_depth: settings.max_expand_depth,
        expands: settings.max_expands,
        navigation_steps: left(Expense::NavigationSteps, settings.max_navigation_steps),
        collection_depth: settings.max_collection_depth,
        search_words: left(Expense::SearchWords, settings.max_search_words),
        search_word_length: settings.max_search_word_length,
        case_changes: settings.max_case_changes,
        transformations: settings.max_transformations,
    }
}

/// Spends what was bound.
fn spend(ctx: &Context, cost: Cost) -> Result<()> {
    ctx.spend(Expense::NavigationSteps, cost.navigation_steps as u64)?;
    ctx.spend(Expense::SearchWords, cost.search_words as u64)
}

/// The setting that a limit comes from.
fn setting_of(limit: Limit) -> &'static str {
    match limit {
        Limit::ExpandDepth => "MaxExpandDepth",
        Limit::Expands => "MaxExpands",
        Limit::SelectItems => "MaxSelectItems",
        Limit::OrderByItems => "MaxOrderByItems",
        Limit::Nodes => "MaxNodes",
        Limit::Depth => "MaxDepth",
        Limit::NavigationSteps => "MaxNavigationSteps",
        Limit::CollectionDepth => "MaxCollectionDepth",
        Limit::SearchWords => "MaxSearchWords",
        Limit::SearchWordLength => "MaxSearchWordLength",
        Limit::CaseChanges => "MaxCaseChanges",
        Limit::Transformations => "MaxTransformations",
    }
}

fn nested_apply(query: &BoundQuery) -> bool {
    let nested = |expand: &BoundExpand| expand.query.apply.is_some() || nested_apply(&expand.query);
    query.expand.iter().any(nested)
}

fn condition(headers: &HeaderMap, name: &HeaderName) -> Result<Option<TagCondition>> {
    let Some(text) = text_of(headers, name)? else { return Ok(None) };
    let malformed = || Error::malformed(format!("the header `{name}` is no list of entity tags"));
    TagCondition::parse(&text).map(Some).ok_or_else(malformed)
}

/// The text of a header; none where it isn't sent. Several lines are one list (RFC 9110, 5.3).
fn text_of<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Result<Option<Cow<'a, str>>> {
    let malformed = |_| Error::malformed(format!("the header `{name}` is no plain text"));
    let mut lines = headers.get_all(name).iter().map(|value| value.to_str().map_err(malformed));
    let Some(first) = lines.next() else { return Ok(None) };
    lines
        .try_fold(Cow::Borrowed(first?), |all, line| Ok(format!("{all}, {}", line?).into()))
        .map(Some)
}

/// The address of the service: the configured one, or the one that the caller used.
fn root_of(state: &HttpState, headers: &HeaderMap) -> String {
    let base: Cow<'_, str> = match &state.settings().public_url {
        Some(url) => url.as_str().trim_end_matches('/').into(),
        None => match headers.get(HOST).and_then(|host| host.to_str().ok()) {
            Some(host) => format!("http://{host}").into(),
            None => "".into(),
        },
    };
    format!("{base}{ROOT}/")
}

fn unreadable(error: &SyntaxError) -> Error {
    Error::malformed(error.to_string())
}

#[expect(clippy::needless_pass_by_value, reason = "it is handed to `map_err`")]
pub(super) fn refused(error: BindError) -> Error {
    let kind = match error.status() {
        404 => ErrorKind::NotFound,
        501 => ErrorKind::NotImplemented,
        _ => ErrorKind::Malformed,
    };
    let message = match &error.kind {
        BindErrorKind::TooMuch { limit, .. } => {
            format!("{error} (`Svc:OData:{}`)", setting_of(*limit))
        }
        _ => error.to_string(),
    };
    let refusal = Error::new(kind, message);
    match error.option {
        Some(option) => refusal.target(option),
        None => refusal,
    }
}

#[expect(clippy::needless_pass_by_value, reason = "it is handed to `map_err`")]
pub(super) fn format_error(error: FormatError) -> Error {
    let kind = match error.status() {
        406 => ErrorKind::NotAcceptable,
        _ => ErrorKind::UnsupportedMediaType,
    };
    Error::new(kind, error.to_string())
}
