//! Properties and their types.

use super::{EnumIndex, Measure};

macro_rules! primitive_types {
    ($($(#[$doc:meta])* $variant:ident $name:literal,)*) => {
        /// A primitive type of OData (CSDL 4.01, 3.3).
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum PrimitiveType {
            $($(#[$doc])* $variant,)*
        }

        impl PrimitiveType {
            /// Every primitive type.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// The qualified name, `Edm.String`.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }
        }
    };
}

primitive_types! {
    /// Bytes.
    Binary "Edm.Binary",
    /// True or false.
    Boolean "Edm.Boolean",
    /// 0 to 255.
    Byte "Edm.Byte",
    /// A day.
    Date "Edm.Date",
    /// A moment with its offset from UTC.
    DateTimeOffset "Edm.DateTimeOffset",
    /// A decimal number, exact.
    Decimal "Edm.Decimal",
    /// IEEE 754 binary64.
    Double "Edm.Double",
    /// A signed length of time.
    Duration "Edm.Duration",
    /// A 128-bit identifier.
    Guid "Edm.Guid",
    /// -32768 to 32767.
    Int16 "Edm.Int16",
    /// 32 bits, signed.
    Int32 "Edm.Int32",
    /// 64 bits, signed.
    Int64 "Edm.Int64",
    /// -128 to 127.
    SByte "Edm.SByte",
    /// IEEE 754 binary32.
    Single "Edm.Single",
    /// A stream of bytes, read and written apart from its entity.
    Stream "Edm.Stream",
    /// Text.
    String "Edm.String",
    /// A time of day.
    TimeOfDay "Edm.TimeOfDay",
}

impl PrimitiveType {
    /// The type of this qualified name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|known| known.name() == name)
    }

    /// Whether it holds whole numbers only.
    #[must_use]
    pub fn is_integer(self) -> bool {
        matches!(self, Self::Byte | Self::SByte | Self::Int16 | Self::Int32 | Self::Int64)
    }

    /// Whether it holds numbers.
    #[must_use]
    pub fn is_numeric(self) -> bool {
        self.is_integer() || matches!(self, Self::Decimal | Self::Double | Self::Single)
    }
}

/// What a property holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PropertyType {
    /// A primitive value.
    Primitive(PrimitiveType),
    /// A member of an enumeration.
    Enum(EnumIndex),
    /// Any JSON (`Edm.Untyped`): returned and stored as it is, not filtered or ordered by.
    Untyped,
}

impl From<PrimitiveType> for PropertyType {
    fn from(primitive: PrimitiveType) -> Self {
        Self::Primitive(primitive)
    }
}

/// Who writes a property.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Access {
    /// The caller, on create and update.
    #[default]
    ReadWrite,
    /// The caller, on create only (`Core.Immutable`).
    Immutable,
    /// The service on create and update; what a caller sends is ignored (`Core.Computed`).
    Computed,
    /// Nobody through this service (`Core.Permissions` `Read`); what a caller sends is ignored.
    ReadOnly,
}

/// A structural property of an entity type.
#[derive(Debug, Clone, PartialEq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent facts that metadata states one by one"
)]
pub struct Property {
    /// The name in URLs and payloads.
    pub name: String,
    /// What it holds.
    pub ty: PropertyType,
    /// Whether it holds a list of that.
    pub collection: bool,
    /// Whether it can be null; of a list, whether its items can be. A list itself never is.
    pub nullable: bool,
    /// Most characters of a text or bytes of a binary.
    pub max_length: Option<u32>,
    /// Most significant digits of a decimal; digits of a second's fraction.
    pub precision: Option<u32>,
    /// Most digits after the decimal point; none means any number.
    pub scale: Option<u32>,
    /// Who writes it.
    pub access: Access,
    /// Whether the service chooses a value when a create has none (`Core.ComputedDefaultValue`).
    pub computed_default: bool,
    /// The value of a create that has none, in CSDL's form.
    pub default_value: Option<String>,
    /// One line about it (`Core.Description`).
    pub description: Option<String>,
    /// Whether `$filter` can name it.
    pub filterable: bool,
    /// Whether `$orderby` can name it.
    pub sortable: bool,
    /// Whether `$search` looks at it.
    pub searchable: bool,
    /// Whether it is returned only where `$select` names it.
    pub on_request: bool,
    /// Whether people narrow lists by its values, so that counts of each are of use.
    pub facet: bool,
    /// The least value (`Validation.Minimum`), in CSDL's form.
    pub minimum: Option<String>,
    /// The greatest value (`Validation.Maximum`), in CSDL's form.
    pub maximum: Option<String>,
    /// The regular expression that a text matches (`Validation.Pattern`).
    pub pattern: Option<String>,
    /// The only values it can have (`Validation.AllowedValues`); empty for any.
    pub allowed_values: Vec<AllowedValue>,
    /// In which currency or unit its numbers are.
    pub measure: Option<Measure>,
    /// What its values mean, beyond their type, by the name that clients know: `email`. Where JSON Schema has a `format` for such values, it is that
    /// one's.
    pub semantic_type: Option<String>,
    /// The permission that reading it takes, for metadata.
    pub read_permission: Option<String>,
}

impl Property {
    /// Whether the caller says it on create.
    #[must_use]
    pub fn is_sent_on_create(&self) -> bool {
        matches!(self.access, Access::ReadWrite | Access::Immutable)
    }

    /// Whether a create can do without it. What not everybody sees, not everybody can send.
    #[must_use]
    pub fn may_be_left_out(&self) -> bool {
        self.nullable
            || self.collection
            || self.computed_default
            || self.default_value.is_some()
            || self.read_permission.is_some()
    }

    /// A property that is required, writable, and can be filtered and ordered by.
    #[must_use]
    pub fn new(name: impl Into<String>, ty: impl Into<PropertyType>) -> Self {
        Self {
            name: name.into(),
            ty: ty.into(),
            collection: false,
            nullable: false,
            max_length: None,
            precision: None,
            scale: None,
            access: Access::default(),
            computed_default: false,
            default_value: None,
            description: None,
            filterable: true,
            sortable: true,
            searchable: false,
            on_request: false,
            facet: false,
            minimum: None,
            maximum: None,
            pattern: None,
            allowed_values: Vec::new(),
            measure: None,
            semantic_type: None,
            read_permission: None,
        }
    }

    /// The same, also null.
    #[must_use]
    pub fn nullable(self) -> Self {
        Self { nullable: true, ..self }
    }

    /// The same with another access.
    #[must_use]
    pub fn with_access(self, access: Access) -> Self {
        Self { access, ..self }
    }
}

/// A value that a property can have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AllowedValue {
    /// The value.
    pub value: String,
    /// What it means.
    pub description: Option<String>,
}

/// An enumeration type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EnumType {
    /// The name, without namespace.
    pub name: String,
    /// Whether a value can be several members at once.
    pub flags: bool,
    /// The members in order.
    pub members: Vec<EnumMember>,
    /// One line about it.
    pub description: Option<String>,
}

/// A member of an enumeration type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EnumMember {
    /// The name.
    pub name: String,
    /// The number.
    pub value: i64,
    /// One line about it.
    pub description: Option<String>,
}
