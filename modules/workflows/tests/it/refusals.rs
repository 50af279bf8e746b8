//! Nobody gets past a route of the module that isn't theirs.

use svc_testing::{on_both_databases, organisation, refuses_everybody};

use crate::fixture::World;

on_both_databases! {
    async fn every_route_refuses_whoever_may_not_call_it(backend) {
        let world = World::new(backend).await;
        world.submitted(700).await;
        let _ = world.app.drain().await;
        refuses_everybody(&world.app, organisation(1)).await;
    }
}
