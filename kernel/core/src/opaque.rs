//! What is shared by all, and held by nearly every future.

use std::ops::Deref;
use std::sync::Arc;

/// A shared value behind a trait object, which says by itself that it may go to another thread.
///
/// For each future that may go to another thread, such as that of a handler, the compiler looks into all that it holds, down to the last
/// field, and forgets most of it for the next one. For a handle that nearly all of them hold, this ends the search.
pub type Opaque<T> = Arc<dyn Deref<Target = T> + Send + Sync>;

/// Shares a value.
pub fn opaque<T: Send + Sync + 'static>(value: T) -> Opaque<T> {
    Arc::new(Box::new(value))
}
