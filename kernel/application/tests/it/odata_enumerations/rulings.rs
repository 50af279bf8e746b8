//! Members as parameters and results of actions and functions.

use sea_orm::ActiveValue::Set;
use sea_orm::IntoActiveModel as _;
use sea_orm::entity::prelude::*;
use serde::Serialize;
use serde_json::json;
use svc_application::Application;
use svc_core::settings::LoadOptions;
use svc_core::{Clock, Result};
use svc_data::operation::Member;
use svc_data::{Context, UnitOfWork};
use svc_testing::{Person, on_both_databases};

use super::{Tickets, clerk, start, stock, ticket};

/// Where tickets are heard: of no property, so known by the operations alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumIter, DeriveActiveEnum, Serialize)]
#[sea_orm(rs_type = "i32", db_type = "Integer")]
#[serde(rename_all = "camelCase")]
pub(super) enum Court {
    Local = 1,
    Supreme = 9,
}

svc_data::operation_parameters! {
    /// What becomes of a ticket.
    pub(super) struct Ruling {
        /// How far it is.
        pub(super) state: Member<ticket::State>,
        /// How soon; none keeps it.
        pub(super) urgency: Option<Member<ticket::Urgency>>,
        /// Where it was heard.
        pub(super) courts: Vec<Member<Court>>,
    }
}

/// Answers with the last court, if there was any.
pub(super) async fn rule(
    uow: UnitOfWork,
    ticket: ticket::Model,
    ruling: Ruling,
) -> Result<Option<Member<Court>>> {
    let mut ticket = ticket.into_active_model();
    ticket.state = Set(ruling.state.0);
    if let Some(Member(urgency)) = ruling.urgency {
        ticket.urgency = Set(Some(urgency));
    }
    uow.update(ticket).await?;
    Ok(ruling.courts.last().copied())
}

svc_data::operation_parameters! {
    /// Where it was heard.
    pub(super) struct Heard {
        /// The first court; none is the local one.
        pub(super) court: Option<Member<Court>>,
    }
}

/// The courts that are left.
pub(super) async fn courts(
    _: Context,
    ticket: ticket::Model,
    heard: Heard,
) -> Result<Vec<Member<Court>>> {
    let first = heard.court.unwrap_or(Member(Court::Local));
    let all = [Member(Court::Local), Member(Court::Supreme)];
    let left = all.into_iter().skip_while(|court| *court != first).skip(1);
    Ok(if ticket.state == ticket::State::Done { Vec::new() } else { left.collect() })
}

/// How far a ticket is.
pub(super) async fn state(
    _: Context,
    ticket: ticket::Model,
    (): (),
) -> Result<Member<ticket::State>> {
    Ok(Member(ticket.state))
}

on_both_databases! {
    async fn operations_take_and_return_members_by_their_names(backend) {
        let app = start(backend).await;
        let client = app.sign_in(&Person::named("boss"));
        let ids = stock(&client).await;
        let one = format!("/odata/v1/Tickets({})", ids[1]);
        let ruling = json!({"state": "inWork", "urgency": "Low", "courts": ["local", "supreme"]});
        let ruled = client.post(&format!("{one}/Desk.Rule"), ruling).await.expect(200);
        assert_eq!(ruled, json!({"@odata.context": "/odata/v1/$metadata#Desk.Court", "value": "supreme"}));
        let kept = client.post(&format!("{one}/Rule"), json!({"state": "2", "courts": []})).await;
        assert_eq!(kept.status.as_u16(), 204, "{}", kept.text);
        let now = client.get(&one).await.expect(200);
        assert_eq!((&now["state"], &now["urgency"]), (&json!("done"), &json!("Low")));
        for (wrong, target) in [
            (json!({"state": "old", "courts": []}), "state"),
            (json!({"state": "Z", "courts": []}), "state"),
            (json!({"state": null, "courts": []}), "state"),
            (json!({"state": "new", "urgency": "low", "courts": []}), "urgency"),
            (json!({"state": "new", "courts": ["local", "high"]}), "courts"),
            (json!({"courts": []}), "state"),
        ] {
            let refused = client.post(&format!("{one}/Rule"), wrong.clone()).await.expect(422);
            assert_eq!(refused["error"]["details"][0]["target"], target, "{wrong}: {refused}");
        }
        assert_eq!(client.get(&one).await.expect(200), now);
        let other = format!("/odata/v1/Tickets({})", ids[2]);
        for (call, expected) in [
            ("Courts()", json!(["supreme"])),
            ("Desk.Courts(court='local')", json!(["supreme"])),
            ("Courts(court=Desk.Court'supreme')", json!([])),
            ("Courts(court=@c)?@c='supreme'", json!([])),
            ("HowFar()", json!("inWork")),
        ] {
            assert_eq!(client.get(&format!("{other}/{call}")).await.expect(200)["value"], expected, "{call}");
        }
        let _ = client.get(&format!("{other}/Courts(court='high')")).await.expect(400);
        let xml = client.get("/odata/v1/$metadata").await.text;
        for part in [
            r#"<EnumType Name="Court" UnderlyingType="Edm.Int64">"#,
            r#"<Member Name="supreme" Value="9"/>"#,
            r#"<Parameter Name="courts" Type="Collection(Desk.Court)""#,
            r#"<ReturnType Type="Desk.TicketState""#,
        ] {
            assert!(xml.contains(part), "{part} in {xml}");
        }
        // Who may call none of them knows nothing of what they take.
        let clerk = app.sign_in(&clerk());
        assert!(!clerk.get("/odata/v1/$metadata").await.text.contains("Court"));
        assert_eq!(clerk.post(&format!("{one}/Rule"), json!({})).await.status.as_u16(), 403);
        // Other descriptions say the same.
        let document = client.get("/openapi/v1.json").await.expect(200);
        let schemas = &document["components"]["schemas"];
        assert_eq!(schemas["Court"]["enum"], json!(["local", "supreme"]));
        let rule = &document["paths"]["/odata/v1/Tickets({key})/Desk.Rule"]["post"];
        let body = &rule["requestBody"]["content"]["application/json"]["schema"];
        let court = json!({"$ref": "#/components/schemas/Court"});
        assert_eq!((&body["required"], &body["properties"]["courts"]["items"]), (&json!(["state", "courts"]), &court));
        let answer = &rule["responses"]["200"]["content"]["application/json"]["schema"];
        assert_eq!(answer["properties"]["value"]["oneOf"][0], court);
        let assembled = Application::new("desk").module(Tickets).assemble().unwrap();
        let configured = assembled.configure(&LoadOptions::default(), Clock::system()).unwrap();
        let types = configured.metadata().unwrap().typescript();
        assert!(types.contains("export type Court = \"local\" | \"supreme\";"), "{types}");
        assert!(types.contains("state: TicketState; urgency?: Urgency | null; courts: Court[]"), "{types}");
    }
}
