//! The setting types that have parts: optional values, lists and maps.

use std::collections::BTreeMap;

use crate::declare::{FieldDescription, SettingType};
use crate::given::Given;
use crate::problem::SettingProblem;
use crate::reader::Reader;
use crate::source::Source;
use crate::tree::{Content, Entry, Node, same_key};

impl<T: SettingType> SettingType for Option<T> {
    type Element = T::Element;
    const SECRET: bool = T::SECRET;
    const TEXTUAL: bool = T::TEXTUAL;
    const MERGES: bool = T::MERGES;

    fn expected(bounds: &str) -> String {
        format!("{}, or nothing", T::expected(bounds))
    }

    fn read(given: &Given<'_>, default: Option<&Self>, reader: &mut Reader) -> Option<Self> {
        if given.is_empty() {
            return default.cloned();
        }
        if given.is_empty_text() {
            return Some(None);
        }
        T::read(given, default.and_then(Option::as_ref), reader).map(Some)
    }

    fn elements(&self) -> Vec<(Option<String>, &Self::Element)> {
        self.iter().flat_map(SettingType::elements).collect()
    }

    fn show(&self) -> String {
        self.as_ref().map_or_else(|| "(none)".to_owned(), SettingType::show)
    }

    fn show_inside(&self) -> String {
        self.as_ref().map_or_else(|| self.show(), SettingType::show_inside)
    }

    fn fields() -> Vec<FieldDescription> {
        T::fields()
    }
}

impl<T: SettingType<Element = T>> SettingType for Vec<T> {
    type Element = T;
    const SECRET: bool = T::SECRET;

    fn expected(bounds: &str) -> String {
        format!("a list; each item {}", T::expected(bounds))
    }

    fn read(given: &Given<'_>, _: Option<&Self>, reader: &mut Reader) -> Option<Self> {
        let node = given.winner()?;
        let items: Vec<&Node> = match &node.content {
            _ if node.is_empty_untyped() => Vec::new(),
            Content::List(items) => items.iter().collect(),
            Content::Table(entries) => numbered(entries, reader)?,
            Content::Value(_) => {
                report_single_value::<Self>(given, reader);
                return None;
            }
        };
        let read: Vec<Option<T>> = items
            .iter()
            .enumerate()
            .map(|(index, item)| reader.part(&index.to_string(), item, None))
            .collect();
        read.into_iter().collect()
    }

    fn elements(&self) -> Vec<(Option<String>, &Self::Element)> {
        self.iter().enumerate().map(|(index, item)| (Some(index.to_string()), item)).collect()
    }

    fn show(&self) -> String {
        let items: Vec<String> = self.iter().map(SettingType::show_inside).collect();
        format!("[{}]", items.join(", "))
    }

    fn fields() -> Vec<FieldDescription> {
        FieldDescription::below("0", T::fields())
    }
}

/// Puts items that were given one by one (`…__0`, `…__1`) into their order.
fn numbered<'a>(entries: &'a [Entry], reader: &mut Reader) -> Option<Vec<&'a Node>> {
    let mut items: Vec<Option<&Node>> = vec![None; entries.len()];
    let mut complete = true;
    for Entry { key, node } in entries {
        // Only the plain spelling counts, so that `0` and `00` cannot both be meant.
        let number = key.parse::<usize>().ok().filter(|number| number.to_string() == *key);
        if let Some(slot) = number.and_then(|number| items.get_mut(number)) {
            *slot = Some(node);
            continue;
        }
        complete = false;
        let message = match number {
            Some(_) => "an item before this one is missing; number the items from 0 without gaps",
            None => "expected the number of a list item; number the items from 0 without gaps",
        };
        let full_key = format!("{}:{key}", reader.key());
        reader.report(SettingProblem::of_key(full_key, &node.source, message.to_owned()));
    }
    if complete { items.into_iter().collect() } else { None }
}

/// Says how a list is written where the single value was found.
fn report_single_value<T: SettingType>(given: &Given<'_>, reader: &mut Reader) {
    let hint = match given.source() {
        Source::Environment { variable } => {
            format!("; write its items as the variables `{variable}__0`, `{variable}__1`, …")
        }
        Source::CommandLine => {
            let key = reader.key();
            format!("; write its items as `--{key}:0=…`, `--{key}:1=…`, …")
        }
        Source::File { .. } | Source::Default => "; write its items in square brackets".to_owned(),
    };
    reader.report_wrong_value_hinting::<T>(given, &hint);
}

impl<T: SettingType<Element = T>> SettingType for BTreeMap<String, T> {
    type Element = T;
    const SECRET: bool = T::SECRET;
    const MERGES: bool = true;

    fn expected(bounds: &str) -> String {
        format!("a table; each value {}", T::expected(bounds))
    }

    fn read(given: &Given<'_>, default: Option<&Self>, reader: &mut Reader) -> Option<Self> {
        let mut map = default.cloned().unwrap_or_default();
        let mut valid = true;
        for node in given.nodes() {
            match &node.content {
                _ if node.is_empty_untyped() => map.clear(),
                Content::Table(entries) => valid &= join(&mut map, entries, reader),
                Content::Value(_) | Content::List(_) => {
                    reader.report_wrong_value::<Self>(&Given::one(node));
                    valid = false;
                }
            }
        }
        valid.then_some(map)
    }

    fn elements(&self) -> Vec<(Option<String>, &Self::Element)> {
        self.iter().map(|(key, value)| (Some(key.clone()), value)).collect()
    }

    fn show(&self) -> String {
        if self.is_empty() {
            return "{}".to_owned();
        }
        let entries: Vec<String> =
            self.iter().map(|(key, value)| format!("{key} = {}", value.show_inside())).collect();
        format!("{{ {} }}", entries.join(", "))
    }

    fn fields() -> Vec<FieldDescription> {
        FieldDescription::below("<name>", T::fields())
    }
}

/// Adds what one source gave to what the earlier ones gave; false when an entry is wrong.
fn join<T: SettingType>(
    map: &mut BTreeMap<String, T>,
    entries: &[Entry],
    reader: &mut Reader,
) -> bool {
    let mut valid = true;
    for Entry { key, node } in entries {
        let earlier = map.keys().find(|known| same_key(known, key)).cloned();
        let key = earlier.unwrap_or_else(|| key.clone());
        if node.is_empty_text() {
            map.remove(&key);
            continue;
        }
        match reader.part(&key, node, map.get(&key)) {
            Some(value) => {
                map.insert(key, value);
            }
            None => valid = false,
        }
    }
    valid
}
