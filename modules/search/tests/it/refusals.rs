//! Nobody gets past a route of the module that isn't theirs.

use serde_json::json;
use svc_testing::{on_both_databases, organisation, refuses_everybody};

use crate::fixture::{boss, make, start};

on_both_databases! {
    async fn every_route_refuses_whoever_may_not_call_it(backend) {
        let app = start(backend).await;
        make(&boss(&app), json!({"name": "Bolt"})).await;
        app.drain().await;
        refuses_everybody(&app, organisation(1)).await;
    }
}
