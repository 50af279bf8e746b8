//! How the databases answer the statements that the sets make, with and without access rules.

use std::sync::Arc;

use svc_core::{PermissionSet, Principal, UserId};
use svc_data::Context;
use svc_sets::Sets;

use crate::model;
use crate::serve::Serving;

const OPTIONS: [&str; 5] = [
    "",
    "$orderby=name",
    "$orderby=name desc",
    "$filter=price lt 500 and discontinued eq false&$orderby=name",
    "$filter=categoryId eq 01990000-0000-7000-8001-000000000003&$orderby=price",
];

pub(crate) async fn print(serving: &Serving, url: &str) {
    let running = model::start(url).await;
    let app = running.app();
    let sets = app.service::<Sets>().unwrap();
    let limited = PermissionSet::from_iter(["Products.View"]);
    for (who, permissions) in
        [("who sees all", PermissionSet::everything()), ("under a row filter", limited)]
    {
        let user = UserId(serving.organisation);
        let principal = Principal::user(user, "bench", serving.organisation.into(), permissions);
        let ctx = Context::new(app, Arc::new(principal), app.clock().new_id()).unwrap();
        for options in OPTIONS {
            println!("  Products?{options}, {who}");
            let options = options.replace(' ', "%20");
            let plan = sets.explain(&ctx, "Products", &options).await.unwrap();
            for step in plan {
                println!("      {step}");
            }
        }
    }
    running.stop().await;
}
