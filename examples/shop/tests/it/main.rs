//! The shop's commands and its sample data, on both databases.
#![expect(clippy::unwrap_used, reason = "a test that can't go on should say where")]

mod api;
mod commands;
mod described;
mod first_start;
mod fixture;
mod fulfilment;
mod orders;
mod plans;
mod refusals;
mod sample;
mod stock;
