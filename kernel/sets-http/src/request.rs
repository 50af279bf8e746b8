//! A request as it is understood.

use std::borrow::Cow;
use std::sync::Arc;

use http::header::{ACCEPT, CONTENT_TYPE, HOST, IF_MATCH, IF_NONE_MATCH};
use http::{HeaderMap, HeaderName, Uri};
use svc_core::{Error, ErrorKind, Result};
use svc_data::{Context, Expense};
use svc_http::HttpState;
use svc_odata::bind::{BoundQuery, BoundResource, KeyValue, ResourceRoot, ResourceStep};
use svc_odata::headers::{
    FormatError, JsonFormat, Preferences, TagCondition, Version, negotiate_json, negotiate_version,
    parse_content_type,
};
use svc_odata::model::{PropertyIndex, SetIndex, TypeIndex};
use svc_odata::syntax::QueryOptions;
use svc_sets::{Address, ODataSettings, ROOT, Seen, Sets, Source, token_binding};

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
    /// How many related entities, references and items of lists its body may still hold.
    pub(super) fn body_items(&self) -> usize {
        let limit = self.settings.max_body_items;
        let left = self.ctx.budget().map_or(limit, |budget| budget.left(Expense::BodyItems));
        usize::try_from(left).unwrap_or(usize::MAX)
    }

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
        let path = uri.path();
        let path = path.strip_prefix(ROOT).unwrap_or(path).trim_start_matches('/');
        let Address { resource, options } =
            sets.understand(&ctx, path, uri.query().unwrap_or_default())?;
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
        self.sets.bind(&self.ctx, set, &self.options, Some(&self.root))
    }

    /// As [`Request::query`], for options that the server itself has written.
    ///
    /// # Errors
    ///
    /// As [`Request::query`].
    pub(super) fn query_with(&self, set: SetIndex, options: &str) -> Result<BoundQuery> {
        let written = QueryOptions::parse(options).map_err(|error| {
            Error::internal("options of the server's own can't be read").caused_by(error)
        })?;
        let options = QueryOptions {
            select: self.options.select.clone(),
            format: self.options.format.clone(),
            ..written
        };
        self.sets.bind(&self.ctx, set, &options, Some(&self.root))
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
                let start = rest.find('/').ok_or_else(wrong_reference)?;
                let (host, path) = rest.split_at(start);
                // By which scheme a client came is lost behind a proxy.
                let own = self.root.split_once("://").and_then(|(_, own)| own.split('/').next());
                if !own.is_some_and(|own| own.eq_ignore_ascii_case(host)) {
                    return Err(wrong_reference());
                }
                path
            }
            None => url,
        };
        let path = match path.strip_prefix('/') {
            Some(_) => path.strip_prefix(ROOT).ok_or_else(wrong_reference)?,
            None => path,
        };
        self.sets.reference(&self.ctx, path)
    }

    /// The query of nothing but one property of an entity of this set. The options of the
    /// request that would say anything else have no meaning there.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Malformed`] when there is such an option.
    pub(super) fn query_of_property(
        &self,
        set: SetIndex,
        property: PropertyIndex,
    ) -> Result<BoundQuery> {
        self.refuse_options()?;
        let options = QueryOptions {
            format: self.options.format.clone(),
            aliases: self.options.aliases.clone(),
            ..QueryOptions::default()
        };
        let mut query = self.sets.bind(&self.ctx, set, &options, None)?;
        query.select.properties = vec![property];
        Ok(query)
    }

    /// Refuses options that say anything of entities, where there are none.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Malformed`] when there is such an option.
    pub(super) fn refuse_options(&self) -> Result<()> {
        refuse_options(&self.options)
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
        self.sets.walk(&self.ctx, self.set()?.0, steps).await
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

/// Refuses options that say anything of entities.
///
/// # Errors
///
/// [`ErrorKind::Malformed`] when there is such an option.
pub(super) fn refuse_options(options: &QueryOptions) -> Result<()> {
    let understood = QueryOptions {
        format: options.format.clone(),
        aliases: options.aliases.clone(),
        custom: options.custom.clone(),
        schema_version: options.schema_version.clone().filter(|version| version == "*"),
        ..QueryOptions::default()
    };
    if understood == *options {
        return Ok(());
    }
    Err(Error::malformed("this address takes no query options but `$format`"))
}

fn wrong_reference() -> Error {
    Error::malformed("a reference isn't an address of an entity of this service")
        .target("@odata.id")
}

fn condition(headers: &HeaderMap, name: &HeaderName) -> Result<Option<TagCondition>> {
    let Some(text) = text_of(headers, name)? else { return Ok(None) };
    let malformed = || Error::malformed(format!("the header `{name}` isn't a list of entity tags"));
    TagCondition::parse(&text).map(Some).ok_or_else(malformed)
}

/// The text of a header; none where it isn't sent. Several lines are one list (RFC 9110, 5.3).
fn text_of<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Result<Option<Cow<'a, str>>> {
    let malformed = |_| Error::malformed(format!("the header `{name}` isn't plain text"));
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

#[expect(clippy::needless_pass_by_value, reason = "it is handed to `map_err`")]
pub(super) fn format_error(error: FormatError) -> Error {
    let kind = match error.status() {
        406 => ErrorKind::NotAcceptable,
        _ => ErrorKind::UnsupportedMediaType,
    };
    Error::new(kind, error.to_string())
}
