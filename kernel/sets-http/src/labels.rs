//! What people call sets and properties in the metadata document, in the language of whoever reads it.
//!
//! The texts are those of the modules, by the ids that `svc_messages` gives to sets and properties. What every set has
//! (`createdAt`) needs no text for each: that of `common-createdAt` counts for all of them.

use svc_core::Result;
use svc_http::accepted_languages;
use svc_messages::{Messages, Texts};
use svc_odata::model::Labels;

use super::request::Request;

/// The texts in one language as labels.
#[derive(Debug)]
pub(super) struct TextLabels(pub(super) Texts);

impl TextLabels {
    /// Those for whoever asks; none in an application without texts.
    ///
    /// # Errors
    ///
    /// A fault of the database.
    pub(super) async fn for_caller(request: &Request) -> Result<Option<Self>> {
        let Some(messages) = request.ctx.app().find_service::<Messages>() else { return Ok(None) };
        let accepted = accepted_languages(&request.headers);
        messages.texts_for(&request.ctx, accepted.as_deref()).await.map(Self).map(Some)
    }
}

impl Labels for TextLabels {
    fn label(&self, path: &[&str]) -> Option<String> {
        let own = self.0.find_text(&path.join("-"));
        let [_, member] = path else { return own };
        own.or_else(|| self.0.find_text(&format!("common-{member}")))
    }

    fn singular(&self, set: &str) -> Option<String> {
        self.0.find_attribute(set, "singular")
    }

    fn description(&self, path: &[&str]) -> Option<String> {
        self.0.find_attribute(&path.join("-"), "description")
    }
}
