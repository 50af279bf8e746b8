//! What a set can do and what that takes.

/// The permissions that the verbs of a set take; `None` where none is needed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SetPermissions {
    /// To read.
    pub read: Option<String>,
    /// To create.
    pub insert: Option<String>,
    /// To change.
    pub update: Option<String>,
    /// To delete.
    pub delete: Option<String>,
}

/// What a set can do (`Org.OData.Capabilities.V1`); everything by default.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent facts that metadata states one by one"
)]
pub struct Capabilities {
    /// `GET` of the set.
    pub readable: bool,
    /// `GET` of one entity by its key.
    pub readable_by_key: bool,
    /// `POST`.
    pub insertable: bool,
    /// `POST` with related entities within.
    pub deep_insert: bool,
    /// `PATCH` and `PUT`.
    pub updatable: bool,
    /// `PATCH` or `PUT` of a key that does not exist creates it.
    pub upsert: bool,
    /// `DELETE`.
    pub deletable: bool,
    /// `$filter`.
    pub filterable: bool,
    /// `$orderby`.
    pub sortable: bool,
    /// `$search`.
    pub searchable: bool,
    /// `$count`.
    pub countable: bool,
    /// `$expand`.
    pub expandable: bool,
    /// Most levels of `$expand`; none means any number.
    pub max_expand_levels: Option<u32>,
    /// `$select`.
    pub selectable: bool,
    /// `$compute`.
    pub computable: bool,
    /// `$apply`.
    pub aggregatable: bool,
    /// `$top`.
    pub top: bool,
    /// `$skip`.
    pub skip: bool,
}

impl Default for Capabilities {
    fn default() -> Self {
        Self {
            readable: true,
            readable_by_key: true,
            insertable: true,
            deep_insert: true,
            updatable: true,
            upsert: false,
            deletable: true,
            filterable: true,
            sortable: true,
            searchable: true,
            countable: true,
            expandable: true,
            max_expand_levels: None,
            selectable: true,
            computable: true,
            aggregatable: true,
            top: true,
            skip: true,
        }
    }
}
