//! Resource paths, percent-encoded.

use std::fmt::{self, Display, Formatter};

use super::encode_segment;
use crate::syntax::ast::{ResourcePath, ResourceSegment, ResourceSegmentKind};

/// The path of a URL below the service root, without a slash in front, percent-encoded.
impl Display for ResourcePath {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        for (place, segment) in self.segments.iter().enumerate() {
            if place > 0 && !matches!(segment.kind, ResourceSegmentKind::KeyPredicate(_)) {
                formatter.write_str("/")?;
            }
            segment.fmt(formatter)?;
        }
        Ok(())
    }
}

impl Display for ResourceSegment {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        let text = match &self.kind {
            ResourceSegmentKind::Name { name, arguments } => match arguments {
                Some(arguments) => format!("{name}{arguments}"),
                None => name.clone(),
            },
            ResourceSegmentKind::KeyPredicate(key) => key.to_string(),
            ResourceSegmentKind::Key(key) => key.clone(),
            ResourceSegmentKind::Batch => "$batch".to_owned(),
            ResourceSegmentKind::Metadata => "$metadata".to_owned(),
            ResourceSegmentKind::Entity => "$entity".to_owned(),
            ResourceSegmentKind::All => "$all".to_owned(),
            ResourceSegmentKind::CrossJoin(sets) => format!("$crossjoin({})", sets.join(",")),
            ResourceSegmentKind::Count => "$count".to_owned(),
            ResourceSegmentKind::Reference => "$ref".to_owned(),
            ResourceSegmentKind::Value => "$value".to_owned(),
            ResourceSegmentKind::Each => "$each".to_owned(),
            ResourceSegmentKind::Query => "$query".to_owned(),
            ResourceSegmentKind::Filter(condition) => {
                // Slashes outside of quotes separate the parts of paths and stay; encoding all of
                // them is as good, because only quotes end at a plain one.
                format!("$filter({condition})")
            }
        };
        formatter.write_str(&encode_segment(&text))
    }
}
