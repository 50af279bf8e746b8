//! What a module serves below every set: `GET /odata/v1/Products/$export`.
//!
//! ```text
//! registry.set_path(Arc::new(Export::default()));
//! ```
//!
//! A path is registered once and serves all sets, those of modules that nobody knows yet too. It is
//! part of the OpenAPI description, set by set, where it says that it serves that set. Who calls is
//! known before it is asked; what they may see and change is decided by [`Sets`], through which it
//! reads and writes like everybody else.

use std::sync::Arc;

use async_trait::async_trait;
use axum::body::Bytes;
use axum::response::Response;
use http::{HeaderMap, Method, Uri};
use parking_lot::RwLock;
use serde_json::{Value, json};
use svc_core::{Error, ErrorKind, Kind, Registry, Result};
use svc_data::Context;
use svc_odata::model::EntitySet;
use svc_sets::{ROOT, Sets};

/// Paths below sets, in the list of modules.
const SET_PATH: Kind = Kind::new("paths below sets");

/// Serves a path below sets.
#[async_trait]
pub trait SetPath: Send + Sync + 'static {
    /// Its name behind the `$`: letters alone.
    fn name(&self) -> &'static str;

    /// What it does, for people.
    fn description(&self) -> &'static str;

    /// The method that it takes: GET (and with it HEAD) for what only reads, POST for what changes
    /// something.
    fn method(&self) -> Method;

    /// Its operation in the OpenAPI document, for a set that it serves: `summary`, `parameters`,
    /// `requestBody`, and `responses` by status, of which refusals are added; none for a set that it
    /// doesn't serve.
    fn describe(&self, set: &EntitySet) -> Option<Value>;

    /// The permission that the description names; the set's own decide in any case.
    fn permission<'s>(&self, set: &'s EntitySet) -> Option<&'s str> {
        set.permissions.read.as_deref()
    }

    /// Answers a call.
    ///
    /// # Errors
    ///
    /// What refuses or fails it.
    async fn answer(&self, call: SetCall) -> Result<Response>;
}

/// A call of a [`SetPath`].
#[derive(Debug)]
pub struct SetCall {
    /// Who calls, within what a request may cost.
    pub ctx: Context,
    /// The sets.
    pub sets: Arc<Sets>,
    /// The name of the set.
    pub set: String,
    /// The path's own method, or HEAD where that is GET.
    pub method: Method,
    /// The query options as they stand in the address.
    pub query: String,
    /// The headers.
    pub headers: HeaderMap,
    /// The body.
    pub body: Bytes,
}

/// The word of the sets' protocol in a module's `configure`.
pub trait SetPathRegistry {
    /// Serves a path below every set.
    fn set_path(&mut self, path: Arc<dyn SetPath>);
}

impl SetPathRegistry for Registry {
    fn set_path(&mut self, path: Arc<dyn SetPath>) {
        let name = path.name();
        if name.is_empty() || !name.bytes().all(|letter| letter.is_ascii_alphabetic()) {
            self.problem(format!("the path `${name}` below sets needs a name of letters"));
        }
        if STANDARD.contains(&name) {
            self.problem(format!("the path `${name}` is the protocol's own; give it another name"));
        }
        self.contribute(SET_PATH, format!("{} …/${name}", path.method()), path.description());
        self.part::<SetPaths>().0.write().push(path);
    }
}

/// What OData itself says below a set.
const STANDARD: [&str; 10] =
    ["all", "count", "each", "filter", "link", "query", "ref", "root", "value", "batch"];

/// The paths of all modules, as they are registered.
#[derive(Clone, Default)]
pub(super) struct SetPaths(Arc<RwLock<Vec<Arc<dyn SetPath>>>>);

impl SetPaths {
    pub(super) fn all(&self) -> Vec<Arc<dyn SetPath>> {
        self.0.read().clone()
    }
}

/// The paths that are served: a service of the application.
pub(super) struct ServedPaths(pub(super) Vec<Arc<dyn SetPath>>);

impl ServedPaths {
    /// The path that an address leads to, with the name of its set.
    pub(super) fn of(&self, uri: &Uri) -> Option<(&Arc<dyn SetPath>, String)> {
        let path = uri.path();
        let path = path.strip_prefix(ROOT).unwrap_or(path);
        let (set, name) = path.trim_start_matches('/').split_once('/')?;
        let name = name.strip_prefix('$').or_else(|| name.strip_prefix("%24"))?;
        let found = self.0.iter().find(|path| path.name() == name)?;
        Some((found, set.to_owned()))
    }
}

/// Answers a call, where its method fits.
pub(super) async fn answer(path: &Arc<dyn SetPath>, call: SetCall) -> Result<Response> {
    let (takes, method) = (path.method(), &call.method);
    if *method == takes || (*method == Method::HEAD && takes == Method::GET) {
        return path.answer(call).await;
    }
    let message = format!("`{method}` doesn't fit this address; it takes {takes}");
    Err(Error::new(ErrorKind::MethodNotAllowed, message))
}

/// The operation of a path below a set, complete; none where it doesn't serve the set.
pub(super) fn described(path: &dyn SetPath, set: &EntitySet) -> Option<(String, Value)> {
    let mut operation = path.describe(set)?;
    let members = operation.as_object_mut()?;
    let name = path.name();
    let needs: Vec<&str> = path.permission(set).into_iter().collect();
    members.insert("tags".into(), json!([set.name]));
    members.insert("operationId".into(), json!(format!("{name}{}", set.name)));
    members.insert("security".into(), json!([{"bearer": needs}]));
    if let [permission] = needs[..] {
        members
            .insert("description".into(), json!(format!("Needs the permission `{permission}`.")));
    }
    let method = path.method().as_str().to_ascii_lowercase();
    Some((format!("{ROOT}/{}/${name}", set.name), json!({ method: operation })))
}
