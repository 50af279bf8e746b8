//! The kinds of things that modules contribute to background work.

use svc_core::Kind;

/// A kind of background job.
pub const JOB: Kind = Kind::new("jobs");
/// A schedule on which a job is enqueued.
pub const SCHEDULE: Kind = Kind::new("schedules");
