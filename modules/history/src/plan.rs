//! What a restore would do to a record, told field by field before anything is written.
//!
//! | The record is | and shall be | so it is |
//! | --- | --- | --- |
//! | there | another | changed |
//! | there | gone | deleted |
//! | marked as deleted | there | restored, and changed where it differs |
//! | gone for good | there | made again under its key |
//! | gone | gone | left alone |

use std::collections::BTreeSet;

use serde_json::{Map, Value as Json};
use svc_core::{Principal, Result};
use svc_data::{EntityModel, Exposure, Record};

use crate::entry::{Content, Image, is_kept};
use crate::errors::CANNOT_GO_BACK;

/// How far a record goes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// To what it was after the entry.
    After,
    /// To what it was before it.
    Before,
    /// By what the entry changed alone.
    Undo,
}

/// What a record is now.
#[derive(Clone, Debug)]
pub(crate) enum State {
    /// There.
    Present(Record),
    /// Deleted softly.
    Marked(Record),
    /// Not there.
    Gone,
}

/// What is done to a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// Some of its fields change.
    Change,
    /// It is deleted.
    Delete,
    /// It is brought back from a soft deletion.
    Restore,
    /// It is made again.
    Create,
    /// Nothing.
    Nothing,
}

/// Why a field can't go back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Obstacle {
    /// Only the application sets it.
    ReadOnly,
    /// It is set when a record is made, and never again.
    CreateOnly,
    /// Its values are sent to the caller in a changed form.
    Masked,
    /// The property doesn't exist any more.
    Gone,
    /// Its values are of another type now.
    OtherType,
}

impl Obstacle {
    /// What programs know it by.
    pub(crate) const fn code(self) -> &'static str {
        match self {
            Self::ReadOnly => "read_only",
            Self::CreateOnly => "create_only",
            Self::Masked => "masked",
            Self::Gone => "gone",
            Self::OtherType => "other_type",
        }
    }

    /// The sentence behind the field's name.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::ReadOnly => "is set by the application alone",
            Self::CreateOnly => "can't be changed once the record is there",
            Self::Masked => "is shown to you in a changed form, so you can't set it",
            Self::Gone => "isn't a property any more",
            Self::OtherType => "holds values of another type now",
        }
    }
}

/// A field that differs.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Planned {
    pub(crate) name: String,
    /// The column; none of a property that is no more.
    pub(crate) column: Option<usize>,
    pub(crate) now: Json,
    pub(crate) restored: Json,
    pub(crate) changed_later: bool,
    pub(crate) obstacle: Option<Obstacle>,
}

/// What a restore would do.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) action: Action,
    pub(crate) fields: Vec<Planned>,
    /// The record as it shall be; none where it shall be gone.
    pub(crate) target: Option<Record>,
    mode: Mode,
}

/// What a plan is made of.
pub(crate) struct Aim<'a> {
    pub(crate) model: &'a EntityModel,
    pub(crate) who: &'a Principal,
    pub(crate) content: &'a Content,
    /// The record before and after the entry.
    pub(crate) before: Option<Image>,
    pub(crate) after: Option<Image>,
    /// The record as it was when it was last there.
    pub(crate) last: Option<Record>,
    pub(crate) mode: Mode,
}

impl Aim<'_> {
    /// Plans the way from what is now.
    pub(crate) fn plan(&self, now: &State) -> Result<Plan> {
        let image = match self.mode {
            Mode::After => self.after.as_ref(),
            Mode::Before | Mode::Undo => self.before.as_ref(),
        };
        let image = image.filter(|image| self.model.holds(&image.record));
        let plan = |action, fields| {
            let target = image.map(|image| image.record.clone());
            Plan { action, fields, target, mode: self.mode }
        };
        let undoes_update = self.mode == Mode::Undo
            && self.after.as_ref().is_some_and(|after| self.model.holds(&after.record));
        Ok(match (now, image) {
            (State::Present(record), Some(image)) => {
                let fields = self.differing(Some(record), image)?;
                let action = if fields.is_empty() { Action::Nothing } else { Action::Change };
                plan(action, fields)
            }
            (State::Present(_), None) => plan(Action::Delete, Vec::new()),
            // What changed a record that is gone by now can't be taken back alone.
            (State::Marked(_) | State::Gone, Some(_)) if undoes_update => {
                plan(Action::Nothing, Vec::new())
            }
            (State::Marked(record), Some(image)) => {
                plan(Action::Restore, self.differing(Some(record), image)?)
            }
            (State::Gone, Some(image)) => {
                let image = self.made_again(image);
                let fields = self.differing(None, &image)?;
                Plan { target: Some(image.record), ..plan(Action::Create, fields) }
            }
            (State::Marked(_) | State::Gone, None) => plan(Action::Nothing, Vec::new()),
        })
    }

    /// A record that is made again: as it was last, but for what the caller might change then. So
    /// nobody chooses among former values of what only the application sets.
    fn made_again(&self, image: &Image) -> Image {
        let Some(last) = &self.last else { return image.clone() };
        let value = |index: usize| {
            let may_change =
                self.is_meant(index, false) && self.change_obstacle(index, image).is_none();
            let record = if may_change { &image.record } else { last };
            record.value(index).clone()
        };
        let record = (0..self.model.columns.len()).map(value).collect();
        Image { record, lost: image.lost.clone() }
    }

    /// The fields that the caller sees differ.
    fn differing(&self, now: Option<&Record>, image: &Image) -> Result<Vec<Planned>> {
        let Self { model, who, .. } = self;
        let shown = |record: Option<&Record>| -> Result<Map<String, Json>> {
            record.map_or_else(|| Ok(Map::new()), |record| record.to_property_json(model, who))
        };
        let (is, was) = (shown(now)?, shown(Some(&image.record))?);
        let value =
            |all: &Map<String, Json>, name: &str| all.get(name).cloned().unwrap_or_default();
        let places = (0..model.columns.len()).filter(|index| self.is_meant(*index, now.is_none()));
        let mut fields = Vec::new();
        for index in places {
            let column = &model.columns[index];
            let obstacle = self.obstacle(index, now.is_none(), image);
            let differs = match now {
                // What it was nobody can tell any more; that it doesn't go back is told.
                _ if obstacle == Some(Obstacle::OtherType) => true,
                Some(now) if !model.is_masked(index, who) => {
                    now.value(index) != image.record.value(index)
                }
                Some(_) => is.get(&column.property) != was.get(&column.property),
                None => *image.record.value(index) != column.kind.null(),
            };
            if !differs {
                continue;
            }
            fields.push(Planned {
                changed_later: self.changed_later(index, now),
                now: value(&is, &column.property),
                restored: value(&was, &column.property),
                name: column.property.clone(),
                column: Some(index),
                obstacle,
            });
        }
        fields.extend(self.lost(image));
        Ok(fields)
    }

    /// Whether a column may be part of a restore at all.
    fn is_meant(&self, index: usize, is_new: bool) -> bool {
        let model = self.model;
        let column = &model.columns[index];
        let is_frame = Some(index) == model.organisation
            || Some(index) == model.version_index()
            || Some(index) == model.deleted_at
            || is_kept(column.name)
            || column.name == "created_at"
            || (index == model.key_index() && !is_new);
        let is_named = self.mode != Mode::Undo
            || is_new
            || self.content.changed().any(|name| name == column.name);
        !is_frame && is_named && model.is_visible(index, self.who)
    }

    fn obstacle(&self, index: usize, is_new: bool, image: &Image) -> Option<Obstacle> {
        let obstacle = self.change_obstacle(index, image);
        // What is made again is what it was already, as far as that can be read.
        obstacle.filter(|obstacle| !is_new || *obstacle == Obstacle::OtherType)
    }

    fn change_obstacle(&self, index: usize, image: &Image) -> Option<Obstacle> {
        let column = &self.model.columns[index];
        if image.lost.iter().any(|name| name == column.name) {
            return Some(Obstacle::OtherType);
        }
        match column.exposure {
            Exposure::ReadOnly | Exposure::Internal => Some(Obstacle::ReadOnly),
            Exposure::CreateOnly => Some(Obstacle::CreateOnly),
            _ if self.model.is_masked(index, self.who) => Some(Obstacle::Masked),
            Exposure::Open => None,
        }
    }

    /// Whether a field isn't what the entry left any more.
    fn changed_later(&self, index: usize, now: Option<&Record>) -> bool {
        let (Some(now), Some(left)) = (now, &self.after) else { return false };
        !self.model.is_masked(index, self.who) && now.value(index) != left.record.value(index)
    }

    /// Properties that are no more. What of them was hidden nobody knows, so only those are told who
    /// see all that there is.
    fn lost(&self, image: &Image) -> Vec<Planned> {
        let model = self.model;
        let sees_all = (0..model.columns.len()).all(|index| {
            model.columns[index].exposure == Exposure::Internal || model.is_visible(index, self.who)
        });
        let is_meant =
            |name: &str| self.mode != Mode::Undo || self.content.changed().any(|one| one == name);
        let is_gone = |name: &str| model.column_index(name).is_none();
        let gone = image.lost.iter().filter(|name| sees_all && is_gone(name) && is_meant(name));
        gone.map(|name| Planned {
            name: name.clone(),
            column: None,
            now: Json::Null,
            restored: Json::Null,
            changed_later: false,
            obstacle: Some(Obstacle::Gone),
        })
        .collect()
    }
}

impl Plan {
    /// The columns that go back: those that are named, or all that can, of an undo without those that
    /// were changed later.
    ///
    /// # Errors
    ///
    /// [`CANNOT_GO_BACK`], by field, for one that is named and can't.
    pub(crate) fn chosen(&self, named: Option<&[String]>) -> Result<Vec<usize>> {
        let Some(named) = named else {
            let stays = |field: &&Planned| self.mode == Mode::Undo && field.changed_later;
            let going =
                self.fields.iter().filter(|field| field.obstacle.is_none() && !stays(field));
            return Ok(going.filter_map(|field| field.column).collect());
        };
        let mut problems = CANNOT_GO_BACK.error("some of the fields can't be brought back");
        let mut columns = Vec::new();
        for name in named.iter().collect::<BTreeSet<_>>() {
            let field = self.fields.iter().find(|field| field.name == *name);
            match field.map(|field| (field.column, field.obstacle)) {
                Some((Some(column), None)) => columns.push(column),
                Some((_, obstacle)) => {
                    let problem = obstacle.unwrap_or(Obstacle::Gone).as_str();
                    problems = problems.field(name, problem);
                }
                None => problems = problems.field(name, "is none of the fields of the preview"),
            }
        }
        if problems.fields().is_empty() { Ok(columns) } else { Err(problems) }
    }
}
