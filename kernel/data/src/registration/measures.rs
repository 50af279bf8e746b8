//! In which currency or unit the numbers of a property are.

use svc_odata::model::{Measure, MeasuredIn};

use super::rules::place_of;
use crate::catalogue::Catalogue;
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
    let column = &model.columns[place_of(model, &name)?];
    match problem_with_holder(column) {
        None => Ok(MeasuredIn::Property(column.property.clone())),
        Some(why) => Err(format!("{of} can't have its currency or unit in `{name}`, which {why}")),
    }
}

/// Why a column can't hold the currency or unit of another.
fn problem_with_holder(Column { kind, exposure, .. }: &Column) -> Option<&'static str> {
    if *exposure == Exposure::Internal {
        Some("is internal, and never leaves the application; name another column, or serve it")
    } else if !matches!(kind, ValueKind::Text { .. }) {
        Some("holds no text; name a column of text")
    } else {
        None
    }
}

/// Where a path to a currency or unit begins and goes on, which is looked at once all sets are known.
pub(super) fn along(path: &str) -> MeasuredIn {
    let (navigation, property) = path.split_once('/').unwrap_or((path, ""));
    MeasuredIn::Related { navigation: navigation.to_owned(), property: property.to_owned() }
}

/// What is wrong with the paths to currencies and units, each with the module that registered the set.
pub(super) fn problems_with_paths(catalogue: &Catalogue) -> Vec<(String, String)> {
    let mut problems = Vec::new();
    for model in catalogue.sets() {
        for column in &model.columns {
            let said = column.measure.as_ref().map(Measure::said);
            let Some(path @ MeasuredIn::Related { navigation, property }) = said else { continue };
            if let Some(why) = problem_with_path(catalogue, model, navigation, property) {
                let (name, set) = (column.name, model.name());
                let problem = format!(
                    "`{name}` of `{set}` can't have its currency or unit in `{path}`, which {why}"
                );
                problems.push((model.module.clone(), problem));
            }
        }
    }
    problems
}

fn problem_with_path(
    catalogue: &Catalogue,
    model: &EntityModel,
    navigation: &str,
    property: &str,
) -> Option<String> {
    let ways = model.relations.iter().filter_map(|relation| {
        let target = catalogue.table(&relation.target).filter(|target| target.set.is_some())?;
        Some((relation.navigation(target), relation.many, target))
    });
    let ways: Vec<_> = ways.collect();
    let Some((_, many, target)) = ways.iter().find(|(name, ..)| name == navigation) else {
        let to_one = ways.iter().filter(|(_, many, _)| !many);
        let to_one: Vec<String> = to_one.map(|(name, ..)| format!("`{name}/…`")).collect();
        return Some(match &to_one[..] {
            [] => "begins with no way to another set; there is none to one".to_owned(),
            known => format!("begins with no way to another set; write {}", known.join(" or ")),
        });
    };
    if *many {
        return Some("leads to many, of which each may have another; name a way to one".to_owned());
    }
    match target.columns.iter().find(|column| column.property == property) {
        Some(holder) => problem_with_holder(holder).map(str::to_owned),
        None => {
            Some(format!("ends with no property of `{}`; name one of text there", target.name()))
        }
    }
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
        Measure::Currency(_) | Measure::Unit(_) => None,
    }
}
