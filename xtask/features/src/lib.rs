//! Nothing but dependencies: all that any crate of the project uses, with all features in use.
//!
//! Cargo chooses the features of a dependency by the packages that a call selects, so `cargo test --package
//! svc-core` compiles other variants of half the tree than `cargo test --workspace`. A call that selects
//! this package beside a crate (`--package svc-core --package features`) chooses as the whole workspace
//! does, and finds everything compiled. There is nothing to build or to test here.
