//! How an application wants its sets to look: words for `configure`, checked at the start.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;
use svc_core::{App, Error, Kind, Registry, Result};
use svc_data::{Catalogue, EntityModel};
use utoipa::ToSchema;

/// What [`LookRegistry::set_look`] adds.
pub const SET_LOOK: Kind = Kind::new("looks of sets");

/// How the app of an entity set looks: what is left out is chosen by the client.
///
/// ```
/// use svc_web::SetLook;
///
/// let look = SetLook::new()
///     .icon("box.svg")
///     .accent("#0f766e")
///     .columns(["name", "price", "stock"])
///     .sort("-price")
///     .group("products-what", ["name", "sku"])
///     .group("products-money", ["price", "costPrice"]);
/// # let _ = look;
/// ```
#[derive(Clone, Debug, Default, Serialize, ToSchema)]
#[schema(as = WebSetLook)]
pub struct SetLook {
    /// A file among the desktop's icons.
    #[serde(skip_serializing_if = "Option::is_none")]
    icon: Option<&'static str>,
    /// The colour of its icon, such as `#0f766e`.
    #[serde(skip_serializing_if = "Option::is_none")]
    accent: Option<&'static str>,
    /// The columns that a list begins with.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    columns: Vec<&'static str>,
    /// The order that a list begins with: a property, with `-` in front for the greatest first.
    #[serde(skip_serializing_if = "Option::is_none")]
    sort: Option<&'static str>,
    /// Properties that belong together, in records and forms; others stand behind them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    groups: Vec<Group>,
    /// Whether it has no app in the start menu, since one comes to it from other sets.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    hidden: bool,
}

/// Properties that belong together.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = WebLookGroup)]
struct Group {
    /// The id of the text that is its title.
    title: &'static str,
    /// The properties, in their order.
    properties: Vec<&'static str>,
}

impl SetLook {
    /// A look that leaves everything to the client.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the picture: a file among the desktop's icons.
    #[must_use]
    pub fn icon(self, icon: &'static str) -> Self {
        Self { icon: Some(icon), ..self }
    }

    /// Sets the colour of the icon, such as `#0f766e`: dark enough for a white sign.
    #[must_use]
    pub fn accent(self, colour: &'static str) -> Self {
        Self { accent: Some(colour), ..self }
    }

    /// Names the columns that a list begins with, in their order.
    #[must_use]
    pub fn columns(self, columns: impl IntoIterator<Item = &'static str>) -> Self {
        Self { columns: columns.into_iter().collect(), ..self }
    }

    /// Names the order that a list begins with: a property, with `-` in front for the greatest first.
    #[must_use]
    pub fn sort(self, sort: &'static str) -> Self {
        Self { sort: Some(sort), ..self }
    }

    /// Puts properties together in records and forms, under a title that is the id of a text.
    #[must_use]
    pub fn group(
        mut self,
        title: &'static str,
        properties: impl IntoIterator<Item = &'static str>,
    ) -> Self {
        self.groups.push(Group { title, properties: properties.into_iter().collect() });
        self
    }

    /// Leaves the set out of the start menu: one comes to it from other sets.
    #[must_use]
    pub fn hidden(self) -> Self {
        Self { hidden: true, ..self }
    }

    /// All properties that it names.
    fn named(&self) -> impl Iterator<Item = &'static str> {
        let sort = self.sort.map(|sort| sort.trim_start_matches('-'));
        let grouped = self.groups.iter().flat_map(|group| &group.properties);
        self.columns.iter().chain(grouped).copied().chain(sort)
    }
}

/// The words for looks in a module's `configure`.
pub trait LookRegistry {
    /// Says how the app of an entity set looks. A set or a property that isn't there ends the start.
    fn set_look(&mut self, set: &'static str, look: SetLook);
}

impl LookRegistry for Registry {
    fn set_look(&mut self, set: &'static str, look: SetLook) {
        self.contribute(SET_LOOK, set, look.columns.join(", "));
        self.part::<Looks>().0.insert(set, look);
        self.at_end(provide);
    }
}

/// The looks that an application wants, by their sets; a service.
#[derive(Default)]
pub(crate) struct Looks(BTreeMap<&'static str, SetLook>);

impl Looks {
    pub(crate) fn get(&self, set: &str) -> Option<&SetLook> {
        self.0.get(set)
    }
}

fn provide(registry: &mut Registry) {
    let looks = std::mem::take(registry.part::<Looks>());
    registry.on_build(move |app: App| async move {
        let catalogue = app.service::<Catalogue>()?;
        for (set, look) in &looks.0 {
            check(set, look, catalogue.set(set).map(|model| &**model))?;
        }
        app.provide(Arc::new(looks));
        Ok(())
    });
}

fn check(set: &str, look: &SetLook, model: Option<&EntityModel>) -> Result<()> {
    let Some(model) = model else {
        return Err(Error::internal(format!(
            "there is no entity set `{set}` to give a look; register it, or leave `set_look` out"
        )));
    };
    let extra = model.set.iter().flat_map(|set| &set.virtual_properties);
    let known: Vec<&str> = (model.columns.iter().map(|column| column.property.as_str()))
        .chain(extra.map(|property| property.name.as_str()))
        .collect();
    match look.named().find(|name| !known.contains(name)) {
        None => Ok(()),
        Some(unknown) => Err(Error::internal(format!(
            "the look of `{set}` names the property `{unknown}`, which it doesn't have; it has {}",
            known.join(", ")
        ))),
    }
}
