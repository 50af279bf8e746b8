//! How a module declares its section.

use std::any::{Any, TypeId};
use std::fmt;
use std::sync::Arc;

use crate::bounds::Bounds;
use crate::given::Given;
use crate::problem::SettingProblem;
use crate::reader::Reader;

/// A type that a field of a section can have.
///
/// [`text_setting!`](crate::text_setting) implements it for a type with `FromStr` and `Display`,
/// [`settings_choice!`](crate::settings_choice) for an enumeration, and
/// [`settings_group!`](crate::settings_group) for a table within a section.
pub trait SettingType: Sized + Clone + Send + Sync + 'static {
    /// What the bounds of a field apply to: the type itself, or that of the values inside.
    type Element: SettingType;
    /// Whether a value must not be shown in a message about it.
    const SECRET: bool = false;
    /// Whether a file writes the value in quotes.
    const TEXTUAL: bool = false;
    /// Whether what several sources gave is joined, instead of the last one winning.
    const MERGES: bool = false;

    /// What a value looks like; `bounds` are the field's limits in words and may be empty.
    fn expected(bounds: &str) -> String;

    /// Reads the value that the sources gave, or reports to `reader` why it cannot be.
    fn read(given: &Given<'_>, default: Option<&Self>, reader: &mut Reader) -> Option<Self>;

    /// The values that bounds apply to, each with the part of its key below this value's.
    fn elements(&self) -> Vec<(Option<String>, &Self::Element)>;

    /// The value on one line, masked where it is secret.
    fn show(&self) -> String;

    /// The value as it appears inside a list or a table.
    fn show_inside(&self) -> String {
        let shown = self.show();
        if Self::TEXTUAL {
            format!("\"{}\"", shown.replace('\\', "\\\\").replace('"', "\\\""))
        } else {
            shown
        }
    }

    /// The fields of a table, with their keys below the value's; other types have none.
    #[must_use]
    fn fields() -> Vec<FieldDescription> {
        Vec::new()
    }
}

/// What a field is declared to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldDescription {
    /// The key, from the section or group on: `Timeout`, `Providers:0:Title`.
    pub key: String,
    /// The default, masked where it is secret; none when a value is required.
    pub default: Option<String>,
    /// What a value looks like, bounds included.
    pub expected: String,
    /// What the field means.
    pub doc: String,
}

impl FieldDescription {
    /// The descriptions of a field and of the fields below it.
    ///
    /// Used by the code that [`settings_section!`](crate::settings_section) writes.
    #[must_use]
    pub fn of<T: SettingType>(
        key: &str,
        doc: String,
        default: Option<&T>,
        bounds: &[Bounds<T::Element>],
    ) -> Vec<Self> {
        let bounds: Vec<&str> = bounds.iter().map(Bounds::description).collect();
        let field = Self {
            key: key.to_owned(),
            default: default.map(SettingType::show),
            expected: T::expected(&bounds.join(" and ")),
            doc,
        };
        [vec![field], Self::below(key, T::fields())].concat()
    }

    /// The same fields with `key` before their keys.
    pub(crate) fn below(key: &str, fields: Vec<Self>) -> Vec<Self> {
        let lower = |field: Self| Self { key: format!("{key}:{}", field.key), ..field };
        fields.into_iter().map(lower).collect()
    }
}

/// A section of the configuration; declared with [`settings_section!`](crate::settings_section).
pub trait Section: SettingType + Default {
    /// The full name, such as `Svc:Webhooks`.
    const NAME: &'static str;

    /// What the section is about.
    #[must_use]
    fn doc() -> String;

    /// Checks what no field can check alone.
    fn validate(&self, problems: &mut SectionProblems) {
        let _ = problems;
    }
}

/// What [`Section::validate`] found.
#[derive(Debug, Default)]
pub struct SectionProblems {
    found: Vec<(String, String)>,
}

impl SectionProblems {
    /// Adds a problem with the field `key` (such as `MaxRetryDelay`); `expected` completes the
    /// sentence "expected …".
    pub fn add(&mut self, key: impl Into<String>, expected: impl fmt::Display) {
        self.found.push((key.into(), format!("expected {expected}")));
    }
}

/// A section's name, type and way to be read, as a value that a registry can collect.
#[derive(Clone, Copy, Debug)]
pub struct SectionDeclaration {
    name: &'static str,
    type_id: TypeId,
    type_name: &'static str,
    doc: fn() -> String,
    fields: fn() -> Vec<FieldDescription>,
    read: fn(&Given<'_>, &mut Reader) -> Arc<dyn Any + Send + Sync>,
}

impl SectionDeclaration {
    /// The declaration of `S`.
    #[must_use]
    pub fn of<S: Section>() -> Self {
        Self {
            name: S::NAME,
            type_id: TypeId::of::<S>(),
            type_name: std::any::type_name::<S>(),
            doc: S::doc,
            fields: S::fields,
            read: |given, reader| Arc::new(read_section::<S>(given, reader)),
        }
    }

    /// The full name, such as `Svc:Webhooks`.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// What the section is about.
    #[must_use]
    pub fn doc(&self) -> String {
        (self.doc)()
    }

    /// What its fields are declared to be.
    #[must_use]
    pub fn fields(&self) -> Vec<FieldDescription> {
        (self.fields)()
    }

    pub(crate) fn type_id(&self) -> TypeId {
        self.type_id
    }

    pub(crate) fn type_name(&self) -> &'static str {
        self.type_name
    }

    pub(crate) fn read(
        &self,
        given: &Given<'_>,
        reader: &mut Reader,
    ) -> Arc<dyn Any + Send + Sync> {
        (self.read)(given, reader)
    }
}

fn read_section<S: Section>(given: &Given<'_>, reader: &mut Reader) -> S {
    let section = S::read(given, None, reader).unwrap_or_default();
    // Fields that are wrong were replaced by defaults, and a comparison with those would mislead.
    if reader.problems().is_empty() {
        let mut problems = SectionProblems::default();
        section.validate(&mut problems);
        for (key, message) in problems.found {
            report_validation(S::NAME, &key, message, reader);
        }
    }
    section
}

fn report_validation(section: &str, key: &str, message: String, reader: &mut Reader) {
    let key = format!("{section}:{key}");
    let known = reader.effective().iter().find(|field| field.key == key);
    let problem = SettingProblem {
        value: known.map(|field| field.value.clone()),
        source: known.map(|field| field.source.clone()),
        key: Some(key),
        message,
    };
    reader.report(problem);
}

/// The key of a field: `first_retry_delay` is `FirstRetryDelay` in files.
#[doc(hidden)]
#[must_use]
pub fn key_of(field: &str) -> String {
    field
        .trim_start_matches("r#")
        .split('_')
        .flat_map(|word| {
            let mut letters = word.chars();
            letters.next().map(|first| first.to_ascii_uppercase()).into_iter().chain(letters)
        })
        .collect()
}

/// Joins the lines of a documentation comment to one paragraph.
#[doc(hidden)]
#[must_use]
pub fn document(lines: &[&str]) -> String {
    let lines: Vec<&str> =
        lines.iter().map(|line| line.trim()).filter(|line| !line.is_empty()).collect();
    lines.join(" ")
}

/// Declares a section of the configuration as a table of its fields.
///
/// Each field has a documentation comment (meaning, unit, what zero means), a type, a default, and
/// any number of bounds; its key in files is the name in Pascal case. Functions of
/// [`units`](crate::units) and the bounds [`within`](crate::within),
/// [`at_least`](crate::at_least), [`at_most`](crate::at_most) and
/// [`length`](crate::length) are in scope. What concerns several fields is checked by an
/// optional `validate`.
///
/// # Examples
/// ```
/// use std::{collections::BTreeMap, time::Duration};
///
/// svc_configuration::settings_section! {
///     /// Attempts to reach other systems.
///     pub struct RetrySettings in "Svc:Retry" {
///         /// Attempts, the first included.
///         pub max_attempts: u32 = 6, within(1..=100);
///         /// Delay after the first failure.
///         pub first_delay: Duration = seconds(30), at_least(seconds(1));
///         /// Longest delay. Zero means no limit.
///         pub max_delay: Duration = hours(6), at_least(minutes(1)).or(seconds(0));
///         /// Names of events by their type.
///         pub events: BTreeMap<String, String> = [("A".to_owned(), "a".to_owned())].into();
///     }
///     validate: |settings, problems| {
///         if settings.max_delay > Duration::ZERO && settings.max_delay < settings.first_delay {
///             problems.add("MaxDelay", "at least `FirstDelay`");
///         }
///     };
/// }
///
/// assert_eq!(RetrySettings::default().max_attempts, 6);
/// ```
#[macro_export]
macro_rules! settings_section {
    (
        $(#[doc = $doc:expr])*
        $vis:vis struct $name:ident in $section:literal {
            $(
                $(#[doc = $field_doc:expr])+
                $field_vis:vis $field:ident : $type:ty = $default:expr $(, $bounds:expr)*;
            )*
        }
        $(validate: $validate:expr;)?
    ) => {
        $crate::settings_group! {
            $(#[doc = $doc])*
            $vis struct $name {
                $(
                    $(#[doc = $field_doc])+
                    $field_vis $field: $type = $default $(, $bounds)*;
                )*
            }
        }

        impl ::std::default::Default for $name {
            fn default() -> Self {
                #[allow(unused_imports, reason = "for the defaults of the declaration")]
                use $crate::units::{
                    days, hours, kibibytes, mebibytes, milliseconds, minutes, seconds,
                };
                Self { $($field: $default,)* }
            }
        }

        impl $crate::Section for $name {
            const NAME: &'static str = $section;

            fn doc() -> String {
                $crate::document(&[$($doc),*])
            }

            $(fn validate(&self, problems: &mut $crate::SectionProblems) {
                let validate: fn(&Self, &mut $crate::SectionProblems) = $validate;
                validate(self, problems);
            })?
        }
    };
}

/// Declares a table within a section, such as one item of a list of sign-in providers.
///
/// The fields are written as in [`settings_section!`](crate::settings_section), but one without a
/// default must be given. The type can then be that of a field, or of the items of a list or a map.
///
/// # Examples
/// ```
/// use svc_configuration::Secret;
///
/// svc_configuration::settings_group! {
///     /// A provider of accounts.
///     pub struct Provider {
///         /// Name on the sign-in page.
///         pub title: String, length(1..=100);
///         /// What proves the application to the provider.
///         pub client_secret: Option<Secret> = None;
///     }
/// }
/// svc_configuration::settings_section! {
///     /// Signing in.
///     pub struct SignInSettings in "Svc:SignIn" {
///         /// Other providers of accounts.
///         pub providers: Vec<Provider> = vec![];
///     }
/// }
/// assert!(SignInSettings::default().providers.is_empty());
/// ```
#[macro_export]
macro_rules! settings_group {
    (
        $(#[doc = $doc:expr])*
        $vis:vis struct $name:ident {
            $(
                $(#[doc = $field_doc:expr])+
                $field_vis:vis $field:ident : $type:ty $(= $default:expr)? $(, $bounds:expr)*;
            )*
        }
    ) => {
        $(#[doc = $doc])*
        #[derive(Clone, Debug)]
        #[allow(clippy::struct_excessive_bools, reason = "settings are switches")]
        $vis struct $name {
            $($(#[doc = $field_doc])+ $field_vis $field: $type,)*
        }

        impl $crate::SettingType for $name {
            type Element = Self;
            const MERGES: bool = true;

            fn expected(_: &str) -> String {
                let keys: Vec<String> = vec![
                    $(format!("`{}`", $crate::key_of(stringify!($field))),)*
                ];
                format!("a table with the keys {}", keys.join(", "))
            }

            fn read(
                given: &$crate::Given<'_>,
                default: Option<&Self>,
                reader: &mut $crate::Reader,
            ) -> Option<Self> {
                #[allow(unused_imports, reason = "for defaults and bounds of the declaration")]
                use $crate::{
                    at_least, at_most, length, within,
                    units::{days, hours, kibibytes, mebibytes, milliseconds, minutes, seconds},
                };
                let keys = [$($crate::key_of(stringify!($field)),)*];
                if !reader.enter_table(given, &keys) {
                    return None;
                }
                // All fields are read before one that is missing ends it, so that all are told, and
                // before one has its name, which may be that of a function in a later bound.
                let ($($field,)*) = ($(reader.field::<$type>(
                    given,
                    &$crate::key_of(stringify!($field)),
                    &$crate::document(&[$($field_doc),+]),
                    default
                        .map(|default| default.$field.clone())
                        .or_else(|| $crate::__setting_default!($($default)?))
                        .as_ref(),
                    &[$($bounds,)*],
                ),)*);
                Some(Self { $($field: $field?,)* })
            }

            fn fields() -> Vec<$crate::FieldDescription> {
                #[allow(unused_imports, reason = "for defaults and bounds of the declaration")]
                use $crate::{
                    at_least, at_most, length, within,
                    units::{days, hours, kibibytes, mebibytes, milliseconds, minutes, seconds},
                };
                let fields: Vec<Vec<$crate::FieldDescription>> = vec![
                    $($crate::FieldDescription::of::<$type>(
                        &$crate::key_of(stringify!($field)),
                        $crate::document(&[$($field_doc),+]),
                        $crate::__setting_default!($($default)?).as_ref(),
                        &[$($bounds,)*],
                    ),)*
                ];
                fields.concat()
            }

            fn elements(&self) -> Vec<(Option<String>, &Self::Element)> {
                vec![(None, self)]
            }

            fn show(&self) -> String {
                let fields: Vec<String> = vec![
                    $(format!(
                        "{} = {}",
                        $crate::key_of(stringify!($field)),
                        $crate::SettingType::show_inside(&self.$field),
                    ),)*
                ];
                format!("{{ {} }}", fields.join(", "))
            }
        }
    };
}

/// The declared default of a field, if there is one.
#[doc(hidden)]
#[macro_export]
macro_rules! __setting_default {
    () => {
        None
    };
    ($default:expr) => {
        Some($default)
    };
}

#[cfg(test)]
mod tests {
    use super::{document, key_of};

    #[test]
    fn keys_are_pascal_case() {
        for (field, key) in [
            ("timeout", "Timeout"),
            ("first_retry_delay", "FirstRetryDelay"),
            ("s3_bucket", "S3Bucket"),
            ("r#type", "Type"),
        ] {
            assert_eq!(key_of(field), key);
        }
    }

    #[test]
    fn a_comment_becomes_one_paragraph() {
        assert_eq!(
            document(&[" First line", " goes on.", "", " More."]),
            "First line goes on. More."
        );
    }
}
