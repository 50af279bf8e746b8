//! A whole application at its boundary: modules in, HTTP out.
#![expect(clippy::unwrap_used, reason = "a test that can't go on should say where")]
#![expect(unreachable_pub, reason = "what SeaORM derives is public")]

mod depot;
mod fixture;
mod front;
mod kinds;
mod metadata;
mod odata_abandoned;
mod odata_apply;
mod odata_arithmetic;
mod odata_batch;
mod odata_budgets;
mod odata_changes;
mod odata_conformance;
mod odata_deep;
mod odata_enumerations;
mod odata_expressions;
mod odata_few;
mod odata_fuzz;
mod odata_joined;
mod odata_keys;
mod odata_kinds;
mod odata_leaks;
mod odata_levels;
mod odata_limits;
mod odata_links;
mod odata_model;
mod odata_navigation;
mod odata_operations;
mod odata_paging;
mod odata_reads;
mod odata_references;
mod odata_response_filters;
mod odata_rule_leaks;
mod odata_semantic_types;
mod odata_soft_delete;
mod odata_streaming;
mod odata_text_keys;
mod odata_timeouts;
mod odata_virtual;
mod refusals;
mod restores;
mod staff;
mod system;
mod tables;
mod two_worlds;
