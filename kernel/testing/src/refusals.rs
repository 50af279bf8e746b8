//! Tries every route of an application as those who may not.
//!
//! | Who | What is expected |
//! | --- | --- |
//! | nobody, and somebody with a credential that doesn't hold | 401, of all that isn't declared as public with a reason |
//! | a person who holds everything but a permission that the route names | 403 or 404 |
//! | the same person through an API key that leaves it out | 403 or 404 |
//! | a person of another organisation who may do everything | for a record what an unknown one is answered with, and no id of the organisation in any list |
//!
//! Afterwards the database holds what it held before, but for what the stranger's own organisation is told.
//! Records are found as clients find them: in the list whose address a route continues.

mod document;
mod stored;

use std::collections::{BTreeMap, BTreeSet};

use axum::body::Body;
use http::Method;
use http::header::CONTENT_TYPE;
use http_body_util::BodyExt as _;
use serde_json::Value as Json;
use svc_core::{OrganisationId, PermissionCatalogue};
use svc_database::Database;
use svc_http::OpenApiDocument;

use crate::app::TestApp;
use crate::client::Client;
use crate::people::{Person, organisation};
use document::Operation;

/// What [`refuses_everybody`] couldn't try to its end, for a test to say that it is right so.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Untried {
    /// Routes that name a record, of which the organisation has none.
    pub without_record: Vec<String>,
    /// Routes that change something and take no permission: they are for whoever is signed in.
    pub for_everybody_signed_in: Vec<String>,
}

/// Walks the whole OpenAPI document, with the entity sets, and sees that every route refuses whoever may
/// not call it, and that nothing was changed. Before, the test fills the application with records of an
/// organisation that isn't [`organisation(2)`](organisation), where the stranger comes from.
///
/// # Panics
///
/// When a route doesn't refuse somebody, with all that do so.
pub async fn refuses_everybody(app: &TestApp, of: OrganisationId) -> Untried {
    let mut walk = Walk::new(app, of).await;
    let before = stored::everything(&walk.database).await;
    let operations = document::operations(&walk.document);
    assert!(!operations.is_empty(), "the document describes no operation");
    for operation in &operations {
        walk.unknown_callers(operation).await;
        walk.lacking_a_permission(operation).await;
        walk.as_stranger(operation).await;
    }
    let after = stored::everything(&walk.database).await;
    walk.faults.extend(stored::differences(&before, &after, organisation(2)));
    assert!(walk.faults.is_empty(), "not everybody is refused:\n{}", walk.faults.join("\n"));
    walk.untried
}

struct Walk<'a> {
    app: &'a TestApp,
    document: Json,
    database: Database,
    /// All that modules declare.
    permissions: Vec<String>,
    of: OrganisationId,
    /// The ids of the organisation's records.
    ids: BTreeSet<String>,
    /// The records of lists by their addresses, as somebody who may do everything finds them.
    records: BTreeMap<String, Option<Json>>,
    everybody: Client,
    faults: Vec<String>,
    untried: Untried,
}

impl<'a> Walk<'a> {
    async fn new(app: &'a TestApp, of: OrganisationId) -> Self {
        let document = app.app().service::<OpenApiDocument>().expect("an application with routes");
        let catalogue =
            app.app().service::<PermissionCatalogue>().expect("an assembled application");
        let database = app.app().service::<Database>().expect("a database");
        Self {
            app,
            document: serde_json::from_str(document.to_json()).expect("a document in JSON"),
            of,
            ids: stored::ids_of(&database, of).await,
            database: Database::clone(&database),
            permissions: catalogue.all().iter().map(|(name, _)| name.clone()).collect(),
            records: BTreeMap::new(),
            everybody: app.sign_in(&Person::named("Admin").of(of)),
            faults: Vec::new(),
            untried: Untried::default(),
        }
    }

    fn expect(&mut self, operation: &Operation, who: &str, status: u16, expected: &[u16]) {
        if !expected.contains(&status) {
            let name = operation.name();
            self.faults.push(format!("{name}: {who} got {status}, expected one of {expected:?}"));
        }
    }

    /// Nobody, and somebody with a credential that doesn't hold.
    async fn unknown_callers(&mut self, operation: &Operation) {
        if operation.is_public {
            if operation.reason.as_ref().is_none_or(|reason| reason.trim().is_empty()) {
                let name = operation.name();
                self.faults.push(format!("{name}: it serves everybody, and doesn't say why"));
            }
            return;
        }
        let address =
            self.address(operation).await.unwrap_or_else(|| filled(operation, operation.unknown));
        let anonymous = self.app.anonymous();
        let (status, _) = call(&anonymous, operation, &address).await;
        self.expect(operation, "nobody", status, &[401]);
        for credential in
            ["Bearer svck_nobody-ever-made-this-one", "Bearer test-nobody", "Basic eDp5"]
        {
            let (status, _) =
                call(&anonymous.with_credential(credential), operation, &address).await;
            self.expect(operation, "who has a bad credential", status, &[401]);
        }
    }

    /// Whoever holds everything but one of the permissions, signed in and through a key.
    async fn lacking_a_permission(&mut self, operation: &Operation) {
        if operation.needs.is_empty() && !operation.is_public && !operation.method.is_safe() {
            self.untried.for_everybody_signed_in.push(operation.name());
        }
        let address =
            self.address(operation).await.unwrap_or_else(|| filled(operation, operation.unknown));
        for lacked in &operation.needs {
            let others: Vec<&str> =
                self.permissions.iter().map(String::as_str).filter(|name| name != lacked).collect();
            let person = Person::named("Bo").of(self.of).who_may(&others);
            let key = Person::named("Cy").of(self.of).through_key(&others);
            for (who, caller) in [("a person", &person), ("a key", &key)] {
                let (status, _) = call(&self.app.sign_in(caller), operation, &address).await;
                let who = format!("{who} without `{lacked}`");
                self.expect(operation, &who, status, &[403, 404]);
            }
        }
    }

    /// Somebody of another organisation who may do everything there.
    async fn as_stranger(&mut self, operation: &Operation) {
        if operation.is_public {
            return;
        }
        let stranger = self.app.sign_in(&Person::named("Eve").of(organisation(2)));
        if operation.has_parameters() {
            let Some(address) = self.address(operation).await else {
                self.untried.without_record.push(operation.name());
                return;
            };
            if self.names_record(&address) {
                let (status, _) = call(&stranger, operation, &address).await;
                // What is wrong with a body may be told before anything is looked for.
                let unknown = match status {
                    400..500 if status != 404 => {
                        call(&stranger, operation, &filled(operation, operation.unknown)).await.0
                    }
                    _ => 404,
                };
                self.expect(operation, "a person of another organisation", status, &[unknown]);
            }
        } else if operation.method == Method::GET {
            let address = filled(operation, operation.unknown);
            let (_, text) = call(&stranger, operation, &address).await;
            if let Some(id) = self.ids.iter().find(|id| text.contains(id.as_str())) {
                let fault =
                    format!("{}: it shows `{id}` to another organisation", operation.name());
                self.faults.push(fault);
            }
        }
    }

    /// Whether an address names a record of the organisation; others name what is everybody's, such as
    /// a setting.
    fn names_record(&self, address: &str) -> bool {
        self.ids.iter().any(|id| address.contains(id.as_str()))
    }

    /// The address of an operation with a record's key in it; none where there is no record.
    async fn address(&mut self, operation: &Operation) -> Option<String> {
        let Some((list, _)) = operation.path.split_once(['{', '(']) else {
            return Some(filled(operation, operation.unknown));
        };
        if operation.is_numbered() {
            return None;
        }
        let list = list.trim_end_matches(['/', '\'']).to_owned();
        if !self.records.contains_key(&list) {
            let found = first_of(&self.everybody, &list).await;
            self.records.insert(list.clone(), found);
        }
        let record = self.records.get(&list)?.as_ref()?;
        let key = ["id", "key", "name"].iter().find_map(|name| record.get(*name)?.as_str())?;
        Some(filled(operation, key))
    }
}

/// The first record of a list.
async fn first_of(client: &Client, list: &str) -> Option<Json> {
    let answer = client.get(list).await;
    if !answer.status.is_success() {
        return None;
    }
    let listed = answer.json();
    let lists = [&listed["items"], &listed["value"], &listed];
    lists.into_iter().find_map(|list| list.as_array()?.first().cloned())
}

/// The address of an operation with this in the place of each parameter.
fn filled(operation: &Operation, key: &str) -> String {
    let mut address = String::new();
    let mut rest = operation.path.as_str();
    while let Some((before, after)) = rest.split_once('{') {
        address.push_str(before);
        address.push_str(key);
        rest = after.split_once('}').map_or("", |(_, after)| after);
    }
    address.push_str(rest);
    let query: Vec<String> =
        operation.query.iter().map(|(name, value)| format!("{name}={value}")).collect();
    if query.is_empty() { address } else { format!("{address}?{}", query.join("&")) }
}

/// Calls an operation: the status, and the text of an answer that ends.
async fn call(client: &Client, operation: &Operation, address: &str) -> (u16, String) {
    let json = [(CONTENT_TYPE.as_str(), "application/json")];
    let (headers, body) = match &operation.body {
        Some(body) => (&json[..], Body::from(body.to_string())),
        None => (&[][..], Body::empty()),
    };
    let response = client.begin(operation.method.clone(), address, headers, body).await;
    let (parts, body) = response.into_parts();
    let kind = parts.headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    if kind.is_some_and(|kind| kind.starts_with("text/event-stream")) {
        return (parts.status.as_u16(), String::new());
    }
    let body = body.collect().await.expect("a whole body").to_bytes();
    (parts.status.as_u16(), String::from_utf8_lossy(&body).into_owned())
}
