//! The one front for reading as a person: whoever asks, by HTTP, for an export, a report, a search
//! or an AI client, comes in here.
//!
//! | Step | What it refuses |
//! | --- | --- |
//! | [`Sets::understand`]: a path and options as text are parsed, the path's names found | what is malformed (400), leads nowhere (404), or isn't served (501) |
//! | [`Sets::source`]: the path is followed | a set that may not be read (403), an entity that isn't there (404) |
//! | [`Sets::bind`]: the options are bound to the set that it leads to | names that are unknown or hidden, types that don't fit, more than the budget allows (400) |
//! | [`Sets::open_page`], [`Sets::read_row`]: rows go into a [`RowSink`] | a set that may not be read (403) |
//!
//! [`Sets::reading`] takes all of them but the last, for those who aren't HTTP:
//!
//! ```text
//! let reading = sets.reading(&ctx, "Products", "$filter=price lt 20&$orderby=name").await?;
//! let mut table = ValueRows::default();
//! reading.read(&mut table).await?;
//! ```

use svc_core::{Error, ErrorKind, Result};
use svc_data::{Budget, Context, Expense};
use svc_odata::bind::{
    BindError, BindErrorKind, BoundExpand, BoundQuery, BoundResource, Cost, ExpandPage, KeyValue,
    Limit, ResourceKind, ResourceRoot, ResourceStep, bind_query, bind_resource, check_capabilities,
};
use svc_odata::model::{PrimitiveType, PropertyType, SetIndex};
use svc_odata::syntax::{QueryOptions, ResourcePath, SyntaxError};

use super::model::Sets;
use super::page::PageReader;
use super::page_request::PageRequest;
use super::seen::Seen;
use super::sink::RowSink;
use super::source::Source;

/// A path that leads somewhere, with its options.
#[derive(Clone, Debug)]
pub struct Address {
    /// Where it leads.
    pub resource: BoundResource,
    /// The options, which are bound where it is known to what.
    pub options: QueryOptions,
}

impl Address {
    /// The set that the path begins with.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::NotImplemented`] when it begins with anything else.
    pub fn set(&self) -> Result<SetIndex> {
        match &self.resource.root {
            ResourceRoot::Set(set) => Ok(*set),
            _ => Err(Error::not_implemented("this kind of resource is not served")),
        }
    }
}

/// A column of the rows of a [`Reading`].
#[derive(Clone, Debug, PartialEq)]
pub struct ReadingColumn {
    /// The property's name, or that of what was computed.
    pub name: String,
    /// The type of its values.
    pub ty: PropertyType,
}

/// A read of many that is understood and allowed, and can begin.
pub struct Reading<'a> {
    sets: &'a Sets,
    ctx: Context,
    source: Source,
    query: BoundQuery,
}

impl Sets {
    /// Understands an address below the service's root: its path and its options, percent-encoded
    /// where they must be, as `ctx`'s principal may name them.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Malformed`] for what can't be understood, [`ErrorKind::NotFound`] for a path
    /// that leads nowhere and a version of the schema that isn't there,
    /// [`ErrorKind::NotImplemented`] for a part of OData that is not served.
    pub fn understand(&self, ctx: &Context, path: &str, options: &str) -> Result<Address> {
        let options = self.understand_options(options)?;
        let limits = self.settings.parsing();
        let path = ResourcePath::parse_with(path, limits).map_err(|e| unreadable(&e))?;
        let everything = Seen::with_all_sets(self, ctx.principal());
        let limits = self.settings.binding(ctx);
        let resource = bind_resource(&everything, &path, &options.aliases, limits);
        let resource = resource.map_err(refused)?;
        spend(ctx, resource.cost)?;
        Ok(Address { resource, options })
    }

    /// Understands the options of an address by themselves, percent-encoded where they must be, whatever its path is.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Malformed`] for what can't be understood, [`ErrorKind::NotFound`] for a version of
    /// the schema that isn't there.
    pub fn understand_options(&self, options: &str) -> Result<QueryOptions> {
        let options = QueryOptions::parse_with(options, self.settings.parsing());
        let options = options.map_err(|e| unreadable(&e))?;
        if let Some(version) = options.schema_version.as_ref().filter(|version| *version != "*") {
            let message = format!("there is no version `{version}` of the schema; it has one, `*`");
            return Err(Error::not_found(message).target("$schemaversion"));
        }
        Ok(options)
    }

    /// Binds options to the entities of a set. Of related entities the answer holds a page of each,
    /// where `root`, the address of the service's root, says where the others are asked for.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Malformed`] for an unknown name, a wrong type, or more than the budget allows;
    /// [`ErrorKind::NotImplemented`] for an option that is not served.
    pub fn bind(
        &self,
        ctx: &Context,
        set: SetIndex,
        options: &QueryOptions,
        root: Option<&str>,
    ) -> Result<BoundQuery> {
        if options.id.is_some() {
            let message = "`$id` names what a DELETE of `$ref` takes away, and nothing else";
            return Err(Error::malformed(message).target("$id"));
        }
        let described = self.model().set(set);
        check_capabilities(described, options).map_err(refused)?;
        let seen = Seen::new(self, ctx.principal());
        let bound = bind_query(&seen, described.entity_type, options, self.settings.binding(ctx));
        let mut query = bound.map_err(refused)?;
        spend(ctx, query.cost)?;
        if let Some(root) = root {
            self.page_expands(&mut query.expand, root);
        }
        if nested_apply(&query) {
            return Err(Error::not_implemented("`$apply` within `$expand` is not served"));
        }
        Ok(query)
    }

    /// Bounds how many related entities an answer holds of each.
    fn page_expands(&self, expands: &mut [BoundExpand], root: &str) {
        for expand in expands {
            let limit = self.settings.expand_page_size.into();
            expand.page = Some(ExpandPage { limit, root: root.into() });
            self.page_expands(&mut expand.query.expand, root);
        }
    }

    /// The entities that an address leads to.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::NotFound`] when an entity on the way is not there, [`ErrorKind::Forbidden`]
    /// without the permission of a set on the way, [`ErrorKind::NotImplemented`] for a kind of step
    /// that is not served.
    pub async fn source(&self, ctx: &Context, address: &Address) -> Result<Source> {
        let set = address.set()?;
        self.require_view(ctx, set)?;
        self.walk(ctx, set, &address.resource.steps).await
    }

    /// Follows steps from a set. The permission of that set is left to the caller, that of every
    /// other on the way is not.
    ///
    /// # Errors
    ///
    /// As [`Sets::source`].
    pub async fn walk(
        &self,
        ctx: &Context,
        set: SetIndex,
        steps: &[ResourceStep],
    ) -> Result<Source> {
        let mut source = Source::of(set);
        for step in steps {
            source = match step {
                ResourceStep::Key(values) => self.with_key_values(source, values)?,
                ResourceStep::Navigation(step) => {
                    self.follow(ctx, &source, step.navigation).await?
                }
                ResourceStep::Filter(condition) => {
                    self.require_view(ctx, source.set())?;
                    source.filtered(condition.clone())
                }
                ResourceStep::Operation(_) => {
                    return Err(Error::not_implemented("an operation is not served"));
                }
                ResourceStep::Property(_)
                | ResourceStep::Count
                | ResourceStep::References
                | ResourceStep::Value => break,
            };
        }
        Ok(source)
    }

    /// The set and key that a reference names: a path below the service's root to one entity.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Malformed`] for what is no address of one entity here.
    pub fn reference(&self, ctx: &Context, path: &str) -> Result<(SetIndex, Vec<KeyValue>)> {
        let parsed = ResourcePath::parse_with(path, self.settings.parsing());
        let parsed = parsed.map_err(|_| wrong_reference())?;
        let everything = Seen::with_all_sets(self, ctx.principal());
        let bound = bind_resource(&everything, &parsed, &[], self.settings.binding(ctx));
        let bound = bound.map_err(refused)?;
        match (&bound.root, bound.kind, &bound.steps[..]) {
            (ResourceRoot::Set(set), ResourceKind::Entity, [ResourceStep::Key(values)]) => {
                Ok((*set, values.clone()))
            }
            _ => Err(wrong_reference()),
        }
    }

    /// Understands and checks a read of the entities that a path leads to, with options as text.
    /// A context without a budget gets that of a request.
    ///
    /// # Errors
    ///
    /// As [`Sets::understand`], [`Sets::source`] and [`Sets::bind`]; [`ErrorKind::Malformed`] where
    /// the path doesn't lead to many.
    pub async fn reading<'a>(
        &'a self,
        ctx: &Context,
        path: &str,
        options: &str,
    ) -> Result<Reading<'a>> {
        let ctx = self.budgeted(ctx);
        let address = self.understand(&ctx, path, options)?;
        if address.resource.kind != ResourceKind::Entities {
            return Err(Error::malformed(format!("`{path}` doesn't lead to entities of a set")));
        }
        let source = self.source(&ctx, &address).await?;
        self.reading_of(&ctx, source, &address.options)
    }

    /// As [`Sets::reading`], of entities and with options that are no text.
    ///
    /// # Errors
    ///
    /// As [`Sets::bind`]; [`ErrorKind::Forbidden`] without the set's permission.
    pub fn reading_of<'a>(
        &'a self,
        ctx: &Context,
        source: Source,
        options: &QueryOptions,
    ) -> Result<Reading<'a>> {
        let ctx = self.budgeted(ctx);
        self.require_view(&ctx, source.set())?;
        let query = self.bind(&ctx, source.set(), options, None)?;
        if query.skip_token.is_some() {
            let message = "a read that isn't paged takes no `$skiptoken`";
            return Err(Error::malformed(message).target("$skiptoken"));
        }
        Ok(Reading { sets: self, ctx, source, query })
    }

    fn budgeted(&self, ctx: &Context) -> Context {
        match ctx.budget() {
            Some(_) => ctx.clone(),
            None => ctx.clone().within(Budget::new(self.settings.budget())),
        }
    }
}

impl Reading<'_> {
    /// The columns of each row: [`Row::values`](super::Row::values) are theirs.
    #[must_use]
    pub fn columns(&self) -> Vec<ReadingColumn> {
        let described = self.sets.model().entity_type(self.query.entity_type);
        let select = &self.query.select;
        let is_entity = self.query.row.entity_type.is_some();
        let properties = select.properties.iter().filter(|_| is_entity).map(|index| {
            let property = described.property(*index);
            ReadingColumn { name: property.name.clone(), ty: property.ty }
        });
        let computed = select.columns.iter().map(|index| {
            let column = &self.query.row.columns[*index];
            // A computed number comes as a decimal, whatever it was computed of.
            let ty = match column.ty {
                PropertyType::Primitive(ty) if ty.is_numeric() => PrimitiveType::Decimal.into(),
                ty => ty,
            };
            ReadingColumn { name: column.name.clone(), ty }
        });
        properties.chain(computed).collect()
    }

    /// Whether related entities stand within its rows, which only JSON has.
    #[must_use]
    pub fn has_related(&self) -> bool {
        !self.query.expand.is_empty()
    }

    /// How many there are that hold the conditions, whatever `$top` and `$skip` say.
    ///
    /// # Errors
    ///
    /// A fault of the database.
    pub async fn count(&self) -> Result<u64> {
        self.sets.count(&self.ctx, &self.source, &self.query).await
    }

    /// Begins to read, for those who read piece by piece.
    ///
    /// # Errors
    ///
    /// As [`Sets::open_page`].
    pub async fn open(&self) -> Result<PageReader<'_>> {
        let request = PageRequest {
            query: &self.query,
            after: None,
            skip: self.query.skip.unwrap_or(0),
            take: self.query.top.unwrap_or(u64::from(u32::MAX)),
            tells_next: false,
            etags: false,
        };
        self.sets.open_page(&self.ctx, &self.source, request).await
    }

    /// Reads all rows into a sink.
    ///
    /// # Errors
    ///
    /// A fault of the database, more than the budget allows, or what the sink says.
    pub async fn read<S: RowSink + ?Sized>(&self, sink: &mut S) -> Result<()> {
        let mut reader = self.open().await?;
        while reader.read_next(sink).await? {}
        Ok(())
    }
}

fn wrong_reference() -> Error {
    Error::malformed("a reference isn't an address of an entity of this service")
        .target("@odata.id")
}

fn unreadable(error: &SyntaxError) -> Error {
    Error::malformed(error.to_string())
}

fn nested_apply(query: &BoundQuery) -> bool {
    let nested = |expand: &BoundExpand| expand.query.apply.is_some() || nested_apply(&expand.query);
    query.expand.iter().any(nested)
}

/// Spends what was bound.
fn spend(ctx: &Context, cost: Cost) -> Result<()> {
    ctx.spend(Expense::NavigationSteps, cost.navigation_steps as u64)?;
    ctx.spend(Expense::SearchWords, cost.search_words as u64)
}

/// The setting that a limit comes from.
fn setting_of(limit: Limit) -> &'static str {
    match limit {
        Limit::ExpandDepth => "MaxExpandDepth",
        Limit::Expands => "MaxExpands",
        Limit::SelectItems => "MaxSelectItems",
        Limit::OrderByItems => "MaxOrderByItems",
        Limit::Nodes => "MaxNodes",
        Limit::Depth => "MaxDepth",
        Limit::NavigationSteps => "MaxNavigationSteps",
        Limit::CollectionDepth => "MaxCollectionDepth",
        Limit::SearchWords => "MaxSearchWords",
        Limit::SearchWordLength => "MaxSearchWordLength",
        Limit::CaseChanges => "MaxCaseChanges",
        Limit::JoinedTexts => "MaxJoinedTexts",
        Limit::Transformations => "MaxTransformations",
    }
}

#[expect(clippy::needless_pass_by_value, reason = "it is handed to `map_err`")]
fn refused(error: BindError) -> Error {
    let kind = match error.status() {
        404 => ErrorKind::NotFound,
        501 => ErrorKind::NotImplemented,
        _ => ErrorKind::Malformed,
    };
    let message = match &error.kind {
        BindErrorKind::TooMuch { limit, .. } => {
            format!("{error} (`Svc:OData:{}`)", setting_of(*limit))
        }
        _ => error.to_string(),
    };
    let refusal = Error::new(kind, message);
    match error.option {
        Some(option) => refusal.target(option),
        None => refusal,
    }
}
