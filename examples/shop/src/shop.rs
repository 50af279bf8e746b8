//! All that the application consists of.

use svc::data::semantic_type;
use svc::data::value::ValueKind;
use svc::http::schema_of;
use svc::prelude::*;

use crate::goods::GoodsFollow;
use crate::order::CURRENCY;
use crate::placed_orders::LinesStayAsPlaced;
use crate::settings::SampleSettings;
use crate::stock::StockLow;
use crate::{
    api, category, customer, errors, first_start, fulfilment, operations, order, order_line,
    orders, product, purchase, stock, supplier,
};

/// The application's own module.
pub struct Shop;

impl Module for Shop {
    fn requires(&self) -> &'static [&'static str] {
        &["identity", "workflows"]
    }

    fn configure(&self, registry: &mut Registry) {
        registry
            .migrations([Migration::new("0001_shop", include_str!("../migrations/0001_shop.sql"))]);
        registry.messages([
            ("en", include_str!("../web/messages/en.ftl")),
            ("de", include_str!("../web/messages/de.ftl")),
        ]);

        registry.entity_set::<category::Entity>("Categories", |set| {
            set.described("What kinds of products there are").live()
        });
        registry.entity_set::<supplier::Entity>("Suppliers", |set| {
            set.described("Who products are bought from")
                .unit(supplier::Column::LeadTimeDays, "day")
                .semantic_type(supplier::Column::Email, &semantic_type::EMAIL)
                .semantic_type(supplier::Column::Phone, &semantic_type::PHONE)
                .live()
        });
        registry.entity_set::<product::Entity>("Products", |set| {
            set.described("What the shop sells")
                .row_filter(product::visible_to)
                .hidden(product::Column::CostPrice)
                .unless(product::SEE_COSTS)
                .currency(product::Column::Price, CURRENCY)
                .currency(product::Column::CostPrice, CURRENCY)
                .create_only(product::Column::Stock)
                .alternate_key([product::Column::Sku])
                .facets([product::Column::Unit, product::Column::Discontinued])
                .virtual_property("ordered", ValueKind::Int64, product::ordered, |property| {
                    property.described("The units that wait for shipment").needs("Orders.View")
                })
                .virtual_property(
                    "availability",
                    ValueKind::Text { max: Some(10) },
                    product::availability,
                    |property| {
                        property
                            .described("`soldOut`, `low` or `inStock`")
                            .facet()
                            .needs("Products.View")
                    },
                )
                .search([product::Column::Name, product::Column::Sku, product::Column::Description])
                .action("ReceiveStock", |action| {
                    action
                        .described("Adds a supplier's delivery to the stock")
                        .needs(stock::RECEIVE)
                        .repeatable()
                        .on_each(operations::receive)
                })
                .live()
                .webhooks()
        });
        registry.entity_set::<customer::Entity>("Customers", |set| {
            set.described("Who buys")
                .alternate_key([customer::Column::Number])
                .currency(customer::Column::CreditLimit, CURRENCY)
                .semantic_type(customer::Column::Email, &semantic_type::EMAIL)
                .semantic_type(customer::Column::Phone, &semantic_type::PHONE)
                .response_filter(
                    [customer::Column::Email, customer::Column::Phone],
                    customer::without_contacts,
                )
                .unless("Customers.SeeContacts")
                .facets([customer::Column::Country, customer::Column::City])
                .search([customer::Column::Name, customer::Column::Number, customer::Column::City])
                .function("CreditLeft", |function| {
                    function
                        .described("What further orders may come to; none is no limit")
                        .needs("Customers.View")
                        .currency(CURRENCY)
                        .on_each(operations::credit_left)
                })
                .live()
        });
        add_orders(registry);
        add_purchases(registry);
        add_looks(registry);
        registry.commit_hook(Arc::new(LinesStayAsPlaced));
        registry.commit_hook(Arc::new(GoodsFollow));

        registry.permission(product::SEE_ALL_REGIONS, "see the products of all regions");
        registry.permission(orders::PLACE, "place orders");
        registry.permission(fulfilment::APPROVE, "approve orders");
        registry.permission(orders::SHIP, "record that orders have been shipped");
        registry.permission(orders::CANCEL, "cancel orders that have not been shipped");
        registry.permission(purchase::RELEASE, "release what the shop buys");
        registry.permission(stock::RECEIVE, "add deliveries of suppliers to the stock");
        registry.errors(errors::ALL);
        registry.event::<StockLow>(
            "stock.low",
            "The stock of a product fell below its limit",
            |event| event.schema(schema_of::<StockLow>()).example(StockLow::example()),
        );
        registry.routes(api::routes());

        registry.settings::<SampleSettings>();
        registry.on_build(first_start::prepare);
    }
}

/// Orders with their lines, which commands place, ship and cancel.
fn add_orders(registry: &mut Registry) {
    registry.entity_set::<order::Entity>("Orders", |set| {
        set.described("What customers have ordered; commands place, ship and cancel")
            .alternate_key([order::Column::Number])
            .read_only(order::Column::Number)
            .read_only(order::Column::CustomerId)
            .enumeration::<order::Status>(order::Column::Status)
            .read_only(order::Column::Status)
            .read_only(order::Column::OrderedAt)
            .read_only(order::Column::ShippedAt)
            .read_only(order::Column::Total)
            .read_only(order::Column::Currency)
            .currency_in(order::Column::Total, order::Column::Currency)
            .action("Ship", |action| {
                action
                    .described("Records that the goods have left")
                    .needs(orders::SHIP)
                    .repeatable()
                    .on_each(operations::ship)
            })
            .action("Cancel", |action| {
                action
                    .described("Puts the goods back into stock")
                    .needs(orders::CANCEL)
                    .repeatable()
                    .on_each(operations::cancel)
            })
            .live()
    });
    registry.designable_workflow(fulfilment::SET, fulfilment::workflow());
    registry.entity_set::<order_line::Entity>("OrderLines", |set| {
        set.described("What orders consist of")
            .alternate_key([order_line::Column::OrderId, order_line::Column::Position])
            .currency_along(order_line::Column::UnitPrice, "order/currency")
            .currency_along(order_line::Column::Amount, "order/currency")
            .view_only()
            .live()
    });
}

/// What the shop buys. Its workflow says who may do what with it.
fn add_purchases(registry: &mut Registry) {
    registry.entity_set::<purchase::Entity>(purchase::SET, |set| {
        set.described("What the shop buys")
            .read_only(purchase::Column::ReceivedAt)
            .search([purchase::Column::Reference])
            .live()
    });
    registry.workflow(purchase::SET, purchase::workflow());
}

/// What belongs together in records and forms.
fn add_looks(registry: &mut Registry) {
    let products = SetLook::new()
        .group("shop-what", ["name", "sku", "description", "categoryId", "supplierId", "region"])
        .group("shop-money", ["price", "costPrice"])
        .group(
            "shop-store",
            ["stock", "reorderLevel", "ordered", "availability", "unit", "discontinued"],
        );
    registry.set_look("Products", products);
    let customers = SetLook::new()
        .group("shop-what", ["name", "number", "creditLimit"])
        .group("shop-contact", ["email", "phone", "city", "country"]);
    registry.set_look("Customers", customers);
}
