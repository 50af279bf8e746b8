//! What a module declares: whose setting it is, its name, meaning, type, bounds and default, and
//! who may change it.

use std::fmt;
use std::ops::RangeInclusive;

use serde::Serialize;
use serde_json::Value;

/// The permission to see and change those settings of an organisation that name no other.
pub const MANAGE_SETTINGS: &str = "Settings.Manage";

/// Characters of a refused value that a message shows.
const SHOWN: usize = 80;

/// A declared setting of organisations or persons, such as `Chat.MaxAttachmentMb`.
///
/// Its serialized form is what a settings page needs:
/// `{"name": …, "doc": …, "type": "integer", "minimum": …, "maximum": …, "default": …}`.
///
/// # Examples
/// ```
/// use serde_json::json;
/// use svc_settings::ApplicationSetting;
///
/// let limit = ApplicationSetting::integer(
///     "Chat.MaxAttachmentMb",
///     "Largest attachment of a message, in megabytes.",
///     1..=1024,
///     25,
/// );
/// assert!(limit.validate(&json!(100)).is_ok());
/// assert_eq!(
///     limit.validate(&json!(0)).unwrap_err().to_string(),
///     "`Chat.MaxAttachmentMb` = `0`: expected a whole number from 1 to 1024",
/// );
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ApplicationSetting {
    name: &'static str,
    doc: &'static str,
    #[serde(flatten)]
    kind: ApplicationSettingType,
    scope: SettingScope,
    #[serde(skip)]
    permission: &'static str,
    #[serde(skip)]
    form: Form,
    default: Value,
}

/// What a module asks of a text beyond its length.
#[derive(Clone, Copy)]
struct Form(fn(&str) -> Result<(), String>);

impl fmt::Debug for Form {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Form")
    }
}

/// A module's setting has one form, so two of the same name have the same.
impl PartialEq for Form {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// Whose setting it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum SettingScope {
    /// An organisation's: one value for all of its people.
    Organisation,
    /// A person's own, in each organisation anew.
    Person,
}

/// The type of a setting, with its bounds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum ApplicationSettingType {
    /// `true` or `false`.
    Boolean,
    /// A whole number.
    Integer {
        /// The least value.
        minimum: i64,
        /// The greatest value.
        maximum: i64,
    },
    /// A text, which may have several lines.
    Text {
        /// The most characters (Unicode scalar values).
        max_length: usize,
    },
    /// One of several names, which match exactly.
    Choice {
        /// The names.
        options: Vec<&'static str>,
    },
}

impl ApplicationSetting {
    /// A setting that is on or off.
    #[must_use]
    pub fn boolean(name: &'static str, doc: &'static str, default: bool) -> Self {
        Self::new(name, doc, ApplicationSettingType::Boolean, default.into())
    }

    /// A setting that is a whole number within `range`.
    #[must_use]
    pub fn integer(
        name: &'static str,
        doc: &'static str,
        range: RangeInclusive<i64>,
        default: i64,
    ) -> Self {
        let kind =
            ApplicationSettingType::Integer { minimum: *range.start(), maximum: *range.end() };
        Self::new(name, doc, kind, default.into())
    }

    /// A setting that is a text of at most `max_length` characters.
    #[must_use]
    pub fn text(
        name: &'static str,
        doc: &'static str,
        max_length: usize,
        default: &'static str,
    ) -> Self {
        Self::new(name, doc, ApplicationSettingType::Text { max_length }, default.into())
    }

    /// A setting that is one of `options`.
    #[must_use]
    pub fn choice(
        name: &'static str,
        doc: &'static str,
        options: &[&'static str],
        default: &'static str,
    ) -> Self {
        let kind = ApplicationSettingType::Choice { options: options.to_vec() };
        Self::new(name, doc, kind, default.into())
    }

    fn new(
        name: &'static str,
        doc: &'static str,
        kind: ApplicationSettingType,
        default: Value,
    ) -> Self {
        let scope = SettingScope::Organisation;
        let form = Form(|_| Ok(()));
        Self { name, doc, kind, scope, permission: MANAGE_SETTINGS, form, default }
    }

    /// Asks more of a text than its length: `check` says in a sentence what is wrong with one, which is then refused
    /// where somebody sets it. One that is stored already and is refused counts as not set.
    ///
    /// ```
    /// use svc_settings::ApplicationSetting;
    ///
    /// let days = ApplicationSetting::text("Shop.ClosedOn", "A day such as `2026-12-25`.", 10, "")
    ///     .checked(|text| match text.len() {
    ///         0 | 10 => Ok(()),
    ///         _ => Err("expected a day such as `2026-12-25`".to_owned()),
    ///     });
    /// assert!(days.validate(&"Christmas".into()).is_err());
    /// ```
    #[must_use]
    pub fn checked(self, check: fn(&str) -> Result<(), String>) -> Self {
        Self { form: Form(check), ..self }
    }

    /// Makes it a setting that each person has and changes.
    #[must_use]
    pub fn of_person(self) -> Self {
        Self { scope: SettingScope::Person, ..self }
    }

    /// Names the permission that changes the organisation's value, in place of
    /// `Settings.Manage`.
    #[must_use]
    pub fn changed_with(self, permission: &'static str) -> Self {
        Self { permission, ..self }
    }

    /// Whose setting it is.
    #[must_use]
    pub fn scope(&self) -> SettingScope {
        self.scope
    }

    /// The permission that changes the organisation's value.
    #[must_use]
    pub fn permission(&self) -> &'static str {
        self.permission
    }

    /// The dotted name.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// What the setting means.
    #[must_use]
    pub fn doc(&self) -> &'static str {
        self.doc
    }

    /// The type with its bounds.
    #[must_use]
    pub fn kind(&self) -> &ApplicationSettingType {
        &self.kind
    }

    /// The value where the organisation has not set another.
    #[must_use]
    pub fn default_value(&self) -> &Value {
        &self.default
    }

    /// Checks a value that somebody wants to set.
    ///
    /// # Errors
    /// The value has another type, is out of bounds, or has another form than its module asks for.
    pub fn validate(&self, value: &Value) -> Result<(), ApplicationSettingProblem> {
        let accepted = match (&self.kind, value) {
            (ApplicationSettingType::Boolean, Value::Bool(_)) => true,
            (ApplicationSettingType::Integer { minimum, maximum }, Value::Number(number)) => {
                number.as_i64().is_some_and(|number| (*minimum..=*maximum).contains(&number))
            }
            (ApplicationSettingType::Text { max_length }, Value::String(text)) => {
                text.chars().count() <= *max_length && text.chars().all(is_writing)
            }
            (ApplicationSettingType::Choice { options }, Value::String(text)) => {
                options.contains(&text.as_str())
            }
            _ => false,
        };
        if !accepted {
            return Err(self.problem(Some(value), format!("expected {}", self.kind)));
        }
        let checked = value.as_str().map_or(Ok(()), self.form.0);
        checked.map_err(|message| self.problem(Some(value), message))
    }

    /// Checks the declaration itself: the form of the name, and the default against the bounds.
    ///
    /// # Errors
    /// The declaration contradicts itself, which is a mistake in the module that makes it.
    pub fn check_declaration(&self) -> Result<(), ApplicationSettingProblem> {
        if !is_dotted_name(self.name) {
            let message = "expected a name such as `Chat.MaxAttachmentMb`, in words of letters and \
                           digits that begin with a capital";
            return Err(self.problem(None, message.to_owned()));
        }
        if self.doc.trim().is_empty() {
            return Err(self.problem(None, "a description is missing".to_owned()));
        }
        self.validate(&self.default).map_err(|problem| ApplicationSettingProblem {
            message: format!("the declared default breaks its own bounds: {}", problem.message),
            ..problem
        })
    }

    fn problem(&self, value: Option<&Value>, message: String) -> ApplicationSettingProblem {
        let value = value.map(|value| match value {
            Value::String(text) => one_line(text),
            other => one_line(&other.to_string()),
        });
        ApplicationSettingProblem { name: self.name, value, message }
    }
}

/// A value for a message: on one line, without control characters, and not too long.
fn one_line(value: &str) -> String {
    let shown = value.chars().take(SHOWN).flat_map(|character| {
        let escaped = character.is_control().then(|| character.escape_default());
        escaped.into_iter().flatten().chain((!character.is_control()).then_some(character))
    });
    let mut shown: String = shown.collect();
    if value.chars().nth(SHOWN).is_some() {
        shown.push('…');
    }
    shown
}

/// Whether a character belongs into a text: control characters other than breaks and tabs do not,
/// and a database may refuse them.
fn is_writing(character: char) -> bool {
    !character.is_control() || matches!(character, '\n' | '\r' | '\t')
}

fn is_dotted_name(name: &str) -> bool {
    let is_word = |word: &str| {
        word.starts_with(|first: char| first.is_ascii_uppercase())
            && word.chars().all(|each| each.is_ascii_alphanumeric())
    };
    name.contains('.') && name.split('.').all(is_word)
}

impl fmt::Display for ApplicationSettingType {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Boolean => formatter.write_str("`true` or `false`"),
            Self::Integer { minimum, maximum } => {
                write!(formatter, "a whole number from {minimum} to {maximum}")
            }
            Self::Text { max_length } => {
                write!(formatter, "a text of at most {max_length} characters")?;
                formatter.write_str(" without control characters")
            }
            Self::Choice { options } => {
                let names: Vec<String> = options.iter().map(|name| format!("`{name}`")).collect();
                write!(formatter, "one of {}", names.join(", "))
            }
        }
    }
}

/// A value or a declaration is not acceptable; the display is one line that reads alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApplicationSettingProblem {
    /// The name of the setting.
    pub name: &'static str,
    /// The refused value.
    pub value: Option<String>,
    /// What is expected.
    pub message: String,
}

impl fmt::Display for ApplicationSettingProblem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "`{}`", self.name)?;
        if let Some(value) = &self.value {
            write!(formatter, " = `{value}`")?;
        }
        write!(formatter, ": {}", self.message)
    }
}

impl std::error::Error for ApplicationSettingProblem {}
