//! The browser host as a program of its own. How people sign in by it is tried in `e2e/identity`.

#![expect(clippy::unwrap_used, reason = "a test that can't go on fails")]

mod forwarding;
