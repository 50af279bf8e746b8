//! Signing in, as browsers and programs do it, on both databases.

#![expect(clippy::unwrap_used, reason = "a test that can't go on fails")]

mod attacks;
mod bff;
mod codes;
mod csrf;
mod ending;
mod external;
mod external_attacks;
mod first_start;
mod front;
mod front_sockets;
mod guessing;
mod near_misses;
mod new_passwords;
mod own_programs;
mod parties;
mod published;
mod requests;
mod several_issuers;
mod signed;
mod sockets;
mod stored;
mod support;
mod table;
mod tokens;
