//! In which currency or unit the numbers of a property are.

use svc_odata::model::{Measure, MeasuredIn};

use super::rules::place_of;
use crate::entity::{Column, EntityModel, Exposure};
use crate::value::ValueKind;

/// What is said of a column; a column that holds the currency or unit is named as in the database.
#[derive(Clone)]
pub(super) struct Measured {
    pub(super) column: &'static str,
    pub(super) measure: Measure,
}

/// The most characters of a unit: it stands behind each number.
const LONGEST_UNIT: usize = 20;

/// Says it of the columns; the answer is what doesn't fit.
pub(super) fn add_measures(model: &mut EntityModel, measures: Vec<Measured>) -> Vec<String> {
    let mut problems = Vec::new();
    for Measured { column, measure } in measures {
        match measured(model, column, measure) {
            Ok((place, measure)) => model.columns[place].measure = Some(measure),
            Err(problem) => problems.push(problem),
        }
    }
    problems
}

fn measured(model: &EntityModel, name: &str, measure: Measure) -> Result<(usize, Measure), String> {
    let place = place_of(model, name)?;
    let of = format!("`{name}` of `{}`", model.name());
    if model.columns[place].measure.is_some() {
        return Err(format!("{of} has two currencies or units; say one"));
    }
    if let Some(problem) = problem_with(&of, model.columns[place].kind, &measure) {
        return Err(problem);
    }
    let measure = match measure {
        Measure::Currency(said) => Measure::Currency(said_in(model, &of, said)?),
        Measure::Unit(said) => Measure::Unit(said_in(model, &of, said)?),
    };
    Ok((place, measure))
}

/// The property that holds a currency or unit, by its name over OData.
fn said_in(model: &EntityModel, of: &str, said: MeasuredIn) -> Result<MeasuredIn, String> {
    let MeasuredIn::Property(name) = said else { return Ok(said) };
    let Column { kind, exposure, property, .. } = &model.columns[place_of(model, &name)?];
    let refused = if *exposure == Exposure::Internal {
        "is internal, and never leaves the application; name another column, or serve it"
    } else if !matches!(kind, ValueKind::Text { .. }) {
        "holds no text; name a column of text"
    } else {
        return Ok(MeasuredIn::Property(property.clone()));
    };
    Err(format!("{of} can't have its currency or unit in `{name}`, which {refused}"))
}

/// What is wrong with saying of values of a kind that they are so measured.
pub(crate) fn problem_with(of: &str, kind: ValueKind, measure: &Measure) -> Option<String> {
    if !kind.is_number() {
        return Some(format!("{of} holds no numbers, so it has no currency or unit; leave it out"));
    }
    match measure {
        Measure::Currency(MeasuredIn::Always(code)) => {
            let is_code = code.len() == 3 && code.bytes().all(|byte| byte.is_ascii_uppercase());
            (!is_code).then(|| {
                format!("{of} can't be in `{code}`; write the currency's code of ISO 4217: `EUR`")
            })
        }
        Measure::Unit(MeasuredIn::Always(unit)) => {
            let fits = !unit.is_empty()
                && unit.trim() == unit
                && unit.chars().count() <= LONGEST_UNIT
                && !unit.chars().any(char::is_control);
            (!fits).then(|| {
                format!(
                    "{of} can't be in `{unit}`; write the unit as it stands behind a number, in at \
                     most {LONGEST_UNIT} characters: `kg`"
                )
            })
        }
        Measure::Currency(MeasuredIn::Property(_)) | Measure::Unit(MeasuredIn::Property(_)) => None,
    }
}
