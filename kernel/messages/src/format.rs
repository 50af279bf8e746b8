//! How numbers, dates and times are written: the functions `NUMBER` and `DATETIME` of texts, and what stands for an
//! argument that none of them is applied to.
//!
//! Digits are grouped and separated by the data of CLDR. How dates and times look is itself a matter of texts: the messages
//! `format-…` of this crate, which a further language translates with the rest.

use std::borrow::Cow;
use std::convert::Infallible;
use std::fmt;
use std::sync::Arc;

use fixed_decimal::{SignedRoundingMode, UnsignedRoundingMode};
use fluent_bundle::concurrent::FluentBundle;
use fluent_bundle::types::{FluentNumber, FluentType};
use fluent_bundle::{FluentArgs, FluentResource, FluentValue};
use icu_decimal::input::Decimal;
use icu_decimal::options::{DecimalFormatterOptions, GroupingStrategy};
use icu_decimal::{DecimalFormatter, DecimalFormatterPreferences};
use icu_locale_core::Locale;
use intl_memoizer::Memoizable;
use intl_memoizer::concurrent::IntlLangMemoizer;
use time::{Date, Time};
use unic_langid::LanguageIdentifier;

use crate::arguments::{Argument, Arguments};

/// The functions that texts may call.
pub(crate) const FUNCTIONS: [&str; 2] = ["NUMBER", "DATETIME"];

/// What the ids of messages begin with that say how a language writes dates and times.
pub(crate) const CONVENTIONS: &str = "format-";

/// The most digits behind the point, unless a text says otherwise, as in browsers.
const FRACTION_DIGITS: usize = 3;

/// The most digits that a text may ask for.
const MOST_DIGITS: usize = 100;

/// How one language writes dates and times.
pub(crate) struct Conventions(FluentBundle<Arc<FluentResource>>);

impl Conventions {
    pub(crate) fn new(bundle: FluentBundle<Arc<FluentResource>>) -> Self {
        Self(bundle)
    }

    fn write(&self, id: &str, arguments: &FluentArgs<'_>) -> String {
        let Some(pattern) = self.0.get_message(id).and_then(|message| message.value()) else {
            return String::new();
        };
        let mut faults = Vec::new();
        let text = self.0.format_pattern(pattern, Some(arguments), &mut faults).into_owned();
        if !faults.is_empty() {
            tracing::error!(id, ?faults, "a date or time can't be written");
        }
        text
    }
}

impl fmt::Debug for Conventions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Conventions").field(&self.0.locales).finish()
    }
}

/// Gives a bundle the functions, and its language's way to write numbers.
pub(crate) fn equip(bundle: &mut FluentBundle<Arc<FluentResource>>) {
    bundle.set_use_isolating(false);
    bundle.set_formatter(Some(written_number));
    let number = bundle.add_function("NUMBER", |positional, named| match positional {
        [FluentValue::Number(number)] => {
            let mut number = number.clone();
            number.options.merge(named);
            FluentValue::Number(number)
        }
        _ => FluentValue::Error,
    });
    let moment = bundle.add_function("DATETIME", |positional, named| match positional {
        [FluentValue::Custom(value)] => match (**value).as_any().downcast_ref::<Moment>() {
            Some(moment) => FluentValue::Custom(Box::new(moment.styled(named))),
            None => FluentValue::Error,
        },
        _ => FluentValue::Error,
    });
    number.and(moment).expect("the two functions have different names");
}

/// The arguments as Fluent takes them.
pub(crate) fn values<'a>(
    arguments: &'a Arguments<'_>,
    conventions: &Arc<Conventions>,
) -> FluentArgs<'a> {
    let value = |argument: &'a Argument<'_>| match argument {
        Argument::Text(text) => FluentValue::from(text.as_ref()),
        Argument::Number(number) => FluentValue::from(*number),
        Argument::Date(date) => Moment::new(*date, None, conventions).into_value(),
        Argument::Moment(moment) => {
            Moment::new(moment.date(), Some(moment.time()), conventions).into_value()
        }
    };
    arguments.iter().map(|(name, argument)| (name, value(argument))).collect()
}

/// A day, and perhaps a time, on its way into a text.
#[derive(Clone, Debug)]
struct Moment {
    date: Date,
    time: Option<Time>,
    date_style: Option<&'static str>,
    time_style: Option<&'static str>,
    conventions: Arc<Conventions>,
}

impl Moment {
    fn new(date: Date, time: Option<Time>, conventions: &Arc<Conventions>) -> Self {
        let conventions = Arc::clone(conventions);
        Self { date, time, date_style: Some("medium"), time_style: None, conventions }
    }

    fn into_value<'a>(self) -> FluentValue<'a> {
        FluentValue::Custom(Box::new(self))
    }

    /// The same moment, as the options of `DATETIME` want it.
    fn styled(&self, options: &FluentArgs<'_>) -> Self {
        let asked = |name: &str, styles: &[&'static str]| match options.get(name)? {
            FluentValue::String(style) => styles.iter().copied().find(|known| known == style),
            _ => None,
        };
        let date_style = asked("dateStyle", &["full", "long", "medium", "short"]);
        let time_style = asked("timeStyle", &["medium", "short"]).filter(|_| self.time.is_some());
        let date_style = date_style.or_else(|| time_style.is_none().then_some("medium"));
        Self { date_style, time_style, ..self.clone() }
    }

    fn written(&self) -> String {
        let arguments = self.arguments();
        let part = |kind, style| {
            self.conventions.write(&format!("{CONVENTIONS}{kind}-{style}"), &arguments)
        };
        match (self.date_style, self.time_style) {
            (Some(date), Some(time)) => {
                let is_in_words = matches!(date, "full" | "long");
                let id = if is_in_words { "format-moment-words" } else { "format-moment-brief" };
                let parts = [("date", part("date", date)), ("time", part("time", time))];
                self.conventions.write(id, &parts.into_iter().collect())
            }
            (Some(date), None) => part("date", date),
            (None, Some(time)) => part("time", time),
            (None, None) => String::new(),
        }
    }

    fn arguments(&self) -> FluentArgs<'static> {
        let (date, time) = (self.date, self.time.unwrap_or(Time::MIDNIGHT));
        let (month, hour) = (u8::from(date.month()), time.hour());
        let two = |number: u8| FluentValue::from(format!("{number:02}"));
        [
            ("year", FluentValue::from(date.year())),
            ("year2", FluentValue::from(format!("{:02}", date.year().rem_euclid(100)))),
            ("month", month.into()),
            ("month2", two(month)),
            ("day", date.day().into()),
            ("day2", two(date.day())),
            ("weekday", date.weekday().number_from_monday().into()),
            ("hour", hour.into()),
            ("hour2", two(hour)),
            ("hour12", if hour % 12 == 0 { 12 } else { hour % 12 }.into()),
            ("half", if hour < 12 { "am" } else { "pm" }.into()),
            ("minute", time.minute().into()),
            ("minute2", two(time.minute())),
            ("second2", two(time.second())),
        ]
        .into_iter()
        .collect()
    }
}

impl PartialEq for Moment {
    fn eq(&self, other: &Self) -> bool {
        let own = (self.date, self.time, self.date_style, self.time_style);
        own == (other.date, other.time, other.date_style, other.time_style)
    }
}

impl FluentType for Moment {
    fn duplicate(&self) -> Box<dyn FluentType + Send> {
        Box::new(self.clone())
    }

    fn as_string(&self, _: &intl_memoizer::IntlLangMemoizer) -> Cow<'static, str> {
        self.written().into()
    }

    fn as_string_threadsafe(&self, _: &IntlLangMemoizer) -> Cow<'static, str> {
        self.written().into()
    }
}

/// How a language writes digits.
struct Digits(DecimalFormatterPreferences);

impl Memoizable for Digits {
    type Args = ();
    type Error = Infallible;

    fn construct(language: LanguageIdentifier, (): ()) -> Result<Self, Infallible> {
        let locale: Locale = language.to_string().parse().unwrap_or(Locale::UNKNOWN);
        Ok(Self((&locale).into()))
    }
}

fn written_number(value: &FluentValue<'_>, memoizer: &IntlLangMemoizer) -> Option<String> {
    let FluentValue::Number(number) = value else { return None };
    let Ok(written) = memoizer.with_try_get::<Digits, _, _>((), |digits| digits.write(number));
    written
}

impl Digits {
    /// None for what has no digits, such as an infinity.
    fn write(&self, number: &FluentNumber) -> Option<String> {
        let options = &number.options;
        let mut decimal: Decimal = number.value.to_string().parse().ok()?;
        let least = options.minimum_fraction_digits.unwrap_or(0).min(MOST_DIGITS);
        let most = options.maximum_fraction_digits.unwrap_or(FRACTION_DIGITS).min(MOST_DIGITS);
        let place = |digits: usize| i16::try_from(digits).unwrap_or(i16::MAX);
        // As browsers do: a half goes away from zero.
        let rounding = SignedRoundingMode::Unsigned(UnsignedRoundingMode::HalfExpand);
        decimal.round_with_mode(-place(most.max(least)), rounding);
        decimal.absolute.trim_end();
        decimal.absolute.pad_end(-place(least));
        let whole = options.minimum_integer_digits.unwrap_or(1).min(MOST_DIGITS);
        decimal.absolute.pad_start(place(whole));
        let mut style = DecimalFormatterOptions::default();
        if !options.use_grouping {
            style.grouping_strategy = Some(GroupingStrategy::Never);
        }
        let formatter = DecimalFormatter::try_new(self.0, style).ok()?;
        Some(formatter.format(&decimal).to_string())
    }
}
