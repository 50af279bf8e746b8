//! The main job on both databases: from a fresh folder to a webhook that others verify.

mod changes;
mod faults;
mod fulfilment;
mod history;
mod kills;
mod memory;
mod page;
mod people;
mod retries;
mod verifying;
