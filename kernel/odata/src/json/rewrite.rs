//! Entities in another form than they are read in: with all control information
//! (`odata.metadata=full`), or with numbers as texts (`IEEE754Compatible=true`).
//!
//! Both are rare, so the common way stays short: rows are written with minimal metadata, and who
//! asks for more gets the finished text written anew, member by member. Values are copied as they
//! are; none is parsed and printed again.

use serde_json::value::RawValue;

use super::members::Members;
use super::write::{push_name, push_string};
use crate::bind::{BoundExpand, BoundQuery, ExpandMode};
use crate::headers::{JsonFormat, MetadataLevel};
use crate::model::{
    Binding, OperationIndex, PrimitiveType, PropertyType, Schema, SetIndex, TypeIndex,
};
use crate::syntax::encode_segment;
use crate::value::type_name;

/// Writes entities anew in the form that a caller asks for.
pub struct Rewriter<'s> {
    schema: &'s dyn Schema,
    full: bool,
    texts: bool,
}

impl<'s> Rewriter<'s> {
    /// A rewriter for a format; none for a format that entities are read in.
    #[must_use]
    pub fn new(schema: &'s dyn Schema, format: JsonFormat) -> Option<Self> {
        let full = format.metadata == MetadataLevel::Full;
        let texts = format.ieee754_compatible;
        (full || texts).then_some(Self { schema, full, texts })
    }

    /// The query to read entities with: it returns their keys too, which their addresses need.
    #[must_use]
    pub fn prepare(&self, query: &BoundQuery) -> BoundQuery {
        let mut query = query.clone();
        if self.full && query.row.entity_type.is_some() {
            let key = &self.schema.model().entity_type(query.entity_type).key;
            query.select.properties.extend(key.iter().copied());
            query.select.properties.sort_unstable();
            query.select.properties.dedup();
        }
        for expand in &mut query.expand {
            expand.query = self.prepare(&expand.query);
        }
        query
    }

    /// What an answer that holds entities of a set says of the set's own operations, as members
    /// with a comma behind each.
    #[must_use]
    pub fn of_set(&self, set: SetIndex) -> String {
        let mut out = String::new();
        if self.full {
            let model = self.schema.model();
            let entity_type = model.set(set).entity_type;
            let binding = Binding { entity_type, collection: true };
            self.push_operations(&mut out, binding, &model.set(set).name);
        }
        out
    }

    /// Elements of a JSON array, without its brackets, that `query` asked for.
    ///
    /// # Errors
    /// When they are no such elements.
    pub fn elements(
        &self,
        elements: &str,
        set: SetIndex,
        query: &BoundQuery,
    ) -> Result<String, serde_json::Error> {
        let elements = format!("[{elements}]");
        let elements: Vec<&RawValue> = serde_json::from_str(&elements)?;
        let mut out = String::new();
        for element in elements {
            if !out.is_empty() {
                out.push(',');
            }
            out.push('{');
            self.object(&mut out, element.get(), Some(set), query)?;
            out.push('}');
        }
        Ok(out)
    }

    /// The members of an entity, without braces.
    ///
    /// # Errors
    /// When they are no such members.
    pub fn members(
        &self,
        members: &str,
        set: SetIndex,
        query: &BoundQuery,
    ) -> Result<String, serde_json::Error> {
        let mut out = String::new();
        self.object(&mut out, &format!("{{{members}}}"), Some(set), query)?;
        Ok(out)
    }

    fn object(
        &self,
        out: &mut String,
        object: &str,
        set: Option<SetIndex>,
        query: &BoundQuery,
    ) -> Result<(), serde_json::Error> {
        let Members(members) = serde_json::from_str(object)?;
        let begin = out.len();
        let entity_type = query.row.entity_type;
        let address = match (self.full, set, entity_type) {
            (true, Some(set), Some(index)) => self.address(set, index, &members),
            _ => None,
        };
        if let (Some(address), Some(index)) = (&address, entity_type) {
            let name = &self.schema.model().entity_type(index).name;
            push_name(out, "@odata.type");
            push_string(out, &format!("#{}", self.schema.model().qualified(name)));
            for name in [",\"@odata.id\":", ",\"@odata.editLink\":"] {
                out.push_str(name);
                push_string(out, address);
            }
            out.push(',');
        }
        for (name, value) in &members {
            self.member(out, name, value, query)?;
        }
        if let (Some(address), Some(index)) = (&address, entity_type) {
            self.push_links(out, index, address, query);
            if !query.select.explicit {
                let binding = Binding { entity_type: index, collection: false };
                self.push_operations(out, binding, address);
            }
        }
        if out.len() > begin && out.ends_with(',') {
            out.pop();
        }
        Ok(())
    }

    fn member(
        &self,
        out: &mut String,
        name: &str,
        value: &RawValue,
        query: &BoundQuery,
    ) -> Result<(), serde_json::Error> {
        if name.contains('@') {
            self.push(out, name, value.get());
            return Ok(());
        }
        let model = self.schema.model();
        let described = query.row.entity_type.map(|index| model.entity_type(index));
        let found = described.and_then(|described| {
            let index = described.find_property(name)?;
            Some((index, described.property(index)))
        });
        if let Some((index, property)) = found {
            // A key that nobody asked for was read for the address alone.
            if query.select.properties.contains(&index) {
                self.typed(out, name, property.ty, value);
            }
            return Ok(());
        }
        if let Some(column) = query.row.columns.iter().find(|column| column.name == name) {
            self.typed(out, name, column.ty, value);
            return Ok(());
        }
        let expand = described.and_then(|described| {
            let index = described.find_navigation(name)?;
            query.expand.iter().find(|expand| expand.step.navigation == index)
        });
        match expand {
            Some(expand) if expand.mode == ExpandMode::Entities => {
                self.expanded(out, name, value, expand)
            }
            _ => {
                self.push(out, name, value.get());
                Ok(())
            }
        }
    }

    fn expanded(
        &self,
        out: &mut String,
        name: &str,
        value: &RawValue,
        expand: &BoundExpand,
    ) -> Result<(), serde_json::Error> {
        let model = self.schema.model();
        let from = model.entity_type(expand.step.from);
        let set = from.navigation(expand.step.navigation).target_set;
        push_name(out, name);
        if expand.collection {
            out.push('[');
            let elements: Vec<&RawValue> = serde_json::from_str(value.get())?;
            for (place, element) in elements.into_iter().enumerate() {
                out.push_str(if place > 0 { ",{" } else { "{" });
                self.object(out, element.get(), set, &expand.query)?;
                out.push('}');
            }
            out.push(']');
        } else if value.get() == "null" {
            out.push_str("null");
        } else {
            out.push('{');
            self.object(out, value.get(), set, &expand.query)?;
            out.push('}');
        }
        out.push(',');
        Ok(())
    }

    fn push(&self, out: &mut String, name: &str, value: &str) {
        push_name(out, name);
        if self.texts && name.ends_with("@odata.count") {
            push_string(out, value);
        } else {
            out.push_str(value);
        }
        out.push(',');
    }

    /// A value, with its type where JSON doesn't say it.
    fn typed(&self, out: &mut String, name: &str, ty: PropertyType, value: &RawValue) {
        use PrimitiveType as Ty;
        let is_plain = matches!(
            ty,
            PropertyType::Primitive(Ty::String | Ty::Boolean | Ty::Double) | PropertyType::Untyped
        );
        if self.full && !is_plain && value.get() != "null" {
            push_name(out, &format!("{name}@odata.type"));
            let ty = type_name(self.schema.model(), ty);
            push_string(out, &format!("#{}", ty.strip_prefix("Edm.").unwrap_or(&ty)));
            out.push(',');
        }
        push_name(out, name);
        let is_wide = matches!(ty, PropertyType::Primitive(Ty::Int64 | Ty::Decimal));
        if self.texts && is_wide && value.get() != "null" {
            push_string(out, value.get());
        } else {
            out.push_str(value.get());
        }
        out.push(',');
    }

    /// The address of an entity below the service's root; none where its key is hidden.
    fn address(
        &self,
        set: SetIndex,
        index: TypeIndex,
        members: &[(String, Box<RawValue>)],
    ) -> Option<String> {
        let model = self.schema.model();
        let described = model.entity_type(index);
        let mut parts = Vec::with_capacity(described.key.len());
        for key in &described.key {
            let property = described.property(*key);
            let (_, value) = members.iter().find(|(name, _)| *name == property.name)?;
            let literal = key_literal(property.ty, value)?;
            parts.push(match described.key.len() {
                1 => literal,
                _ => format!("{}={literal}", property.name),
            });
        }
        Some(format!("{}({})", model.set(set).name, parts.join(",")))
    }

    /// The addresses of what the entity is related to.
    fn push_links(&self, out: &mut String, index: TypeIndex, address: &str, query: &BoundQuery) {
        for (navigation, found) in self.schema.navigations(index) {
            let is_asked = !query.select.explicit
                || query.select.navigations.contains(&navigation)
                || query.expand.iter().any(|expand| expand.step.navigation == navigation);
            if is_asked {
                let name = &found.name;
                push_name(out, &format!("{name}@odata.associationLink"));
                push_string(out, &format!("{address}/{name}/$ref"));
                out.push(',');
                push_name(out, &format!("{name}@odata.navigationLink"));
                push_string(out, &format!("{address}/{name}"));
                out.push(',');
            }
        }
    }

    /// The operations that are bound to what is at an address.
    fn push_operations(&self, out: &mut String, binding: Binding, address: &str) {
        let model = self.schema.model();
        for (place, operation) in model.operations.iter().enumerate() {
            if operation.binding != Some(binding)
                || !self.schema.sees_operation(OperationIndex(place))
            {
                continue;
            }
            let name = model.qualified(&operation.name);
            push_name(out, &format!("#{name}"));
            out.push('{');
            push_name(out, "title");
            push_string(out, &operation.name);
            out.push(',');
            push_name(out, "target");
            push_string(out, &format!("{address}/{name}"));
            out.push_str("},");
        }
    }
}

/// The value of a key in a URL.
fn key_literal(ty: PropertyType, value: &RawValue) -> Option<String> {
    match (ty, value.get().starts_with('"')) {
        (_, false) => Some(value.get().to_owned()),
        (PropertyType::Primitive(PrimitiveType::String), true) => {
            let text: String = serde_json::from_str(value.get()).ok()?;
            Some(format!("'{}'", encode_segment(&text.replace('\'', "''"))))
        }
        (_, true) => {
            let text: String = serde_json::from_str(value.get()).ok()?;
            Some(encode_segment(&text))
        }
    }
}
