//! The shop on a throw-away database, with a clock that stands still.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use shop::orders::{NewLine, NewOrder};
use shop::{Shop, category, customer, product};
use svc::application_parts::Application;
use svc::core::PermissionSet;
use svc::core::settings::LoadOptions;
use svc::data::{Captured, CommitHook};
use svc::prelude::*;
use svc::workflows::WorkflowEngine;
use svc_testing::{Backend, ThrowAwayDatabase};
use time::macros::datetime;

/// Remembers the events that were committed.
#[derive(Default)]
struct Recorder(Mutex<Vec<String>>);

#[async_trait]
impl CommitHook for Recorder {
    async fn before_commit(&self, _: &UnitOfWork, captured: &Captured) -> Result<()> {
        let events = captured.events.iter().map(|event| format!("{} {}", event.name, event.data));
        self.0.lock().unwrap().extend(events);
        Ok(())
    }
}

struct Recording(Arc<Recorder>);

impl Module for Recording {
    fn configure(&self, registry: &mut Registry) {
        registry.commit_hook(Arc::clone(&self.0) as Arc<dyn CommitHook>);
    }
}

pub(crate) struct Fixture {
    pub(crate) app: App,
    recorder: Arc<Recorder>,
    _database: Arc<ThrowAwayDatabase>,
}

/// All that the shop's commands need.
pub(crate) const CLERK: [&str; 5] =
    ["Orders.View", "Orders.Place", "Orders.Ship", "Orders.Cancel", "Products.ReceiveStock"];

impl Fixture {
    /// An empty shop.
    pub(crate) async fn start(backend: Backend) -> Self {
        let database = ThrowAwayDatabase::empty(backend).await;
        Self::start_on(Arc::new(database), &[]).await
    }

    /// A shop on a database that may have been used before, with these settings.
    pub(crate) async fn start_on(database: Arc<ThrowAwayDatabase>, settings: &[&str]) -> Self {
        let recorder = Arc::<Recorder>::default();
        let application = Application::new("shop")
            .module(Identity)
            .module(Workflows)
            .module(Shop)
            .module(Recording(Arc::clone(&recorder)));
        let mut arguments = vec![format!("--Svc:Database:Url={}", database.url())];
        arguments.extend(settings.iter().map(ToString::to_string));
        let options = LoadOptions { arguments, ..LoadOptions::default() };
        let clock = Clock::manual(datetime!(2026-11-20 12:00 UTC));
        let configured = application.assemble().unwrap().configure(&options, clock).unwrap();
        let running = configured.connect().await.unwrap().start().await.unwrap();
        Self { app: running.app().clone(), recorder, _database: database }
    }

    /// A person in an organisation with these permissions.
    pub(crate) fn person<const N: usize>(
        &self,
        organisation: u128,
        permissions: [&str; N],
    ) -> Context {
        let organisation = OrganisationId(Uuid::from_u128(organisation));
        let ada = UserId(Uuid::from_u128(7));
        let permissions = PermissionSet::from_iter(permissions);
        let person = Principal::user(ada, "Ada", organisation, permissions);
        Context::new(&self.app, Arc::new(person), Uuid::from_u128(9)).unwrap()
    }

    /// Somebody of the first organisation who may use all commands.
    pub(crate) fn clerk(&self) -> Context {
        self.person(1, CLERK)
    }

    /// The events that were committed since the last call.
    pub(crate) fn events(&self) -> Vec<String> {
        std::mem::take(&mut self.recorder.0.lock().unwrap())
    }
}

/// Brings an order that comes to little through all that stands before its shipment.
pub(crate) async fn pick(ctx: &Context, order: Uuid) {
    let system = Principal::system_in(ctx.organisation().unwrap());
    let system = ctx.acting_as(Arc::new(system));
    let engine = ctx.app().service::<WorkflowEngine>().unwrap();
    for step in ["submit", "approve", "pick"] {
        engine.take(&system, "Orders", order, step, None).await.unwrap();
    }
}

/// A customer with so much credit; none is no limit.
pub(crate) async fn add_customer(
    ctx: &Context,
    number: &str,
    credit: Option<i64>,
) -> customer::Model {
    let customer = customer::ActiveModel {
        number: Set(number.to_owned()),
        name: Set("Eisenwaren Krüger GmbH".to_owned()),
        city: Set("Hamburg".to_owned()),
        country: Set("DE".to_owned()),
        credit_limit: Set(credit.map(Decimal::from)),
        ..Default::default()
    };
    ctx.transact(async |uow| uow.insert(customer).await).await.unwrap()
}

/// A product at 12.50 with 100 in stock, to be bought again below 20.
pub(crate) async fn add_product(ctx: &Context, sku: &str) -> product::Model {
    ctx.transact(async |uow| {
        let category = category::ActiveModel { name: Set(sku.to_owned()), ..Default::default() };
        let product = product::ActiveModel {
            sku: Set(sku.to_owned()),
            name: Set("Claw hammer".to_owned()),
            category_id: Set(uow.insert(category).await?.id),
            unit: Set("piece".to_owned()),
            price: Set(Decimal::new(1_250, 2)),
            stock: Set(100),
            reorder_level: Set(20),
            ..Default::default()
        };
        uow.insert(product).await
    })
    .await
    .unwrap()
}

pub(crate) async fn stock_of(ctx: &Context, product: &product::Model) -> i32 {
    ctx.find::<product::Entity>(product.id).await.unwrap().stock
}

pub(crate) fn order_of(customer: &customer::Model, lines: &[(&product::Model, i32)]) -> NewOrder {
    let line = |(product, quantity): &(&product::Model, i32)| NewLine {
        product_id: product.id,
        quantity: *quantity,
    };
    let lines = lines.iter().map(line).collect();
    NewOrder { customer_id: customer.id, reference: None, lines }
}
