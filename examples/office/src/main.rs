//! Invoices with their lines, expenses, and notes: what an application says in Rust of how its generated apps look, and a page below a prefix.

use std::process::ExitCode;

use svc::http::{EmbeddedFile, StaticFiles};
use svc::prelude::*;

mod invoice {
    use serde_json::Value as Json;
    use svc::prelude::*;

    #[svc::entity("invoices", times)]
    pub(crate) struct Model {
        #[text(20)]
        pub number: String,
        #[text(100)]
        pub customer: String,
        /// What its lines are in (ISO 4217).
        #[text(3)]
        #[sea_orm(default_value = "EUR")]
        pub currency: String,
        /// How soon it is to be paid: 0 for whenever, 5 for today.
        #[sea_orm(default_value = 0)]
        pub urgency: i32,
        /// What was agreed on, in whatever form the customer's system sends it.
        #[sea_orm(column_type = "JsonBinary", nullable)]
        pub terms: Option<Json>,
        #[sea_orm(has_many)]
        pub lines: HasMany<super::invoice_line::Entity>,
    }
}

mod invoice_line {
    use svc::prelude::*;

    #[svc::entity("invoice_lines")]
    pub(crate) struct Model {
        pub invoice_id: Uuid,
        /// The line's place on the invoice, from 1.
        pub position: i32,
        #[text(100)]
        pub what: String,
        pub quantity: i32,
        #[decimal(12, 2)]
        pub price: Decimal,
        #[sea_orm(belongs_to, from = "invoice_id", to = "id")]
        pub invoice: BelongsTo<super::invoice::Entity>,
    }
}

mod expense {
    use svc::prelude::*;

    #[svc::entity("expenses")]
    pub(crate) struct Model {
        #[text(100)]
        pub what: String,
        #[decimal(12, 2)]
        pub amount: Decimal,
        /// The currency it was paid in (ISO 4217).
        #[text(3)]
        #[sea_orm(default_value = "EUR")]
        pub currency: String,
        /// How far somebody drove, where it was that.
        #[decimal(8, 1)]
        pub distance: Option<Decimal>,
    }
}

mod note {
    use svc::prelude::*;

    #[svc::entity("notes")]
    pub(crate) struct Model {
        #[text(500)]
        pub words: String,
        /// The colour of its paper: `yellow`, `green` or `pink`.
        #[text(10)]
        #[sea_orm(default_value = "yellow")]
        pub paper: String,
    }
}

const STEPS: [Migration; 3] = [
    Migration::new("0001_invoices", include_str!("../migrations/0001_invoices.sql")),
    Migration::new("0002_notes", include_str!("../migrations/0002_notes.sql")),
    Migration::new("0003_expenses", include_str!("../migrations/0003_expenses.sql")),
];
const FILES: &[EmbeddedFile] = &[("elements.js", include_bytes!("elements.js"))];

struct Office;

impl Module for Office {
    fn requires(&self) -> &'static [&'static str] {
        &["live"]
    }

    fn configure(&self, registry: &mut Registry) {
        registry.migrations(STEPS);
        registry.entity_set::<invoice::Entity>("Invoices", |set| {
            set.described("What customers are to pay")
                .alternate_key([invoice::Column::Number])
                .search([invoice::Column::Number, invoice::Column::Customer])
                .live()
        });
        registry.entity_set::<invoice_line::Entity>("InvoiceLines", |set| {
            set.described("What invoices consist of")
                .alternate_key([invoice_line::Column::InvoiceId, invoice_line::Column::Position])
                .currency_along(invoice_line::Column::Price, "invoice/currency")
                .live()
        });
        registry.entity_set::<expense::Entity>("Expenses", |set| {
            set.described("What somebody has paid for the office")
                .currency_in(expense::Column::Amount, expense::Column::Currency)
                .unit(expense::Column::Distance, "km")
                .facets([expense::Column::Currency])
                .search([expense::Column::What])
                .live()
        });
        registry.entity_set::<note::Entity>("Notes", |set| {
            set.described("What somebody wants to remember").search([note::Column::Words]).live()
        });
        registry.static_files("/elements", StaticFiles::embedded(FILES));
        let lines =
            Lines::of("invoiceLines", ["what", "quantity", "price"]).numbered_by("position");
        let look = SetLook::new()
            .columns(["number", "customer", "urgency"])
            .group("invoices-what", ["number", "customer", "currency", "urgency"])
            .lines(lines)
            .property_element("urgency", "office-urgency", "/elements/elements.js");
        registry.set_look("Invoices", look.icon("form.svg"));
        registry.set_look("InvoiceLines", SetLook::new().hidden());
        registry.set_look("Expenses", SetLook::new().icon("form.svg"));
        let note = SetLook::new().record_element("office-note", "/elements/elements.js");
        registry.set_look("Notes", note.icon("form.svg"));
        registry.messages([("en", include_str!("en.ftl")), ("de", include_str!("de.ftl"))]);
    }
}

#[tokio::main]
async fn main() -> ExitCode {
    let application = svc::application("office").module(Identity).module(Bff);
    application.module(WebClient::new().page_prefix("/desk")).module(Office).main().await
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use svc_testing::{
        Application, Person, TestApp, on_both_databases, organisation, refuses_everybody,
    };

    use super::Office;

    fn application() -> Application {
        Application::new("office").module(Office)
    }

    on_both_databases! {
        async fn an_invoice_is_made_with_its_lines(backend) {
            let app = TestApp::builder(application).start(backend).await;
            let ada = app.sign_in(&Person::named("Ada"));
            let lines = json!([{ "position": 1, "what": "Repair", "quantity": 2, "price": 40 }]);
            let invoice = json!({
                "number": "R-1", "customer": "Smith", "terms": { "days": [14, 30] }, "invoiceLines": lines,
            });
            let made = ada.post("/odata/v1/Invoices", invoice).await.expect(201);
            assert_eq!(made["terms"]["days"][1], 30);
            assert_eq!(made["invoiceLines"][0]["quantity"], 2);
            refuses_everybody(&app, organisation(1)).await;
        }

        async fn money_says_its_currency(backend) {
            let app = TestApp::builder(application).start(backend).await;
            let ada = app.sign_in(&Person::named("Ada"));
            for (amount, currency) in [(12.5, "EUR"), (20.0, "CHF")] {
                let expense = json!({ "what": "Train", "amount": amount, "currency": currency });
                let made = ada.post("/odata/v1/Expenses", expense).await.expect(201);
                assert_eq!(made["currency"], currency);
            }
            let metadata = ada.get("/odata/v1/$metadata?$format=json").await.expect(200);
            let expense = &metadata["Office"]["Expense"];
            assert_eq!(expense["amount"]["@Measures.ISOCurrency"], json!({ "$Path": "currency" }));
            assert_eq!(expense["distance"]["@Measures.Unit"], "km");
            // What the web client asks beside a sum, where a code may be missing and where it may not.
            let range = "currency with min as least,case(currency eq null:'',true:currency) with max as greatest";
            let asked = format!("/odata/v1/Expenses?$apply=aggregate(amount with sum as total,{range})");
            let found = ada.get(&asked.replace(' ', "%20")).await.expect(200);
            let expected = json!({ "total": 32.5, "least": "CHF", "greatest": "EUR" });
            let told = &found["value"][0];
            for name in ["total", "least", "greatest"] {
                assert_eq!(told[name], expected[name], "{name}");
            }
        }
    }
}
