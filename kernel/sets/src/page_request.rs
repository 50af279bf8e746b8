//! What is asked of a set.

use svc_odata::bind::BoundQuery;

use super::token::Position;

/// What is asked of a set.
#[derive(Clone, Copy, Debug)]
pub struct PageRequest<'a> {
    /// The options. Those that say which page is meant are below.
    pub query: &'a BoundQuery,
    /// Where the page before ended.
    pub after: Option<&'a Position>,
    /// How many are left out first.
    pub skip: u64,
    /// How many are returned at most.
    pub take: u64,
    /// Whether it is of interest that there are more; else none is named as the last one read.
    pub tells_next: bool,
    /// Whether each entity comes with its `ETag`.
    pub etags: bool,
}
