//! Settings that choose one of several names.

/// Declares an enumeration whose values a setting can take, each with its name in files.
///
/// Names match without regard to case. The type implements `Display`, `FromStr`, `Serialize` (all
/// by name) and [`SettingType`](crate::SettingType).
///
/// # Examples
/// ```
/// svc_configuration::settings_choice! {
///     /// What a commit waits for.
///     pub enum Durability {
///         /// The operating system has the data.
///         Normal = "normal",
///         /// The disk has the data.
///         Full = "full",
///     }
/// }
///
/// assert_eq!("Full".parse(), Ok(Durability::Full));
/// assert_eq!(Durability::Normal.to_string(), "normal");
/// assert_eq!("fast".parse::<Durability>(), Err("expected one of `normal`, `full`".to_owned()));
/// ```
#[macro_export]
macro_rules! settings_choice {
    (
        $(#[$meta:meta])*
        $vis:vis enum $name:ident {
            $($(#[$variant_meta:meta])* $variant:ident = $text:literal),+ $(,)?
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        $vis enum $name {
            $($(#[$variant_meta])* $variant,)+
        }

        impl $name {
            /// All values, in the order of their declaration.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The name that settings use.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $text,)+
                }
            }
        }

        impl ::std::fmt::Display for $name {
            fn fmt(&self, formatter: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                formatter.write_str(self.as_str())
            }
        }

        impl ::std::str::FromStr for $name {
            type Err = String;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                let is_named = |value: &&Self| value.as_str().eq_ignore_ascii_case(text);
                Self::ALL.iter().find(is_named).copied().ok_or_else(|| {
                    let expected = <Self as $crate::SettingType>::expected("");
                    format!("expected {expected}")
                })
            }
        }

        impl $crate::__private::Serialize for $name {
            fn serialize<S: $crate::__private::Serializer>(
                &self,
                serializer: S,
            ) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        $crate::text_setting!($name, {
            let names: Vec<String> =
                <$name>::ALL.iter().map(|value| format!("`{value}`")).collect();
            format!("one of {}", names.join(", "))
        });
    };
}
