use serde::Serialize;
use serde_json::json;
use svc_core::ErrorKind;
use svc_events::{EventKind, Events, Payload, Publish as _, Subscription};

use crate::on_both_databases;
use crate::world::{End, Place, Scripted, StockLow, WorkflowTransitioned, everything};

on_both_databases! {
    events_reach_those_who_asked_for_them,
    what_can_not_be_published_says_why,
    what_a_handler_publishes_carries_on_the_correlation,
}

async fn events_reach_those_who_asked_for_them(place: Place) {
    let (all, application, workflow) = (Scripted::well(), Scripted::well(), Scripted::well());
    let node = place
        .node(vec![
            ("shop.all", everything(), all.clone()),
            ("shop.application", Subscription::new().application_events(), application.clone()),
            ("shop.workflow", Subscription::new().event("WorkflowTransitioned"), workflow.clone()),
        ])
        .await;
    node.context()
        .transact(async |uow| {
            uow.publish(StockLow { sku: "A-1".into(), quantity: 2 })?;
            uow.raise_domain(WorkflowTransitioned { to: "paid".into() })?;
            uow.publish_as("import.finished", json!({ "rows": 3 }))
        })
        .await
        .unwrap();
    assert_eq!(node.app.drain().await.unwrap(), 6);
    assert_eq!(all.names(), ["stock.low", "WorkflowTransitioned", "import.finished"]);
    assert_eq!(application.names(), ["stock.low", "import.finished"]);
    assert_eq!(workflow.names(), ["WorkflowTransitioned"]);

    let [stock, transition, import] = &all.seen()[..] else { panic!("three messages") };
    assert_eq!(stock.data::<StockLow>().unwrap(), StockLow { sku: "A-1".into(), quantity: 2 });
    assert_eq!(transition.payload, Payload::Domain(json!({ "to": "paid" })));
    assert_eq!(import.payload, Payload::Application(json!({ "rows": 3 })));
    assert!(import.data::<StockLow>().unwrap_err().report().contains("import.finished"));

    let events = node.app.service::<Events>().unwrap();
    let listed: Vec<_> = events.all().iter().map(|e| (e.name.as_str(), e.kind)).collect();
    assert_eq!(
        listed,
        [("stock.low", EventKind::Application), ("WorkflowTransitioned", EventKind::Domain)]
    );
    let stock_low = events.find("stock.low").unwrap();
    assert_eq!(stock_low.module, "shop");
    assert_eq!(stock_low.schema, Some(json!({"type": "object", "required": ["sku"]})));
    assert_eq!(stock_low.example, Some(json!({"sku": "A-7", "quantity": 3})));
    assert_eq!(events.find("WorkflowTransitioned").unwrap().example, None);
}

async fn what_a_handler_publishes_carries_on_the_correlation(place: Place) {
    let (publishing, hearing) = (Scripted::new(|_| End::Publishing), Scripted::well());
    let node = place
        .node(vec![
            ("shop.publishing", Subscription::new().event("stock.low"), publishing.clone()),
            ("shop.hearing", Subscription::new().domain_events(), hearing.clone()),
        ])
        .await;
    node.publish(["A-1".into()]).await;
    assert_eq!(node.app.drain().await.unwrap(), 2);
    let (cause, effect) = (&publishing.seen()[0], &hearing.seen()[0]);
    assert_eq!(effect.payload, Payload::Domain(json!({ "to": "A-1" })));
    assert_eq!(effect.correlation, cause.correlation);
    assert_eq!((effect.organisation, effect.actor.user), (cause.organisation, None));
}

#[derive(Serialize)]
struct Forgotten;

async fn what_can_not_be_published_says_why(place: Place) {
    let node = place.node(vec![("shop.all", everything(), Scripted::well())]).await;
    node.context()
        .transact(async |uow| {
            let report = uow.publish(Forgotten).unwrap_err().report();
            assert!(report.contains("Forgotten` is not registered"), "{report}");
            assert!(report.contains("registry.event::<…>"), "{report}");
            let report = uow.raise_domain(Forgotten).unwrap_err().report();
            assert!(report.contains("registry.domain_event::<…>"), "{report}");
            let event = StockLow { sku: "A-1".into(), quantity: 1 };
            let report = uow.raise_domain(event).unwrap_err().report();
            assert!(report.contains("use `publish`"), "{report}");
            let event = WorkflowTransitioned { to: "paid".into() };
            let report = uow.publish(event).unwrap_err().report();
            assert!(report.contains("use `raise_domain`"), "{report}");
            let error = uow.publish_as("no name", json!(null)).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Invalid);
            Ok(())
        })
        .await
        .unwrap();
    assert_eq!(node.waiting().await, 0);
}

mod registration {
    use std::sync::Arc;

    use svc_core::{Module, Registry};
    use svc_events::{EventsRegistry as _, Subscription};

    use crate::world::{Scripted, StockLow};

    struct Wrong;

    impl Module for Wrong {
        fn configure(&self, registry: &mut Registry) {
            registry.event::<StockLow>("stock.low", "", |event| event);
            registry.event::<StockLow>("stock low", "", |event| event);
            registry
                .named_event("stock.high", "", |event| event.schema(serde_json::json!("object")));
            registry.named_event("till.counted", "", |event| event.permission("Tills.Count"));
            let handler = Scripted::well();
            registry.handler("wrong.a", Subscription::new(), Arc::clone(&handler) as Arc<_>);
            registry.handler("wrong.a", Subscription::new().event("stock.low"), handler);
        }
    }

    #[test]
    fn mistakes_are_found_at_the_start_and_named() {
        let Err(problems) = Registry::assemble(vec![Box::new(Wrong)]) else {
            panic!("the module is wrong")
        };
        let problems = problems.to_string();
        for expected in [
            "`stock low` isn't an event name",
            "`it::world::StockLow` is already registered as the event `stock.low`",
            "event `stock.high`: the schema isn't a JSON object",
            "event `till.counted` asks for the permission `Tills.Count`, which no module declares",
            "handler `wrong.a` subscribes to nothing",
            "there are two handlers `wrong.a`",
        ] {
            assert!(problems.contains(expected), "{expected} in\n{problems}");
        }
    }
}
