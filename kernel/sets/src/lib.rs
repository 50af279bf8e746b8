//! Entity sets: the one place that decides what a person may see and change.
//!
//! A set is read and changed here whether HTTP, an export, a search or a webhook asks. Each
//! function takes the [`Context`](svc_data::Context) of whom it works for and applies, always:
//!
//! 1. the permission of the verb (403, which names it);
//! 2. the organisation (what is another's is unknown), and that it wasn't deleted;
//! 3. the row filter (what it hides is unknown, also to changes and deletes);
//! 4. hidden properties (unknown by name, absent from answers and metadata);
//! 5. response filters (what they change is returned changed, and can be used for nothing else).
//!
//! | File | What it holds |
//! | --- | --- |
//! | `model` | the sets as OData describes them, made from the catalogue |
//! | `served` | what lies behind one set, and what somebody sees of it |
//! | `seen` | what of that one principal may know |
//! | `sql` | bound conditions and values as SQL |
//! | `order` | what rows are sorted by, and what comes after one of them |
//! | `front` | the way in for everything that reads as a person |
//! | `settings` | what a read may ask for, and what it may cost |
//! | `sink` | where rows go: as JSON, as values, or whatever a caller makes of them |
//! | `source` | which entities of a set a path leads to |
//! | `form` | the form in which values come from the database |
//! | `rows` | what a statement returns of each row, and its way to JSON |
//! | `row_json` | values of a row as JSON, from what the driver received |
//! | `read` | one entity |
//! | `counts` | numbers that the database answers with |
//! | `prepared`, `statement_cache` | statements that were built before |
//! | `page`, `page_request` | a page of them, piece by piece |
//! | `few` | a page of what a virtual property holds for, where that is little |
//! | `apply`, `aggregated` | what is made of the rows that are seen |
//! | `related`, `expanded` | related entities within an answer |
//! | `token` | where a page ended, sealed for the one query and person |
//! | `write` | create, change, replace and delete through a unit of work |
//! | `operations` | actions and functions, run on what their caller may see |
//! | `deep` | entities that are written together with what they are related to |
//! | `input` | what is written, from values that are no request |
//! | `upsert` | records that are written under a key that is given, there or not |
//! | `search` | the port of a search over everything |
//! | `image` | a record as it was at some moment, read as somebody |

use std::sync::Arc;

use svc_core::{App, Result};
use svc_data::Catalogue;

mod aggregated;
mod apply;
mod counts;
mod deep;
mod entity_input;
mod expanded;
mod few;
mod form;
mod front;
mod image;
mod input;
mod model;
mod operations;
mod order;
mod page;
mod page_request;
mod prepared;
mod read;
mod related;
mod row_json;
mod rows;
pub mod search;
mod seen;
mod served;
mod settings;
mod sink;
mod source;
mod sql;
mod statement_cache;
mod token;
mod upsert;
mod write;

pub use entity_input::{EntityInput, EntityValues, RelatedInput, Relating};
pub use front::{Address, Reading, ReadingColumn};
pub use input::refused_payload;
pub use model::Sets;
pub use page::PageReader;
pub use page_request::PageRequest;
pub use read::Entity;
pub use seen::Seen;
pub use settings::ODataSettings;
pub use sink::{JsonRows, Row, RowSink, ValueRows};
pub use source::Source;
pub use token::{Position, token_binding};
pub use upsert::Upserted;
pub use write::Verb;

/// Where the entity sets are served, below the application's address.
pub const ROOT: &str = "/odata/v1";

/// Provides the application with its [`Sets`], made from the catalogue that it was provided with.
///
/// # Errors
///
/// [`ErrorKind::Internal`](svc_core::ErrorKind::Internal) when there is no catalogue.
pub fn provide(app: &App) -> Result<()> {
    let catalogue = app.service::<Catalogue>()?;
    app.provide(Arc::new(Sets::new(app.name(), &catalogue, app.settings())));
    Ok(())
}
