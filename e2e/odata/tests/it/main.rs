//! The shop's entity sets, used by clients that nobody here wrote.

mod clients;
mod documents;
