//! The lending of a workshop's tools: the smallest application that has a bit of everything. `docs/module.md` makes it step by step.

use std::process::ExitCode;

use serde_json::json;
use svc::data::operation::One;
use svc::http::{EmbeddedFile, StaticFiles};
use svc::prelude::*;

mod tool {
    use svc::prelude::*;

    #[svc::entity("tools")]
    pub(crate) struct Model {
        #[text(100)]
        pub name: String,
        #[text(100)]
        pub lent_to: Option<String>,
    }
}

const STEPS: [Migration; 1] =
    [Migration::new("0001_tools", include_str!("../migrations/0001_tools.sql"))];
const LENT: ErrorCode =
    ErrorCode::new("lending.lent", ErrorKind::Conflict, "The tool is lent already.");
const ALL_LENT: ErrorCode =
    ErrorCode::new("lending.all_lent", ErrorKind::Conflict, "As many tools are lent as may be.");
const TOPIC: &str = "lending.tools";
const MOST: &str = "Lending.MostTools";
const FILES: &[EmbeddedFile] = &[("app.js", include_bytes!("app.js"))];

struct Lending;

impl Module for Lending {
    fn requires(&self) -> &'static [&'static str] {
        &["live"]
    }

    fn configure(&self, registry: &mut Registry) {
        registry.migrations(STEPS);
        registry.entity_set::<tool::Entity>("Tools", |set| {
            set.described("What the workshop lends")
                .read_only(tool::Column::LentTo)
                .search([tool::Column::Name])
                .action("Lend", |action| action.described("Hands a tool to somebody").on_each(lend))
                .live()
        });
        registry.errors([LENT, ALL_LENT]);
        registry.live_topic(LiveTopic::new(TOPIC, "tools that are lent").needs("Tools.View"));
        let doc = "How many tools may be lent at a time.";
        registry.application_setting(ApplicationSetting::integer(MOST, doc, 1..=1_000, 20));
        registry.messages([
            ("en", "lending-app = Lent tools\nTools = Tools\n    .singular = Tool"),
            ("de", "lending-app = Verliehen\nTools = Werkzeuge\n    .singular = Werkzeug"),
        ]);
        registry.static_files("/lending", StaticFiles::embedded(FILES));
        let app = WebApp::new("lending", "lending-app", "/lending/app.js");
        registry.web_app(app.needs("Tools.View"));
    }
}

svc::data::operation_parameters! {
    /// Who takes the tool.
    struct Borrower {
        /// The name of the person.
        name: String,
    }
}

/// `Tools(…)/Lending.Lend`: all of it is stored and told, or nothing.
async fn lend(uow: UnitOfWork, tool: tool::Model, to: Borrower) -> Result<One<tool::Model>> {
    if let Some(holder) = &tool.lent_to {
        return Err(LENT.error(format!("{holder} has the tool; wait until it is back")));
    }
    let ctx = uow.context();
    let most: u64 = ctx.app().service::<ApplicationSettings>()?.get(ctx, MOST).await?;
    let lent =
        ctx.query::<tool::Entity>().filter(tool::Column::LentTo.is_not_null()).count().await?;
    if lent >= most {
        return Err(ALL_LENT.error(format!("{most} tools are lent, which is all that may be")));
    }
    let mut change = tool.into_active_model();
    change.lent_to = Set(Some(to.name));
    let tool = uow.update(change).await?;
    uow.tell_live(TOPIC, tool.id, json!({ "lentTo": tool.lent_to }))?;
    Ok(One(tool))
}

#[tokio::main]
async fn main() -> ExitCode {
    let application = svc::application("lending").module(Identity).module(Bff);
    application.module(WebClient::new()).module(Lending).main().await
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use svc_testing::{
        Application, Person, TestApp, on_both_databases, organisation, refuses_everybody,
    };

    use super::Lending;

    fn application() -> Application {
        Application::new("lending").module(Lending)
    }

    on_both_databases! {
        async fn a_tool_is_lent_once(backend) {
            let app = TestApp::builder(application).start(backend).await;
            let ada = app.sign_in(&Person::named("Ada"));
            let saw = ada.post("/odata/v1/Tools", json!({ "name": "Saw" })).await.expect(201);
            let id = saw["id"].as_str().expect("a tool has an id");
            let address = format!("/odata/v1/Tools({id})/Lending.Lend");
            let lent = ada.post(&address, json!({ "name": "Grace" })).await.expect(200);
            assert_eq!(lent["lentTo"], "Grace");
            let refusal = ada.post(&address, json!({ "name": "Bo" })).await.expect(409);
            assert_eq!(refusal["error"]["code"], "lending.lent");
            let apps = ada.get("/api/v1/apps").await.expect(200);
            assert_eq!(apps["apps"][0]["title"], "Lent tools");
            refuses_everybody(&app, organisation(1)).await;
        }
    }
}
