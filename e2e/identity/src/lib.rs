//! Signing in to the shop, as browsers and programs do it: what the tests of this crate stand on.

mod browser;
mod front;
mod house;
mod issuer;
mod program;
mod shop;

pub use browser::Browser;
pub use front::{Front, LISTENING, Way, host_before};
pub use house::{ADA, House, PUBLIC_URL};
pub use issuer::{CLIENT_ID, Issuer, Twist};
pub use program::{ISSUER, Program, claims_of, header_of, query_of};
pub use shop::{FirstStart, RunningShop};
