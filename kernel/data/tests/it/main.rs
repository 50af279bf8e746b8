//! The data part at its boundary: a context, units of work and what they capture.
#![expect(clippy::unwrap_used, reason = "a test that can't go on should say where")]
#![expect(unreachable_pub, reason = "what SeaORM derives is public")]

mod connections;
mod fixture;
mod migrations;
mod organisations;
mod protection;
mod queries;
mod row_tables;
mod rules;
mod units_of_work;
mod values;
