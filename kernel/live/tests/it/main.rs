//! Pages that hear what happens.
#![expect(clippy::unwrap_used, reason = "a test that can't go on should say where")]
#![expect(unreachable_pub, reason = "what SeaORM derives is public")]

mod changes;
mod fixture;
mod nodes;
mod streams;
mod topics;
