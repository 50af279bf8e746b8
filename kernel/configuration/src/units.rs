//! Durations and sizes as declarations write them; in scope inside `settings_section!`.

use std::time::Duration;

/// A duration of this many milliseconds.
#[must_use]
pub const fn milliseconds(count: u64) -> Duration {
    Duration::from_millis(count)
}

/// A duration of this many seconds.
#[must_use]
pub const fn seconds(count: u64) -> Duration {
    Duration::from_secs(count)
}

/// A duration of this many minutes.
#[must_use]
pub const fn minutes(count: u64) -> Duration {
    Duration::from_secs(count * 60)
}

/// A duration of this many hours.
#[must_use]
pub const fn hours(count: u64) -> Duration {
    Duration::from_secs(count * 60 * 60)
}

/// A duration of this many days of 24 hours.
#[must_use]
pub const fn days(count: u64) -> Duration {
    Duration::from_secs(count * 24 * 60 * 60)
}

/// This many times 1,024 bytes.
#[must_use]
pub const fn kibibytes(count: u64) -> u64 {
    count * 1024
}

/// This many times 1,048,576 bytes.
#[must_use]
pub const fn mebibytes(count: u64) -> u64 {
    count * 1024 * 1024
}
