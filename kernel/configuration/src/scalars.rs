//! The setting types that have no parts.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use crate::declare::SettingType;
use crate::duration;
use crate::given::Given;
use crate::problem::one_line;
use crate::reader::Reader;
use crate::tree::Scalar;

/// Makes a type a setting that is written as a text: any type with `FromStr` and `Display`.
///
/// The second argument says in messages what is expected. The display must not reveal a secret.
///
/// # Examples
/// ```
/// #[derive(Clone)]
/// pub struct Colour([u8; 3]);
/// # impl std::str::FromStr for Colour {
/// #     type Err = std::num::ParseIntError;
/// #     fn from_str(text: &str) -> Result<Self, Self::Err> {
/// #         let [_, red, green, blue] = u32::from_str_radix(text, 16)?.to_be_bytes();
/// #         Ok(Self([red, green, blue]))
/// #     }
/// # }
/// # impl std::fmt::Display for Colour {
/// #     fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
/// #         write!(formatter, "{:?}", self.0)
/// #     }
/// # }
///
/// svc_configuration::text_setting!(Colour, "a colour as six hexadecimal digits");
/// ```
#[macro_export]
macro_rules! text_setting {
    ($type:ty, $expected:expr) => {
        impl $crate::SettingType for $type {
            type Element = Self;
            const TEXTUAL: bool = true;

            fn expected(bounds: &str) -> String {
                format!("{} {bounds}", $expected).trim_end().to_owned()
            }

            fn read(
                given: &$crate::Given<'_>,
                _: Option<&Self>,
                reader: &mut $crate::Reader,
            ) -> Option<Self> {
                reader.text(given, |text| text.parse().ok())
            }

            fn elements(&self) -> Vec<(Option<String>, &Self::Element)> {
                vec![(None, self)]
            }

            fn show(&self) -> String {
                self.to_string()
            }
        }
    };
}

text_setting!(SocketAddr, "an address with a port such as `127.0.0.1:8080` or `[::1]:8080`");
text_setting!(IpAddr, "an address such as `127.0.0.1` or `::1`");

macro_rules! integer_setting {
    ($($type:ty),*) => {$(
        impl SettingType for $type {
            type Element = Self;

            fn expected(bounds: &str) -> String {
                match bounds {
                    "" if <$type>::BITS >= 64 && <$type>::MIN == 0 => {
                        "a whole number of at least 0".to_owned()
                    }
                    "" if <$type>::BITS >= 64 => "a whole number".to_owned(),
                    "" => format!("a whole number from {} to {}", <$type>::MIN, <$type>::MAX),
                    bounds => format!("a whole number {bounds}"),
                }
            }

            fn read(given: &Given<'_>, _: Option<&Self>, reader: &mut Reader) -> Option<Self> {
                reader.scalar(given, |scalar| match scalar {
                    Scalar::Untyped(text) => text.trim().parse().ok(),
                    Scalar::Integer(number) => Self::try_from(*number).ok(),
                    _ => None,
                })
            }

            fn elements(&self) -> Vec<(Option<String>, &Self::Element)> {
                vec![(None, self)]
            }

            fn show(&self) -> String {
                self.to_string()
            }
        }
    )*};
}

integer_setting!(u8, u16, u32, u64, usize, i32, i64);

impl SettingType for f64 {
    type Element = Self;

    fn expected(bounds: &str) -> String {
        format!("a number {bounds}").trim_end().to_owned()
    }

    fn read(given: &Given<'_>, _: Option<&Self>, reader: &mut Reader) -> Option<Self> {
        let parse = |text: &str| text.trim().parse().ok().filter(|number: &f64| number.is_finite());
        reader.scalar(given, |scalar| match scalar {
            Scalar::Untyped(text) => parse(text),
            // By way of its text, because an integer may need rounding.
            Scalar::Integer(number) => parse(&number.to_string()),
            Scalar::Float(number) => Some(*number).filter(|number| number.is_finite()),
            _ => None,
        })
    }

    fn elements(&self) -> Vec<(Option<String>, &Self::Element)> {
        vec![(None, self)]
    }

    fn show(&self) -> String {
        self.to_string()
    }
}

impl SettingType for bool {
    type Element = Self;

    fn expected(_: &str) -> String {
        "`true` or `false`".to_owned()
    }

    fn read(given: &Given<'_>, _: Option<&Self>, reader: &mut Reader) -> Option<Self> {
        reader.scalar(given, |scalar| match scalar {
            Scalar::Boolean(value) => Some(*value),
            Scalar::Untyped(text) => text.trim().to_ascii_lowercase().parse().ok(),
            _ => None,
        })
    }

    fn elements(&self) -> Vec<(Option<String>, &Self::Element)> {
        vec![(None, self)]
    }

    fn show(&self) -> String {
        self.to_string()
    }
}

impl SettingType for String {
    type Element = Self;
    const TEXTUAL: bool = true;

    fn expected(bounds: &str) -> String {
        format!("a text {bounds}").trim_end().to_owned()
    }

    fn read(given: &Given<'_>, _: Option<&Self>, reader: &mut Reader) -> Option<Self> {
        reader.text(given, |text| Some(text.to_owned()))
    }

    fn elements(&self) -> Vec<(Option<String>, &Self::Element)> {
        vec![(None, self)]
    }

    fn show(&self) -> String {
        one_line(self)
    }
}

impl SettingType for PathBuf {
    type Element = Self;
    const TEXTUAL: bool = true;

    fn expected(_: &str) -> String {
        "a path".to_owned()
    }

    fn read(given: &Given<'_>, _: Option<&Self>, reader: &mut Reader) -> Option<Self> {
        let is_path = |text: &str| !text.is_empty() && !text.contains('\0');
        reader.text(given, |text| is_path(text).then(|| PathBuf::from(text)))
    }

    fn elements(&self) -> Vec<(Option<String>, &Self::Element)> {
        vec![(None, self)]
    }

    fn show(&self) -> String {
        one_line(&self.display().to_string())
    }
}

impl SettingType for Duration {
    type Element = Self;
    const TEXTUAL: bool = true;

    fn expected(bounds: &str) -> String {
        format!("a duration `[d.]hh:mm:ss[.fff]` {bounds}").trim_end().to_owned()
    }

    fn read(given: &Given<'_>, _: Option<&Self>, reader: &mut Reader) -> Option<Self> {
        reader.text(given, |text| duration::parse(text).ok())
    }

    fn elements(&self) -> Vec<(Option<String>, &Self::Element)> {
        vec![(None, self)]
    }

    fn show(&self) -> String {
        duration::format(*self)
    }
}
