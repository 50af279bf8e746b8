//! Which Rust types are parameters and results of operations, and what they are in OData.

use std::any::TypeId;

use rust_decimal::Decimal;
use sea_orm::sea_query::ValueType;
use sea_orm::{ActiveEnum, EntityTrait, ModelTrait, PrimaryKeyToColumn as _};
use serde::Serialize;
use svc_core::Error;
use time::{Date, OffsetDateTime, Time};
use uuid::Uuid;

use super::form::{Literal, OutcomeForm, ParameterInfo, Returned, ValueForm};
use crate::names::camel_case;
use crate::value::{Enumeration, ValueKind, to_column};

/// A single value: a boolean, `i16`, `i32`, `i64`, `f64`, [`Decimal`], [`String`], [`Uuid`],
/// [`OffsetDateTime`], [`Date`], [`Time`], bytes, JSON or a [`Member`] of an enumeration.
pub trait Scalar: Sized + Send + 'static {
    /// The type of its values.
    ///
    /// # Errors
    ///
    /// What keeps a Rust type from being an enumeration.
    fn kind() -> Result<ValueKind, Vec<String>>;

    /// The value of a literal that was bound or checked as one of this type.
    fn of(literal: &Literal) -> Option<Self>;

    /// The value for an answer.
    fn into_literal(self) -> Literal;
}

/// What a parameter can be and an operation can return: a [`Scalar`], an option or a list of one.
pub trait OperationValue: Sized + Send + 'static {
    /// What it is in OData.
    ///
    /// # Errors
    ///
    /// As [`Scalar::kind`].
    fn form() -> Result<ValueForm, Vec<String>>;

    /// The value of a literal that was bound or checked as one of this type.
    fn of(literal: &Literal) -> Option<Self>;

    /// The value for an answer.
    fn into_literal(self) -> Literal;
}

macro_rules! scalars {
    ($($type:ty = $kind:expr, |$value:ident| $literal:expr;)*) => {
        $(
            impl Scalar for $type {
                fn kind() -> Result<ValueKind, Vec<String>> {
                    Ok($kind)
                }

                fn of(literal: &Literal) -> Option<Self> {
                    let value = to_column($kind, literal)?;
                    <$type as ValueType>::try_from(value).ok()
                }

                fn into_literal(self) -> Literal {
                    let $value = self;
                    $literal
                }
            }

            impl OperationValue for $type {
                fn form() -> Result<ValueForm, Vec<String>> {
                    Ok(ValueForm { kind: $kind, many: false, nullable: false })
                }

                fn of(literal: &Literal) -> Option<Self> {
                    <$type as Scalar>::of(literal)
                }

                fn into_literal(self) -> Literal {
                    Scalar::into_literal(self)
                }
            }
        )*
    };
}

scalars! {
    bool = ValueKind::Boolean, |value| Literal::Boolean(value);
    i16 = ValueKind::Int16, |value| Literal::Integer(value.into());
    i32 = ValueKind::Int32, |value| Literal::Integer(value.into());
    i64 = ValueKind::Int64, |value| Literal::Integer(value);
    f64 = ValueKind::Double, |value| Literal::Double(value);
    Decimal = ValueKind::Decimal { precision: 28, scale: 28 }, |value| Literal::Decimal(value.normalize());
    String = ValueKind::Text { max: None }, |value| Literal::String(value);
    Uuid = ValueKind::Uuid, |value| Literal::Guid(value);
    OffsetDateTime = ValueKind::Timestamp, |value| Literal::DateTimeOffset(value);
    Date = ValueKind::Date, |value| Literal::Date(value);
    Time = ValueKind::Time, |value| Literal::TimeOfDay(value);
    Vec<u8> = ValueKind::Bytes, |value| Literal::Binary(value);
    serde_json::Value = ValueKind::Json, |value| Literal::Json(value);
}

/// A member of an enumeration as a parameter or result of an operation. Over OData it is told and
/// written by its name, as the values of properties are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Member<E>(pub E);

impl<E: ActiveEnum + Serialize + Send + 'static> Scalar for Member<E> {
    fn kind() -> Result<ValueKind, Vec<String>> {
        Enumeration::of::<E>().map(ValueKind::Enumeration)
    }

    fn of(literal: &Literal) -> Option<Self> {
        let stored = to_column(Self::kind().ok()?, literal)?;
        let stored = <E::Value as ValueType>::try_from(stored).ok()?;
        E::try_from_value(&stored).ok().map(Self)
    }

    fn into_literal(self) -> Literal {
        let stored = self.0.to_value().into();
        let name = Enumeration::of::<E>().ok().and_then(|members| members.name_of(&stored));
        name.map_or(Literal::Null, Literal::String)
    }
}

impl<E: ActiveEnum + Serialize + Send + 'static> OperationValue for Member<E> {
    fn form() -> Result<ValueForm, Vec<String>> {
        Ok(ValueForm { kind: <Self as Scalar>::kind()?, many: false, nullable: false })
    }

    fn of(literal: &Literal) -> Option<Self> {
        <Self as Scalar>::of(literal)
    }

    fn into_literal(self) -> Literal {
        Scalar::into_literal(self)
    }
}

impl<T: Scalar> OperationValue for Option<T> {
    fn form() -> Result<ValueForm, Vec<String>> {
        Ok(ValueForm { kind: T::kind()?, many: false, nullable: true })
    }

    fn of(literal: &Literal) -> Option<Self> {
        match literal {
            Literal::Null => Some(None),
            literal => T::of(literal).map(Some),
        }
    }

    fn into_literal(self) -> Literal {
        self.map_or(Literal::Null, T::into_literal)
    }
}

impl<T: Scalar> OperationValue for Vec<T> {
    fn form() -> Result<ValueForm, Vec<String>> {
        Ok(ValueForm { kind: T::kind()?, many: true, nullable: false })
    }

    fn of(literal: &Literal) -> Option<Self> {
        match literal {
            Literal::Collection(items) => items.iter().map(T::of).collect(),
            _ => None,
        }
    }

    fn into_literal(self) -> Literal {
        Literal::Collection(self.into_iter().map(T::into_literal).collect())
    }
}

impl ParameterInfo {
    /// A parameter from a field of [`operation_parameters!`](crate::operation_parameters).
    ///
    /// # Errors
    ///
    /// As [`Scalar::kind`].
    pub fn of<T: OperationValue>(field: &str, doc: &[&str]) -> Result<Self, Vec<String>> {
        let lines: Vec<&str> =
            doc.iter().map(|line| line.trim()).filter(|line| !line.is_empty()).collect();
        let name = camel_case(field.trim_start_matches("r#"));
        Ok(Self { name, form: T::form()?, description: lines.join(" ") })
    }
}

/// The parameters of an operation; `()` for none. [`operation_parameters!`] declares others.
///
/// [`operation_parameters!`]: crate::operation_parameters
pub trait Parameters: Sized + Send + 'static {
    /// The parameters in their order.
    ///
    /// # Errors
    ///
    /// As [`Scalar::kind`].
    fn describe() -> Result<Vec<ParameterInfo>, Vec<String>>;

    /// The parameters of a call, in the order of [`Parameters::describe`].
    fn of(values: &[Literal]) -> Option<Self>;
}

impl Parameters for () {
    fn describe() -> Result<Vec<ParameterInfo>, Vec<String>> {
        Ok(Vec::new())
    }

    fn of(_: &[Literal]) -> Option<Self> {
        Some(())
    }
}

/// Declares the parameters of an operation: a struct whose fields are values, options or lists of
/// them. Each has a documentation comment, which the metadata repeats.
///
/// # Examples
/// ```
/// use svc_data::operation::Parameters as _;
///
/// svc_data::operation_parameters! {
///     /// What a supplier has delivered.
///     #[derive(Clone, Debug)]
///     pub struct Delivery {
///         /// How many units.
///         pub quantity: i32,
///         /// What one unit cost; none keeps what it cost before.
///         pub unit_cost: Option<f64>,
///     }
/// }
///
/// assert_eq!(Delivery::describe()?[1].name, "unitCost");
/// # Ok::<(), Vec<String>>(())
/// ```
#[macro_export]
macro_rules! operation_parameters {
    (
        $(#[$attribute:meta])*
        $vis:vis struct $name:ident {
            $($(#[doc = $doc:expr])+ $field_vis:vis $field:ident : $type:ty),+ $(,)?
        }
    ) => {
        $(#[$attribute])*
        $vis struct $name {
            $($(#[doc = $doc])+ $field_vis $field: $type,)+
        }

        impl $crate::operation::Parameters for $name {
            fn describe() -> ::std::result::Result<
                ::std::vec::Vec<$crate::operation::ParameterInfo>,
                ::std::vec::Vec<::std::string::String>,
            > {
                ::std::result::Result::Ok(::std::vec![
                    $($crate::operation::ParameterInfo::of::<$type>(
                        ::std::stringify!($field),
                        &[$($doc),+],
                    )?,)+
                ])
            }

            fn of(values: &[$crate::operation::Literal]) -> ::std::option::Option<Self> {
                let mut values = values.iter();
                ::std::option::Option::Some(Self {
                    $($field: <$type as $crate::operation::OperationValue>::of(values.next()?)?,)+
                })
            }
        }
    };
}

/// What an operation can return: nothing, a value, or entities of a set ([`One`], [`Many`]).
pub trait Outcome: Send + 'static {
    /// What it is in OData.
    ///
    /// # Errors
    ///
    /// As [`Scalar::kind`].
    fn form() -> Result<OutcomeForm, Vec<String>>;

    /// What is to be answered.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Internal`](svc_core::ErrorKind::Internal) for an entity without a key.
    fn returned(self) -> svc_core::Result<Returned>;
}

impl Outcome for () {
    fn form() -> Result<OutcomeForm, Vec<String>> {
        Ok(OutcomeForm::Nothing)
    }

    fn returned(self) -> svc_core::Result<Returned> {
        Ok(Returned::Nothing)
    }
}

impl<T: OperationValue> Outcome for T {
    fn form() -> Result<OutcomeForm, Vec<String>> {
        T::form().map(OutcomeForm::Value)
    }

    fn returned(self) -> svc_core::Result<Returned> {
        Ok(Returned::Value(self.into_literal()))
    }
}

/// One entity of a set as the result of an operation. It is answered as the set returns it to the
/// caller, with `$select` and `$expand`; to who may not see it the operation returns nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct One<M>(pub M);

/// Entities of a set as the result of an operation. Those that the caller may not see are left
/// out; all query options of the set can be used on the others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Many<M>(pub Vec<M>);

impl<M: ModelTrait + Send + 'static> Outcome for One<M> {
    fn form() -> Result<OutcomeForm, Vec<String>> {
        let entity = TypeId::of::<M::Entity>();
        Ok(OutcomeForm::Entities { entity, many: false, nullable: true })
    }

    fn returned(self) -> svc_core::Result<Returned> {
        Ok(Returned::Entities(vec![key_of(&self.0)?]))
    }
}

impl<M: ModelTrait + Send + 'static> Outcome for Many<M> {
    fn form() -> Result<OutcomeForm, Vec<String>> {
        let entity = TypeId::of::<M::Entity>();
        Ok(OutcomeForm::Entities { entity, many: true, nullable: false })
    }

    fn returned(self) -> svc_core::Result<Returned> {
        self.0.iter().map(key_of).collect::<svc_core::Result<_>>().map(Returned::Entities)
    }
}

fn key_of<M: ModelTrait>(model: &M) -> svc_core::Result<sea_orm::Value> {
    let key = <<M::Entity as EntityTrait>::PrimaryKey as sea_orm::Iterable>::iter().next();
    let key = key.ok_or_else(|| Error::internal("an operation returned what has no key"))?;
    Ok(model.get(key.into_column()))
}
