//! The service that the tests ask: products, categories, orders and their items.

use svc_odata::model::{
    Access, AllowedValue, Binding, EntitySet, EntityType, EnumMember, EnumType, Measure,
    MeasuredIn, Model, NavigationProperty, Operation, OperationKind, OperationType, Parameter,
    PrimitiveType, Property, PropertyIndex, PropertyType, Schema, SetIndex, TypeIndex,
};

fn text(name: &str, max_length: u32) -> Property {
    Property { max_length: Some(max_length), ..Property::new(name, PrimitiveType::String) }
}

fn member(name: &str, value: i64) -> EnumMember {
    EnumMember { name: name.to_owned(), value, description: None }
}

/// Products (type 0), categories (1), orders (2), items (3).
pub(crate) fn shop() -> Model {
    let mut model = Model::new("Shop");
    let colour = model.add_enum(EnumType {
        name: "Colour".to_owned(),
        flags: true,
        members: vec![member("Red", 1), member("Green", 2), member("Blue", 4)],
        description: Some("What it looks like".to_owned()),
    });
    let status = model.add_enum(EnumType {
        name: "Status".to_owned(),
        flags: false,
        members: vec![member("Draft", 0), member("Paid", 1)],
        description: None,
    });
    let product = model.add_type(product(colour.into_type()));
    let category = model.add_type(category());
    let order = model.add_type(order(status.into_type()));
    let item = model.add_type(item());
    let products = model.add_set(EntitySet {
        description: Some("What is sold".to_owned()),
        ..EntitySet::new("Products", product)
    });
    let categories = model.add_set(EntitySet::new("Categories", category));
    model.add_set(EntitySet::new("Orders", order));
    let items = model.add_set(EntitySet::new("Items", item));
    model.sets[products.0].permissions.read = Some("Products.View".to_owned());
    model.sets[products.0].permissions.delete = Some("Products.Delete".to_owned());
    model.sets[products.0].capabilities.max_expand_levels = Some(5);
    let version = model.types[product.0].find_property("Version").expect("declared above");
    model.sets[products.0].concurrency = vec![version];
    model.sets[categories.0].capabilities.deletable = false;
    model.sets[categories.0].capabilities.aggregatable = false;

    let own = model.types[product.0].find_property("CategoryId").expect("declared above");
    model.types[product.0].add_navigation(NavigationProperty {
        target_set: Some(categories),
        partner: Some("Products".to_owned()),
        constraints: vec![(own, PropertyIndex(0))],
        description: Some("Where it stands".to_owned()),
        ..NavigationProperty::to_one("Category", category)
    });
    model.types[product.0].add_navigation(NavigationProperty {
        target_set: Some(items),
        ..NavigationProperty::to_many("Items", item)
    });
    model.types[category.0].add_navigation(NavigationProperty {
        target_set: Some(products),
        partner: Some("Category".to_owned()),
        ..NavigationProperty::to_many("Products", product)
    });
    model.types[category.0].add_navigation(NavigationProperty {
        target_set: Some(categories),
        ..NavigationProperty::to_one("Parent", category)
    });
    model.types[order.0].add_navigation(NavigationProperty {
        target_set: Some(items),
        ..NavigationProperty::to_many("Items", item)
    });
    model.types[item.0].add_navigation(NavigationProperty {
        target_set: Some(products),
        nullable: false,
        ..NavigationProperty::to_one("Product", product)
    });
    operations(&mut model, product, order);
    model
}

/// Shorter than naming the variant everywhere.
trait IntoType {
    fn into_type(self) -> PropertyType;
}

impl IntoType for svc_odata::model::EnumIndex {
    fn into_type(self) -> PropertyType {
        PropertyType::Enum(self)
    }
}

fn product(colour: PropertyType) -> EntityType {
    use PrimitiveType as Ty;
    let mut product = EntityType::new("Product");
    product.description = Some("An article".to_owned());
    let id = product.add_property(
        Property { computed_default: true, ..Property::new("Id", Ty::Guid) }
            .with_access(Access::Immutable),
    );
    product.key = vec![id];
    let sku = product.add_property(Property {
        pattern: Some("^[A-Z]{2}-[0-9]+$".to_owned()),
        ..text("Sku", 20)
    });
    product.alternate_keys = vec![vec![sku]];
    product.add_property(Property {
        description: Some("As customers know it".to_owned()),
        searchable: true,
        ..text("Name", 100)
    });
    product.add_property(Property {
        precision: Some(12),
        scale: Some(2),
        minimum: Some("0".to_owned()),
        measure: Some(Measure::Currency(MeasuredIn::Property("Currency".to_owned()))),
        ..Property::new("Price", Ty::Decimal)
    });
    product.add_property(Property {
        precision: Some(12),
        scale: Some(2),
        read_permission: Some("Products.SeeCosts".to_owned()),
        measure: Some(Measure::Currency(MeasuredIn::Always("EUR".to_owned()))),
        ..Property::new("CostPrice", Ty::Decimal).nullable()
    });
    product.add_property(Property {
        minimum: Some("0".to_owned()),
        maximum: Some("100000".to_owned()),
        default_value: Some("0".to_owned()),
        ..Property::new("Stock", Ty::Int32)
    });
    product.add_property(Property {
        measure: Some(Measure::Unit(MeasuredIn::Always("kg".to_owned()))),
        ..Property::new("Weight", Ty::Double).nullable()
    });
    product.add_property(Property::new("Active", Ty::Boolean));
    product.add_property(Property::new("Colour", colour).nullable());
    product.add_property(Property::new("Released", Ty::Date).nullable());
    product
        .add_property(Property::new("Created", Ty::DateTimeOffset).with_access(Access::Computed));
    product.add_property(Property::new("Opens", Ty::TimeOfDay).nullable());
    product.add_property(Property::new("LeadTime", Ty::Duration).nullable());
    product.add_property(Property {
        max_length: Some(8),
        ..Property::new("Checksum", Ty::Binary).nullable()
    });
    product.add_property(Property { collection: true, ..Property::new("Tags", Ty::String) });
    product.add_property(Property::new("Extra", PropertyType::Untyped).nullable());
    product.add_property(Property {
        sortable: false,
        filterable: false,
        ..text("Notes", 4000).nullable()
    });
    product.add_property(Property::new("CategoryId", Ty::Int32).nullable());
    product.add_property(Property::new("Version", Ty::Int64).with_access(Access::ReadOnly));
    product.add_property(text("Currency", 3).nullable());
    product
}

fn category() -> EntityType {
    let mut category = EntityType::new("Category");
    let id = category.add_property(Property::new("Id", PrimitiveType::Int32));
    category.key = vec![id];
    category.add_property(text("Name", 50));
    category.add_property(Property {
        allowed_values: vec![
            AllowedValue { value: "A".to_owned(), description: Some("First".to_owned()) },
            AllowedValue { value: "B".to_owned(), description: None },
        ],
        ..text("Grade", 1).nullable()
    });
    category
}

fn order(status: PropertyType) -> EntityType {
    let mut order = EntityType::new("Order");
    let number = order.add_property(text("Number", 20));
    order.key = vec![number];
    order.add_property(Property::new("Status", status));
    order.add_property(Property::new("Placed", PrimitiveType::DateTimeOffset));
    order
}

fn item() -> EntityType {
    let mut item = EntityType::new("Item");
    let order = item.add_property(text("OrderNumber", 20));
    let line = item.add_property(Property::new("Line", PrimitiveType::Int16));
    item.key = vec![order, line];
    item.add_property(Property::new("Quantity", PrimitiveType::Int64));
    item
}

fn operations(model: &mut Model, product: TypeIndex, order: TypeIndex) {
    let value = |ty: PrimitiveType, nullable| OperationType::Value {
        ty: ty.into(),
        collection: false,
        nullable,
    };
    model.add_operation(Operation {
        name: "Reprice".to_owned(),
        kind: OperationKind::Action,
        binding: Some(Binding { entity_type: product, collection: false }),
        parameters: vec![
            Parameter {
                property: None,
                name: "Factor".to_owned(),
                ty: value(PrimitiveType::Decimal, false),
                description: Some("By how much".to_owned()),
            },
            Parameter {
                property: None,
                name: "Reason".to_owned(),
                ty: value(PrimitiveType::String, true),
                description: None,
            },
        ],
        returns: Some(OperationType::Entity {
            entity_type: product,
            collection: false,
            nullable: false,
        }),
        measure: None,
        permission: Some("Products.Reprice".to_owned()),
        description: Some("Changes the price".to_owned()),
    });
    model.add_operation(Operation {
        name: "Cheapest".to_owned(),
        kind: OperationKind::Function,
        binding: Some(Binding { entity_type: product, collection: true }),
        parameters: vec![Parameter {
            property: None,
            name: "Count".to_owned(),
            ty: value(PrimitiveType::Int32, false),
            description: None,
        }],
        returns: Some(OperationType::Entity {
            entity_type: product,
            collection: true,
            nullable: false,
        }),
        measure: None,
        permission: None,
        description: None,
    });
    model.add_operation(Operation {
        name: "OpenOrders".to_owned(),
        kind: OperationKind::Function,
        binding: None,
        parameters: Vec::new(),
        returns: Some(OperationType::Entity {
            entity_type: order,
            collection: true,
            nullable: false,
        }),
        measure: None,
        permission: None,
        description: None,
    });
}

pub(crate) const PRODUCT: TypeIndex = TypeIndex(0);
pub(crate) const CATEGORY: TypeIndex = TypeIndex(1);

/// The shop as someone sees it who may not see costs, notes, categories and orders.
pub(crate) struct Clerk(pub(crate) Model);

impl Schema for Clerk {
    fn model(&self) -> &Model {
        &self.0
    }

    fn sees_set(&self, set: SetIndex) -> bool {
        !matches!(self.0.set(set).name.as_str(), "Categories" | "Orders")
    }

    fn sees_property(&self, entity_type: TypeIndex, property: PropertyIndex) -> bool {
        let name = &self.0.entity_type(entity_type).property(property).name;
        !matches!(name.as_str(), "CostPrice" | "Notes" | "CategoryId")
    }

    fn sees_operation(&self, operation: svc_odata::model::OperationIndex) -> bool {
        self.0.operation(operation).name != "Reprice"
    }
}
