//! The browser host as a program of its own. How people sign in by it is tried in `e2e/identity`, and that its routes within an
//! application refuse whoever may not call them in `examples/shop`: it takes a provider of identities, which another module is.

#![expect(clippy::unwrap_used, reason = "a test that can't go on fails")]

mod forwarding;
