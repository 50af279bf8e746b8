//! People with rights of their own, who take records on and back.

use e2e_main_job::{Answer, Client, Shop};
use serde_json::{Value, json};

/// Somebody who calls the program, by an API key.
#[derive(Clone)]
pub(crate) struct Caller(Client);

impl Caller {
    /// The administrator.
    pub(crate) fn admin(shop: &Shop) -> Self {
        Self(shop.client().clone())
    }

    /// Somebody with these permissions and regions.
    pub(crate) fn new(shop: &Shop, name: &str, permissions: &[&str], regions: &[&str]) -> Self {
        let role = json!({"name": format!("{name}'s"), "permissions": permissions});
        let role = shop.expect(201, "POST", "/api/v1/identity/roles", Some(&role));
        let mut claims = json!({});
        if !regions.is_empty() {
            claims["regions"] = json!(regions);
        }
        let user = json!({
            "displayName": name, "isMachine": true, "roles": [role["id"]], "claims": claims,
        });
        let user = shop.expect(201, "POST", "/api/v1/identity/users", Some(&user));
        let key = json!({"name": name, "userId": user["id"], "permissions": permissions});
        let key = shop.expect(201, "POST", "/api/v1/identity/api-keys", Some(&key));
        Self(shop.client().with_key(key["key"].as_str().expect("a key")))
    }

    /// Sends a request.
    pub(crate) fn send(&self, method: &str, path: &str, body: Option<&Value>) -> Answer {
        self.0.send(method, path, body).expect("the program answers")
    }

    /// Sends a request that must be answered with this status.
    pub(crate) fn expect(
        &self,
        status: u16,
        method: &str,
        path: &str,
        body: Option<&Value>,
    ) -> Value {
        let answer = self.send(method, path, body);
        assert_eq!(answer.status, status, "{method} {path}: {}", answer.text);
        answer.json
    }

    pub(crate) fn get(&self, path: &str) -> Value {
        self.expect(200, "GET", path, None)
    }

    pub(crate) fn patch(&self, path: &str, body: &Value) {
        self.expect(200, "PATCH", path, Some(body));
    }

    /// What happened to a record, the newest first.
    pub(crate) fn history(&self, set: &str, id: &str) -> Vec<Value> {
        self.get(&format!("/api/v1/history/{set}/{id}"))["items"]
            .as_array()
            .expect("entries")
            .clone()
    }

    /// What a restore would do.
    pub(crate) fn preview(&self, set: &str, id: &str, entry: &Value, mode: &str) -> Value {
        let entry = entry["id"].as_str().expect("an id");
        self.get(&format!("/api/v1/history/{set}/{id}/{entry}/preview?mode={mode}"))
    }

    /// Takes something back to a version that was looked at.
    pub(crate) fn restore(
        &self,
        set: &str,
        id: &str,
        entry: &Value,
        mode: &str,
        version: &Value,
    ) -> Answer {
        let body = json!({"entry": entry["id"], "mode": mode, "version": version});
        self.send("POST", &format!("/api/v1/history/{set}/{id}/restore"), Some(&body))
    }
}

/// The identifier of what was made.
pub(crate) fn id(made: &Value) -> String {
    made["id"].as_str().expect("an id").to_owned()
}

/// A product as clerks make it.
pub(crate) fn product(shop: &Shop, sku: &str) -> String {
    id(&shop.expect(
        201,
        "POST",
        "/odata/v1/Products",
        Some(&crate::changes::new_product(shop, sku)),
    ))
}
