//! The ways between entities, as SeaORM describes them.

use sea_orm::{EntityTrait, Iterable, RelationTrait, RelationType};

use super::EntityModel;
use super::column::{Column, kept};
use crate::names::{lower_first, singular};

/// A way from an entity to another, as SeaORM's `Relation` describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Relation {
    /// The name of SeaORM's variant, such as `OrderLine`.
    pub name: String,
    /// Whether it leads to many.
    pub many: bool,
    /// The place of the column here.
    pub column: usize,
    /// The table it leads to.
    pub target: String,
    /// The name of the column there that equals the one here.
    pub target_column: String,
}

impl Relation {
    /// The name of the navigation property that it is over OData, where it leads to this set. A way to many that
    /// `SeaORM` named after the entity there (`OrderLine`) is called as the set there (`orderLines`); any other keeps its name.
    #[must_use]
    pub fn navigation(&self, target: &EntityModel) -> String {
        if self.many && singular(target.name()) == self.name {
            lower_first(target.name())
        } else {
            lower_first(&self.name)
        }
    }
}

/// The relations of an entity that one pair of columns makes. The organisation, which composite
/// keys carry too, is part of every statement anyway. What has a condition of its own, or leads
/// through a third table, is none of them.
pub(super) fn relations_of<E: EntityTrait>(columns: &[Column]) -> Vec<Relation> {
    let mut relations = Vec::new();
    for relation in E::Relation::iter() {
        let def = relation.def();
        let pairs = def.from_col.iter().zip(def.to_col.iter());
        let pairs = pairs.map(|(here, there)| (here.to_string(), there.to_string()));
        let pairs: Vec<_> = pairs.filter(|(here, _)| here != kept::ORGANISATION).collect();
        let [(here, there)] = &pairs[..] else { continue };
        let column = columns.iter().position(|column| column.name == here);
        if let (Some(column), None) = (column, &def.on_condition) {
            relations.push(Relation {
                name: relation.name(),
                many: def.rel_type == RelationType::HasMany,
                column,
                target: def.to_tbl.sea_orm_table().to_string(),
                target_column: there.clone(),
            });
        }
    }
    relations
}
