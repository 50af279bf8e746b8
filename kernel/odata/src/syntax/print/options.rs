//! Query options. Nested ones are plain text; those of a whole URL are percent-encoded.

use std::fmt::{self, Display, Formatter};

use super::{encode_query, joined};
use crate::syntax::ast::{
    Alias, ComputeItem, Expand, ExpandItem, ExpandOptions, ExpandTarget, Format, Levels,
    OrderByItem, QueryOptions, Select, SelectItem, SelectKind,
};

impl Display for ComputeItem {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} as {}", self.expr, self.name)
    }
}

impl Display for OrderByItem {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}{}", self.expr, if self.descending { " desc" } else { "" })
    }
}

impl Display for Alias {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        write!(formatter, "@{}={}", self.name, self.value)
    }
}

impl Display for Select {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        joined(formatter, &self.items, ",")
    }
}

impl Display for SelectItem {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        match &self.kind {
            SelectKind::All => formatter.write_str("*"),
            SelectKind::Operations(schema) => write!(formatter, "{schema}.*"),
            SelectKind::Path { path, parameters, options } => {
                path.fmt(formatter)?;
                if let Some(parameters) = parameters {
                    write!(formatter, "({})", parameters.join(","))?;
                }
                options.iter().try_for_each(|options| write!(formatter, "({options})"))
            }
        }
    }
}

impl Display for Expand {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        joined(formatter, &self.items, ",")
    }
}

impl Display for ExpandItem {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        if let Some(path) = &self.path {
            path.fmt(formatter)?;
        }
        let slash = if self.path.is_some() { "/" } else { "" };
        match self.target {
            ExpandTarget::Entities => {}
            ExpandTarget::References => formatter.write_str("/$ref")?,
            ExpandTarget::Count => formatter.write_str("/$count")?,
            ExpandTarget::All => write!(formatter, "{slash}*")?,
            ExpandTarget::AllReferences => write!(formatter, "{slash}*/$ref")?,
            ExpandTarget::Stream => formatter.write_str("$value")?,
        }
        if self.options.is_empty() { Ok(()) } else { write!(formatter, "({})", self.options) }
    }
}

impl Display for Levels {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exactly(levels) => levels.fmt(formatter),
            Self::Max => formatter.write_str("max"),
        }
    }
}

impl Display for Format {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Json => "json",
            Self::Xml => "xml",
            Self::Atom => "atom",
            Self::MediaType(media_type) => media_type,
        })
    }
}

/// Names and values of options in a fixed order.
type Named = Vec<(String, String)>;

fn push<T: Display>(named: &mut Named, name: &str, value: Option<&T>) {
    named.extend(value.map(|value| (name.to_owned(), value.to_string())));
}

fn push_list<T: Display>(named: &mut Named, name: &str, items: &[T]) {
    if !items.is_empty() {
        let items: Vec<_> = items.iter().map(ToString::to_string).collect();
        named.push((name.to_owned(), items.join(",")));
    }
}

fn push_aliases(named: &mut Named, aliases: &[Alias]) {
    named.extend(aliases.iter().map(|alias| (format!("@{}", alias.name), alias.value.to_string())));
}

impl ExpandOptions {
    /// The options with their names, as plain text.
    #[must_use]
    pub fn to_named(&self) -> Vec<(String, String)> {
        let mut named = Named::new();
        push(&mut named, "$apply", self.apply.as_ref());
        push_list(&mut named, "$compute", &self.compute);
        push(&mut named, "$filter", self.filter.as_ref());
        push_list(&mut named, "$orderby", &self.order_by);
        push(&mut named, "$select", self.select.as_ref());
        push(&mut named, "$expand", self.expand.as_ref());
        push(&mut named, "$search", self.search.as_ref());
        push(&mut named, "$top", self.top.as_ref());
        push(&mut named, "$skip", self.skip.as_ref());
        push(&mut named, "$count", self.count.as_ref());
        push(&mut named, "$levels", self.levels.as_ref());
        push_aliases(&mut named, &self.aliases);
        named
    }
}

impl Display for ExpandOptions {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        let named = self.to_named();
        joined(formatter, named.iter().map(|(name, value)| format!("{name}={value}")), ";")
    }
}

/// An option of a URL's query, percent-encoded.
#[must_use]
pub fn encode_option(name: &str, value: &str) -> String {
    // An equals sign within a name would end it.
    format!("{}={}", encode_query(name).replace('=', "%3D"), encode_query(value))
}

/// The query of a URL, percent-encoded, as a next link carries it.
impl Display for QueryOptions {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        let mut named = Named::new();
        push(&mut named, "$apply", self.apply.as_ref());
        push_list(&mut named, "$compute", &self.compute);
        push(&mut named, "$filter", self.filter.as_ref());
        push_list(&mut named, "$orderby", &self.order_by);
        push(&mut named, "$select", self.select.as_ref());
        push(&mut named, "$expand", self.expand.as_ref());
        push(&mut named, "$search", self.search.as_ref());
        push(&mut named, "$top", self.top.as_ref());
        push(&mut named, "$skip", self.skip.as_ref());
        push(&mut named, "$count", self.count.as_ref());
        push(&mut named, "$format", self.format.as_ref());
        push(&mut named, "$index", self.index.as_ref());
        push(&mut named, "$schemaversion", self.schema_version.as_ref());
        push(&mut named, "$id", self.id.as_ref());
        push_aliases(&mut named, &self.aliases);
        named.extend(self.custom.iter().map(|option| (option.name.clone(), option.value.clone())));
        push(&mut named, "$skiptoken", self.skip_token.as_ref());
        push(&mut named, "$deltatoken", self.delta_token.as_ref());
        let encoded = named.iter().map(|(name, value)| encode_option(name, value));
        joined(formatter, encoded, "&")
    }
}
