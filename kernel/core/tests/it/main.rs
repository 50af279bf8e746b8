//! The core at its boundary: what an application developer and an operator meet.
#![expect(clippy::unwrap_used, reason = "a test that can't go on should say where")]

mod assembly;
