//! Entity sets: the one place that decides what a person may see and change.
//!
//! A set is read and changed here whether HTTP, an export, a search or a webhook asks. Each
//! function takes the [`Context`](crate::Context) of whom it works for and applies, always:
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
//! | `seen` | what of that one principal may know |
//! | `literal` | values between OData's types and the database's |
//! | `sql` | bound conditions and values as SQL |
//! | `order` | what rows are sorted by, and what comes after one of them |
//! | `source` | which entities of a set a path leads to |
//! | `rows` | what a statement returns of each row, and its way to JSON |
//! | `read` | one entity |
//! | `prepared` | statements that were built before |
//! | `page` | a page of them, piece by piece |
//! | `apply` | what is made of the rows that are seen |
//! | `related` | related entities within an answer |
//! | `token` | where a page ended, sealed for the one query and person |
//! | `write` | create, change, replace and delete through a unit of work |
//! | `operations` | actions and functions, run on what their caller may see |
//! | `deep` | entities that are written together with what they are related to |
//! | `image` | a record as it was at some moment, read as somebody |

mod apply;
mod deep;
mod image;
mod literal;
mod model;
mod operations;
mod order;
mod page;
mod prepared;
mod read;
mod related;
mod rows;
mod seen;
mod source;
mod sql;
mod token;
mod write;

pub use deep::{EntityInput, RelatedInput, Relating};
pub(crate) use literal::to_column;
pub use model::Sets;
pub use page::{Page, PageReader, PageRequest};
pub use read::Entity;
pub use seen::Seen;
pub use source::Source;
pub use token::{Position, token_binding};
pub use write::{EntityValues, Verb};
