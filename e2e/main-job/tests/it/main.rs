//! The main job on both databases: from a fresh folder to a webhook that others verify.

mod changes;
mod faults;
mod history;
mod kills;
mod page;
mod retries;
mod verifying;
