//! The sets at their boundary: contexts in, entities out.
#![expect(clippy::unwrap_used, reason = "a test that can't go on should say where")]
#![expect(unreachable_pub, reason = "what SeaORM derives is public")]

mod fixture;
mod sets;
