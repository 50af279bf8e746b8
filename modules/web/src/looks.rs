//! How an application wants its sets to look: words for `configure`, checked at the start.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;
use svc_core::{App, Error, Kind, Registry, Result};
use svc_data::{Catalogue, EntityModel};
use svc_sets::Sets;
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
    /// Collections whose records are written together with the one they belong to.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    lines: Vec<Lines>,
    /// Elements of the application's own in place of parts.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    elements: Vec<OwnElement>,
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

/// Records that are written together with the one they belong to, such as the lines of an order.
///
/// ```
/// use svc_web::Lines;
///
/// let lines = Lines::of("lines", ["productId", "quantity"]).numbered_by("position");
/// # let _ = lines;
/// ```
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = WebLookLines)]
pub struct Lines {
    /// The navigation property that leads to them.
    navigation: &'static str,
    /// What is asked of each, in its order: properties of theirs.
    properties: Vec<&'static str>,
    /// The property that numbers them, from 1: new ones are put behind the others, and nobody writes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    number: Option<&'static str>,
}

impl Lines {
    /// The records that a navigation property leads to, and what is asked of each: properties of theirs, in their order.
    #[must_use]
    pub fn of(
        navigation: &'static str,
        properties: impl IntoIterator<Item = &'static str>,
    ) -> Self {
        Self { navigation, properties: properties.into_iter().collect(), number: None }
    }

    /// Has a property number them, from 1: the client gives new ones the next number.
    #[must_use]
    pub fn numbered_by(self, property: &'static str) -> Self {
        Self { number: Some(property), ..self }
    }

    /// All properties that it names.
    fn named(&self) -> impl Iterator<Item = &'static str> {
        self.properties.iter().copied().chain(self.number)
    }
}

/// An element of the application's own in place of a part.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = WebLookElement)]
struct OwnElement {
    /// The property that it stands for; none for all values of a record.
    #[serde(skip_serializing_if = "Option::is_none")]
    property: Option<&'static str>,
    /// Its name, as the script defines it.
    element: &'static str,
    /// The address of that script.
    script: &'static str,
}

impl OwnElement {
    /// What is wrong with it, in words.
    fn problem(&self) -> Option<String> {
        let Self { element, script, .. } = self;
        let is_name = element.contains('-')
            && element.starts_with(|first: char| first.is_ascii_lowercase())
            && element.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-'));
        if !is_name {
            return Some(format!(
                "has an element `{element}`; its name takes small letters, digits and a hyphen, such as `shop-rating`"
            ));
        }
        if !script.starts_with('/') || script.starts_with("//") {
            return Some(format!(
                "takes `{element}` from `{script}`; say an address of the application's own, such as `/shop/elements.js`"
            ));
        }
        None
    }
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

    /// Has records that belong to one of this set written together with it: in the form that makes one, and in the record.
    #[must_use]
    pub fn lines(mut self, lines: Lines) -> Self {
        self.lines.push(lines);
        self
    }

    /// Has an element of the application's own show and write a property, in records and forms. `script` is the address of a
    /// module that defines it, such as `/shop/elements.js` of `registry.static_files(…)`; the README says what it is given.
    #[must_use]
    pub fn property_element(
        mut self,
        property: &'static str,
        element: &'static str,
        script: &'static str,
    ) -> Self {
        self.elements.push(OwnElement { property: Some(property), element, script });
        self
    }

    /// Has an element of the application's own show and write all values of a record, in place of its fields and their groups.
    #[must_use]
    pub fn record_element(mut self, element: &'static str, script: &'static str) -> Self {
        self.elements.push(OwnElement { property: None, element, script });
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
        let own = self.elements.iter().filter_map(|element| element.property);
        self.columns.iter().chain(grouped).copied().chain(sort).chain(own)
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
        let sets = app.service::<Sets>()?;
        for (set, look) in &looks.0 {
            let model = catalogue.set(set).map(|model| &**model);
            let model = model.ok_or_else(|| unknown_set(set))?;
            check(set, look, model)?;
            check_lines(set, look, &sets)?;
        }
        app.provide(Arc::new(looks));
        Ok(())
    });
}

fn unknown_set(set: &str) -> Error {
    Error::internal(format!(
        "there is no entity set `{set}` to give a look; register it, or leave `set_look` out"
    ))
}

fn check(set: &str, look: &SetLook, model: &EntityModel) -> Result<()> {
    if let Some(problem) = look.elements.iter().find_map(OwnElement::problem) {
        return Err(Error::internal(format!("the look of `{set}` {problem}")));
    }
    all_known(set, model, look.named())
}

/// The names of all properties of a set.
fn properties_of(model: &EntityModel) -> Vec<&str> {
    let extra = model.set.iter().flat_map(|set| &set.virtual_properties);
    (model.columns.iter().map(|column| column.property.as_str()))
        .chain(extra.map(|property| property.name.as_str()))
        .collect()
}

fn all_known(
    set: &str,
    model: &EntityModel,
    mut named: impl Iterator<Item = &'static str>,
) -> Result<()> {
    let known = properties_of(model);
    match named.find(|name| !known.contains(name)) {
        None => Ok(()),
        Some(unknown) => Err(Error::internal(format!(
            "the look of `{set}` names the property `{unknown}`, which {} doesn't have; it has {}",
            model.name(),
            known.join(", ")
        ))),
    }
}

/// Lines lead to a set that has what is asked of them.
fn check_lines(set: &str, look: &SetLook, sets: &Sets) -> Result<()> {
    let model = sets.model();
    let described = model.entity_type(model.set(sets.find(set)?).entity_type);
    for lines in &look.lines {
        let ways = || described.navigations.iter().filter(|way| way.collection);
        let way = ways().find(|way| way.name == lines.navigation);
        let Some(target) = way.and_then(|way| way.target_set) else {
            let known: Vec<&str> = ways().map(|way| way.name.as_str()).collect();
            return Err(Error::internal(format!(
                "the look of `{set}` names the lines `{}`, and no such way leads from it to many; those that do: {}",
                lines.navigation,
                if known.is_empty() { "none".to_owned() } else { known.join(", ") }
            )));
        };
        all_known(set, sets.entity(target), lines.named())?;
    }
    Ok(())
}
